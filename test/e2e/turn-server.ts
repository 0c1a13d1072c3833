import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { temporaryFolder } from '../temporary-folder.ts';

export interface TurnServer {
  /** All it wrote. */
  said(): string;
  kill(): Promise<void>;
}

/** coturn with time-limited credentials; returns when it listens. `within`: words before the command. */
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
  const server: ChildProcess = spawn(program!, words, { cwd: folder, stdio: ['ignore', 'pipe', 'ignore'] });
  let said = '';
  server.stdout?.on('data', (data: Buffer) => {
    said += data.toString();
  });
  for (let waits = 0; waits < 100 && !/SQLite|auth thread/.test(said); waits++) await sleep(50);
  return {
    said: () => said,
    async kill() {
      const closed = once(server, 'close');
      server.kill('SIGKILL');
      await closed;
    },
  };
}
