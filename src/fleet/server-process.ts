import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { connect as connectTcp } from 'node:net';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { TeleopError } from '../core/errors.ts';
import { PRIVATE, writeWhole } from '../files/write-whole.ts';
import { type Authority, serverAccounts } from './authority.ts';
import { type ServerSettings, serverConfig } from './server-config.ts';
import { refuseUnsafeServer } from './server-version.ts';

const READY_MS = 10_000;

export interface RunningServer {
  url: string;
  process: ChildProcess;
  /** Makes it reload the fleet's keys, for example after a user was revoked. */
  reload(): Promise<void>;
  /** Ends it like a crash. */
  kill(): Promise<void>;
  close(): Promise<void>;
}

export type ServerPlace = Pick<ServerSettings, 'name' | 'host' | 'port'> &
  Partial<Pick<ServerSettings, 'cluster' | 'leafPort' | 'leafOf' | 'tls'>>;

/**
 * Writes a server's configuration beside the fleet's keys and starts it; returns when it accepts connections.
 * `within`: words before the command, of a program that executes it.
 */
export async function startServer(
  authority: Authority,
  place: ServerPlace,
  within: readonly string[] = [],
): Promise<RunningServer> {
  const folder = path.join(authority.folder, 'servers', place.name);
  const file = path.join(folder, 'server.conf');
  const write = async () => {
    const known = await serverAccounts(authority, place.leafOf && place.name);
    const text = serverConfig({ ...place, ...known, storeDir: path.join(folder, 'store') });
    writeWhole(file, text, PRIVATE);
  };
  await write();
  refuseUnsafeServer(installedVersion());
  const [program, ...words] = [...within, 'nats-server', '-c', file];
  const child = spawn(program!, words, { stdio: ['ignore', 'ignore', 'pipe'] });
  let output = '';
  child.stderr.on('data', (data: Buffer) => {
    output = (output + data.toString()).slice(-4000);
  });
  const exited = once(child, 'close').catch(() => []);
  const failed = new Promise<never>((_, reject) => {
    child.on('error', (cause) => reject(missing(cause)));
    child.on('close', (code) =>
      reject(
        new TeleopError('child-failed', `nats-server exited with ${code}: ${lastLine(output)}`, {
          hint: `Check that port ${place.port} is free. The configuration is in ${file}.`,
        }),
      ),
    );
  });
  failed.catch(() => {});
  await Promise.race([listening(place.host, place.port), failed]);
  const end = async (signal: NodeJS.Signals) => {
    child.kill(signal);
    await exited;
  };
  return {
    url: `${place.tls ? 'tls' : 'nats'}://${place.host}:${place.port}`,
    process: child,
    async reload() {
      await write();
      child.kill('SIGHUP');
    },
    kill: () => end('SIGKILL'),
    close: () => end('SIGTERM'),
  };
}

/** Of the nats-server on this machine; `9.0.0` if there is none to judge. */
export function installedVersion(): string {
  const { stdout } = spawnSync('nats-server', ['--version'], { encoding: 'utf8', timeout: 5000 });
  return /v(\d+\.\d+\.\d+)/.exec(stdout ?? '')?.[1] ?? '9.0.0';
}

const lastLine = (text: string): string => text.trim().split('\n').at(-1) ?? '';

const missing = (cause: unknown): TeleopError =>
  new TeleopError('native-unavailable', 'nats-server cannot be started', {
    hint: 'Install it: `apt-get install nats-server`, or use a server that runs elsewhere.',
    cause,
  });

async function listening(host: string, port: number): Promise<void> {
  for (const untilMs = performance.now() + READY_MS; performance.now() < untilMs; ) {
    const open = await new Promise<boolean>((resolve) => {
      const socket = connectTcp(port, host);
      socket.once('connect', () => {
        socket.destroy();
        resolve(true);
      });
      socket.once('error', () => resolve(false));
    });
    if (open) return;
    await sleep(30);
  }
  throw new TeleopError('child-failed', `nats-server does not listen on ${host}:${port}`, {
    hint: 'If the port is in use, choose another: --port N.',
  });
}
