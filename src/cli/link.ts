import { setTimeout as sleep } from 'node:timers/promises';
import { parse } from 'yaml';
import { z } from 'zod';
import {
  type LinkEmulator,
  type LinkEmulatorOptions,
  type LinkMapping,
  loadLinkTrace,
  startLinkEmulator,
} from '../app/link-emulator.ts';
import { TeleopError } from '../core/errors.ts';
import { hostPort, splitHostPort } from '../core/ip-address.ts';
import type { Percentiles } from '../core/statistics/percentiles.ts';
import { readBounded } from '../files/read-bounded.ts';
import { type LinkEventInput, linkEventSchema } from '../wire/emulator/events.ts';
import { parseFaults } from '../wire/emulator/fault-text.ts';
import { PROFILE_NAMES, PROFILES } from '../wire/emulator/profiles.ts';
import type { DirectionStats, LinkStats } from '../wire/emulator/stats.ts';
import { type Given, JSON_OPTION, numberOption, type Verb } from './arguments.ts';
import { onEndRequest, parentChannel } from './process.ts';

const profiles = PROFILE_NAMES.map((name) => `  ${name.padEnd(14)}${PROFILES[name].about}`).join('\n');

export const linkVerb: Verb = {
  name: 'link',
  usage: '(--profile NAME | --trace FILE) LISTEN=TARGET …',
  about: 'Emulates a network of your choice between operator and robot.',
  details: `LISTEN and TARGET are [HOST:]PORT; the default host is 127.0.0.1. All mappings share one link, in both directions:
  farhand link --profile wifi 5750=4750 5751=4751 5752=4752
  farhand operator link.commandPort=5750 link.statePort=5751 link.syncPort=5752

Profiles:
${profiles}

Faults are LENGTH@TIME or LENGTH/PERIOD@TIME, separated by commas: --hole 300ms@5s,1s@20s --stall 200ms/2s@10s.
docs/link-emulator.md has the settings of a link (--set) and the file format.`,
  examples: [
    'farhand link --profile wifi 5750=4750 5751=4751 5752=4752',
    'farhand link --trace delays.csv.gz --duration 60 5750=4750',
  ],
  options: {
    profile: { type: 'string', value: 'NAME', about: 'kind of link, see above' },
    trace: { type: 'string', value: 'FILE', about: 'recorded delays: seq,send_us,delay_us, .csv or .csv.gz' },
    'return-profile': { type: 'string', value: 'NAME', about: 'kind of link for the return direction' },
    file: { type: 'string', value: 'FILE', about: 'all these options as JSON' },
    set: { type: 'string', value: 'KEY=VALUE,…', about: 'change both directions: delayMs=5,loss.share=0.02' },
    'return-set': { type: 'string', value: 'KEY=VALUE,…', about: 'change the return direction only' },
    hole: { type: 'string', value: 'FAULTS', about: 'times when everything is lost' },
    stall: { type: 'string', value: 'FAULTS', about: 'times when everything is held back' },
    faults: { type: 'string', value: 'DIRECTION', about: 'of the faults: forward, return or both (default)' },
    seed: { type: 'string', value: 'N', about: 'the same seed gives the same link (default: 1)' },
    duration: { type: 'string', value: 'S', about: 'end after S seconds (default: on Ctrl-C)' },
    'max-queued': { type: 'string', value: 'N', about: 'most datagrams in flight (default: 8192)' },
    realtime: {
      type: 'string',
      value: 'PRIORITY',
      about: 'real-time priority 1–99 of the link, where permitted (default: 10); 0: none',
    },
    reactor: { type: 'string', value: 'KIND', about: 'auto (default), native or dgram' },
    json: JSON_OPTION,
  },
  async run(given: Given) {
    const options = optionsOf(given);
    const durationS = numberOption(given, 'duration', 0.1, 86_400);
    const json = given.values['json'] === true;
    const ended = new Promise<void>((resolve) => onEndRequest(resolve));
    const link = await startLinkEmulator(options);
    const startedMs = performance.now();
    void parentChannel()({ kind: 'ready', info: { ports: link.ports } });
    if (!json) console.log(headText(options, link));
    const live = json || !process.stdout.isTTY ? undefined : setInterval(() => show(link, startedMs), 1000);
    const over = new AbortController();
    const time = durationS === null ? [] : [sleep(durationS * 1000, undefined, { signal: over.signal })];
    await Promise.race([ended, ...time]);
    over.abort();
    clearInterval(live);
    const stats = await link.close();
    const ranS = (performance.now() - startedMs) / 1000;
    if (json) console.log(JSON.stringify(summaryOf(options, link, stats, ranS)));
    else console.log(`${live ? '\r\x1b[K' : ''}${statsText(stats)}`);
    return 0;
  },
};

const linkFile = z.strictObject({
  profile: z.string().optional(),
  trace: z.string().optional(),
  returnProfile: z.string().optional(),
  forward: z.record(z.string(), z.unknown()).default({}),
  return: z.record(z.string(), z.unknown()).default({}),
  events: z.array(linkEventSchema).default([]),
  seed: z.int().min(0).optional(),
});

function optionsOf(given: Given): LinkEmulatorOptions {
  const text = (name: string) => given.values[name] as string | undefined;
  const file = readLinkFile(text('file'));
  const profile = text('profile') ?? (text('trace') === undefined ? file.profile : undefined);
  const trace = text('trace') ?? (text('profile') === undefined ? file.trace : undefined);
  if (profile === undefined && trace === undefined && text('file') === undefined)
    throw new TeleopError('bad-option', 'link needs --profile, --trace or --file', {
      hint: `Profiles: ${PROFILE_NAMES.join(', ')}.`,
    });
  const returnProfile = text('return-profile') ?? file.returnProfile;
  const options: LinkEmulatorOptions = {
    mappings: mappingsOf([...given.words, ...given.overrides]),
    forward: changed(file.forward, text('set')),
    return: changed(changed(file.return, text('set')), text('return-set')),
    events: [...file.events, ...faultsOf(given)],
    seed: numberOption(given, 'seed', 0, 2 ** 31) ?? file.seed ?? 1,
    maxQueued: numberOption(given, 'max-queued', 1, 1e6) ?? 8192,
    reactor: oneOf(given, 'reactor', ['auto', 'native', 'dgram']),
  };
  const realtimePriority = numberOption(given, 'realtime', 0, 99);
  if (realtimePriority !== null) options.realtimePriority = realtimePriority;
  if (profile !== undefined) options.profile = profile;
  if (trace !== undefined) options.trace = loadLinkTrace(trace);
  if (returnProfile !== undefined) options.returnProfile = returnProfile;
  return options;
}

function readLinkFile(path: string | undefined): z.infer<typeof linkFile> {
  if (path === undefined) return linkFile.parse({});
  try {
    return linkFile.parse(JSON.parse(readBounded(path).bytes.toString()));
  } catch (cause) {
    const issue = cause instanceof z.ZodError ? cause.issues[0] : undefined;
    const why = issue ? `${issue.path.join('.')}: ${issue.message}` : (cause as Error).message;
    throw new TeleopError('file-unreadable', `link file ${path}: ${why}`, {
      hint: 'See docs/link-emulator.md for the file format.',
      cause,
    });
  }
}

function mappingsOf(words: readonly string[]): LinkMapping[] {
  const mappings = words.map((word) => {
    const [listen = '', target = '', ...rest] = word.split('=');
    if (listen !== '' && target !== '' && rest.length === 0) return { listen, target };
    throw new TeleopError('bad-option', `"${word}" is not LISTEN=TARGET`, {
      hint: 'Give two ports, for example 5750=4750, or 5750=192.168.1.20:4750.',
    });
  });
  if (mappings.length > 0) return mappings;
  throw new TeleopError('bad-option', 'link needs at least one LISTEN=TARGET', {
    hint: 'For a robot on this machine: 5750=4750 5751=4751 5752=4752.',
  });
}

/** Applies `delayMs=5,loss.share=0.02` to a copy of a tree; values are YAML. */
function changed(tree: Record<string, unknown>, text: string | undefined): Record<string, unknown> {
  const copy = structuredClone(tree);
  for (const part of text?.split(/,(?=[A-Za-z][\w.]*=)/) ?? []) {
    const [keys = '', value] = part.split(/=(.*)/s);
    if (value === undefined)
      throw new TeleopError('bad-option', `"${part}" is not a setting`, {
        hint: 'Use KEY=VALUE, for example delayMs=5,loss.share=0.02.',
      });
    const path = keys.split('.');
    let here = copy;
    for (const key of path.slice(0, -1)) {
      if (typeof here[key] !== 'object') here[key] = {};
      here = here[key] as Record<string, unknown>;
    }
    here[path.at(-1)!] = parse(value);
  }
  return copy;
}

function faultsOf(given: Given): LinkEventInput[] {
  const direction = oneOf(given, 'faults', ['both', 'forward', 'return']);
  return (['hole', 'stall'] as const).flatMap((kind) => {
    const text = given.values[kind];
    return typeof text === 'string' ? parseFaults(kind, text, direction) : [];
  });
}

/** An option with a fixed set of values; the first is the default. */
function oneOf<T extends string>(given: Given, name: string, values: readonly [T, ...T[]]): T {
  const text = given.values[name] ?? values[0];
  if ((values as readonly unknown[]).includes(text)) return text as T;
  throw new TeleopError('bad-option', `--${name} ${String(text)} is not valid`, {
    hint: `Choose one of ${values.join(', ')}.`,
  });
}

function headText(options: LinkEmulatorOptions, link: LinkEmulator): string {
  const { forward, return: back } = link.settings();
  const lines = options.mappings.map(({ listen, target }, i) => {
    const host = splitHostPort(listen)?.host ?? '127.0.0.1';
    return `  ${hostPort(host, link.ports[i]!)} ⇄ ${target.includes(':') ? target : `127.0.0.1:${target}`}`;
  });
  lines.unshift(`link ready: forward ${forward.label}; return ${back.label}; seed ${options.seed}`);
  if (link.scheduling !== 'normal') lines.push(`  scheduling ${link.scheduling}`);
  if (link.fallback) lines.push(`  ${link.fallback}`);
  if (link.reactor === 'dgram') lines.push('  without native sockets, deliveries are up to 1–2 ms late');
  return lines.join('\n');
}

function show(link: LinkEmulator, startedMs: number): void {
  const { forward, return: back } = link.stats();
  const both = (name: 'forwarded' | 'lost' | 'duplicated' | 'reordered' | 'queued') =>
    `${name} ${forward[name]}+${back[name]}`;
  const times = (name: 'delayMs' | 'errorMs') => `${short(forward[name])} + ${short(back[name])}`;
  const seconds = Math.round((performance.now() - startedMs) / 1000);
  const counts = (['forwarded', 'lost', 'duplicated', 'reordered', 'queued'] as const).map(both).join('  ');
  const line = `${seconds} s  ${counts}  delay ${times('delayMs')}  error ${times('errorMs')} ms`;
  process.stdout.write(`\r\x1b[K${line.slice(0, (process.stdout.columns ?? 160) - 1)}`);
}

const short = (part: Percentiles | null): string =>
  part ? [part.p50, part.p99, part.max].map((value) => value.toFixed(2)).join('/') : '–';

function statsText(stats: LinkStats): string {
  const line = (name: string, part: DirectionStats) => {
    const why = Object.entries(part.lostBy).map(([loss, count]) => `${loss} ${count}`);
    const lost = part.lost > 0 ? `${part.lost} lost (${why.join(', ')})` : '0 lost';
    return `${name}: ${part.received} received, ${part.forwarded} forwarded, ${lost}, ${part.duplicated} duplicated, ${part.reordered} reordered
  set delay p50/p99/max ${short(part.delayMs)} ms; delivered late by p50/p99/max ${short(part.errorMs)} ms`;
  };
  return `${line('forward', stats.forward)}\n${line('return', stats.return)}`;
}

function summaryOf(options: LinkEmulatorOptions, link: LinkEmulator, stats: LinkStats, ranS: number) {
  const { forward, return: back } = link.settings();
  return {
    seed: options.seed,
    durationS: Number(ranS.toFixed(3)),
    reactor: link.reactor,
    scheduling: link.scheduling,
    mappings: options.mappings.map(({ target }, i) => ({ port: link.ports[i], target })),
    forward: { link: forward.label, ...stats.forward },
    return: { link: back.label, ...stats.return },
  };
}
