import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { temporaryFolder } from '../temporary-folder.ts';

const READY_MS = 20_000;

export interface TurnServer {
  /** All its output. */
  said(): string;
  kill(): Promise<void>;
}

/** coturn with time-limited credentials; returns when it listens. `within`: command prefix. */
export async function startTurn(
  address: string,
  port: number,
  secret: string,
  within: readonly string[] = [],
): Promise<TurnServer> {
  const where = [`--listening-ip=${address}`, `--listening-port=${port}`, `--relay-ip=${address}`];
  const auth = ['--use-auth-secret', `--static-auth-secret=${secret}`, '--realm=farhand'];
  const plain = ['-n', '--no-tls', '--no-dtls', '--no-cli', '--allow-loopback-peers', '--log-file=stdout'];
  const folder = temporaryFolder();
  const own = ['turnserver', ...plain, `--pidfile=${folder}/pid`, ...where, ...auth, '--verbose'];
  const [program, ...words] = [...within, ...own];
  const server: ChildProcess = spawn(program!, words, { cwd: folder, stdio: ['ignore', 'pipe', 'pipe'] });
  let said = '';
  for (const stream of [server.stdout, server.stderr])
    stream?.on('data', (data: Buffer) => {
      said += data.toString();
    });
  const closed = once(server, 'close');
  const kill = async () => {
    server.kill('SIGKILL');
    await closed;
  };
  for (const untilMs = performance.now() + READY_MS; !/SQLite|auth thread/.test(said); await sleep(50)) {
    if (performance.now() < untilMs && server.exitCode === null) continue;
    await kill();
    throw new Error(`turnserver did not start:\n${said}`);
  }
  return { said: () => said, kill };
}
