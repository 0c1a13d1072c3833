import { fork, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { mkdirSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import path from 'node:path';
import { temporaryFolder } from '../temporary-folder.ts';

/** Runs `farhand` in separate folders, with processes that can be identified. */
export class Marked {
  readonly mark = randomUUID();
  readonly #root = temporaryFolder('marked');
  /** Empty until something is written. */
  readonly cwd = path.join(this.#root, 'cwd');
  readonly state = path.join(this.#root, 'state');

  constructor() {
    mkdirSync(this.cwd);
    mkdirSync(this.state);
  }

  readonly #surroundings = {
    cwd: this.cwd,
    detached: true,
    env: {
      ...process.env,
      FARHAND_TEST_MARK: this.mark,
      FARHAND_STATE: this.state,
      FARHAND_KEYS: path.join(this.state, 'keys'),
    },
  };

  start(args: readonly string[]) {
    const bin = path.join(process.cwd(), 'bin', 'farhand');
    const child = spawn(process.execPath, [bin, ...args], {
      ...this.#surroundings,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let [out, err] = ['', ''];
    child.stdout.on('data', (data: Buffer) => {
      out += data.toString();
    });
    child.stderr.on('data', (data: Buffer) => {
      err += data.toString();
    });
    const exited = once(child, 'close').then(([code, signal]) => ({
      code: code as number | null,
      signal: signal as NodeJS.Signals | null,
    }));
    return {
      pid: child.pid!,
      kill: (signal: NodeJS.Signals) => child.kill(signal),
      out: () => out,
      err: () => err,
      exited,
    };
  }

  /** A script that answers one message after another; a request fails if the process ends or the time is up. */
  fork(script: string) {
    const child = fork(script, { ...this.#surroundings, execArgv: [] });
    const ended = once(child, 'exit').then(([code, signal]) => {
      throw new Error(`${path.basename(script)} ended with ${code ?? signal}`);
    });
    ended.catch(() => {});
    return {
      async request<T>(message: string[], limitMs: number): Promise<T> {
        const late = setTimeout(() => child.kill('SIGKILL'), limitMs);
        child.send(message);
        try {
          const [answer] = await Promise.race([once(child, 'message'), ended]);
          return answer as T;
        } catch (error) {
          throw new Error(`farhand ${message.join(' ')}`, { cause: error });
        } finally {
          clearTimeout(late);
        }
      },
    };
  }

  /** Names of all files and folders created. */
  written(): string[] {
    return [this.cwd, this.state].flatMap((dir) => readdirSync(dir, { recursive: true, encoding: 'utf8' }));
  }

  /** Processes of these runs that are still alive, including grandchildren. */
  processes(): number[] {
    return readdirSync('/proc')
      .filter((name) => /^\d+$/.test(name))
      .filter((pid) => environmentOf(pid).includes(`FARHAND_TEST_MARK=${this.mark}`))
      .map(Number);
  }

  /** Ends what is left and removes the folders. */
  close(): void {
    for (const pid of this.processes())
      try {
        process.kill(pid, 'SIGKILL');
      } catch {
        // It has already ended.
      }
    rmSync(this.#root, { recursive: true, force: true });
  }
}

function environmentOf(pid: string): string[] {
  try {
    return readFileSync(`/proc/${pid}/environ`, 'latin1').split('\0');
  } catch {
    return [];
  }
}
