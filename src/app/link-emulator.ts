import { readFileSync } from 'node:fs';
import path from 'node:path';
import { MessageChannel } from 'node:worker_threads';
import { gunzipSync } from 'node:zlib';
import { deferred } from '../core/deferred.ts';
import { TeleopError } from '../core/errors.ts';
import { splitHostPort } from '../core/ip-address.ts';
import type { DirectionSettings } from '../wire/emulator/link-model.ts';
import { type LinkRequest, resolveLink } from '../wire/emulator/settings.ts';
import { DirectionCounters, type LinkStats } from '../wire/emulator/stats.ts';
import { parseTraceTable } from '../wire/emulator/trace-table.ts';
import { resolveHost } from '../wire/transports/resolve-host.ts';
import type { Endpoint, LinkChangeMessage, LinkEntry, LinkMessage, LinkStart } from './link-worker.ts';
import { READY_MS, WorkerHost } from './worker-host.ts';

/** A listening address and its target: `[host:]port`; default host 127.0.0.1, port 0 for any free port. */
export interface LinkMapping {
  listen: string;
  target: string;
}

export interface LinkEmulatorOptions extends LinkRequest {
  mappings: readonly LinkMapping[];
  /** Instead of mappings: network devices to create and join, for everything a kernel sends through them. Needs root. */
  devices?: readonly [string, string];
  /** The same seed gives the same link. Default 1. */
  seed?: number;
  /** Maximum datagrams in flight, both directions together. Default 8192. */
  maxQueued?: number;
  reactor?: 'auto' | 'native' | 'dgram';
  /** Real-time priority of the link thread if the system grants it (default 10); 0: normal scheduling. */
  realtimePriority?: number;
  /** Receives every datagram that enters the link; on this thread, with some delay. */
  onEntry?: (entry: LinkEntry) => void;
}

export interface LinkEmulator {
  /** Ports that the mappings listen on, in their order. */
  readonly ports: number[];
  readonly reactor: string;
  readonly scheduling: string;
  /** Why native sockets are not in use, if they were requested. */
  readonly fallback: string | null;
  /** The link's current behaviour, in full. */
  settings(): { forward: DirectionSettings; return: DirectionSettings };
  stats(): LinkStats;
  /** Changes the link's behaviour within about 20 ms; event times then count from the change. */
  set(change: string | LinkRequest): Promise<void>;
  close(): Promise<LinkStats>;
}

const DEFAULT_SEED = 1;
const DEFAULT_MAX_QUEUED = 8192;
/**
 * The thread sleeps most of the time, and its late deliveries would distort what is measured over the link.
 */
const DEFAULT_PRIORITY = 10;

/** Starts a link emulator in its own thread. All mappings share one link. */
export async function startLinkEmulator(options: LinkEmulatorOptions): Promise<LinkEmulator> {
  const { mappings, seed = DEFAULT_SEED } = options;
  const changes = new MessageChannel();
  const start: LinkStart = {
    devices: options.devices ?? null,
    listen: await Promise.all(mappings.map(({ listen }) => resolveEndpoint(listen))),
    targets: await Promise.all(mappings.map(({ target }) => resolveTarget(target))),
    settings: resolveLink(options),
    seed,
    capacity: options.maxQueued ?? DEFAULT_MAX_QUEUED,
    reactor: options.reactor ?? 'auto',
    realtimePriority: options.realtimePriority ?? DEFAULT_PRIORITY,
    isTapped: options.onEntry !== undefined,
    stop: new SharedArrayBuffer(4),
    memory: [DirectionCounters.memory(), DirectionCounters.memory()],
    changes: changes.port2,
  };
  const thread = linkThread(start, options.onEntry);
  const info = await thread.ready;
  let current = start.settings;
  let changed = 0;
  const stats = (): LinkStats => ({
    forward: new DirectionCounters(start.memory[0]).snapshot(),
    return: new DirectionCounters(start.memory[1]).snapshot(),
  });
  return {
    ports: info.ports,
    reactor: info.reactor,
    scheduling: info.scheduling,
    fallback: info.fallback,
    settings: () => ({ forward: current[0], return: current[1] }),
    stats,
    async set(change) {
      current = resolveLink(typeof change === 'string' ? { profile: change } : change);
      const message: LinkChangeMessage = { id: ++changed, settings: current, seed };
      changes.port1.postMessage(message);
      await thread.changed(message.id);
    },
    async close() {
      Atomics.store(new Int32Array(start.stop), 0, 1);
      await thread.done;
      changes.port1.close();
      return stats();
    },
  };
}

interface LinkThread {
  ready: Promise<Extract<LinkMessage, { kind: 'ready' }>>;
  /** Resolves when the change with that number is in effect. */
  changed(id: number): Promise<void>;
  done: Promise<void>;
}

function linkThread(start: LinkStart, onEntry?: (entry: LinkEntry) => void): LinkThread {
  const done = deferred<void>();
  const waiting = new Map<number, () => void>();
  done.promise.catch(() => {});
  const host = new WorkerHost<LinkMessage>(new URL('./link-worker.js', import.meta.url), {
    name: 'the link thread',
    start,
    readyMs: READY_MS,
    transfer: [start.changes],
    onMessage: (message) => {
      if (message.kind === 'entry') onEntry?.(message);
      else if (message.kind === 'changed') waiting.get(message.id)?.();
      else done.resolve();
    },
    onGone: done.reject,
  });
  const changed = async (id: number) => {
    await Promise.race([new Promise<void>((resolve) => waiting.set(id, resolve)), done.promise]);
    waiting.delete(id);
  };
  return { ready: host.ready, changed, done: done.promise };
}

/** Size limit of an unpacked delay trace: ten hours at 1 kHz. */
const MAX_TRACE_BYTES = 1 << 30;

/** Reads a delay trace, CSV or gzipped CSV. */
export function loadLinkTrace(file: string): NonNullable<LinkRequest['trace']> {
  let content: Buffer;
  try {
    content = readFileSync(file);
    if (file.endsWith('.gz')) content = gunzipSync(content, { maxOutputLength: MAX_TRACE_BYTES });
  } catch (cause) {
    const missing = (cause as NodeJS.ErrnoException).code === 'ENOENT';
    const what = missing ? 'does not exist' : `cannot be read: ${(cause as Error).message}`;
    throw new TeleopError(missing ? 'file-missing' : 'file-unreadable', `trace ${file} ${what}`, {
      hint: 'Give a CSV file with lines seq,send_us,delay_us, plain or .gz.',
      cause,
    });
  }
  const name = path.basename(file).replace(/\.csv(\.gz)?$/, '');
  return { name, table: parseTraceTable(content.toString('utf8'), path.basename(file)) };
}

async function resolveEndpoint(text: string): Promise<Endpoint> {
  const parts = splitHostPort(text);
  if (parts === null)
    throw new TeleopError('bad-option', `"${text}" is not an address`, {
      hint: 'Write [HOST:]PORT, for example 4750, 192.168.1.20:4750 or [fd00::20]:4750.',
    });
  const { host, port } = parts;
  return { host: await resolveHost(host ?? '127.0.0.1', 'the host', '4750'), port };
}

async function resolveTarget(text: string): Promise<Endpoint> {
  const endpoint = await resolveEndpoint(text);
  if (endpoint.port !== 0) return endpoint;
  throw new TeleopError('bad-option', `"${text}" is not a target`, { hint: 'Give the port of the robot.' });
}
