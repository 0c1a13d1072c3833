import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { patienceOf } from '../patience.ts';

export const root = process.cwd();
const bin = path.join(root, 'bin', 'farhand');

export interface Finished {
  code: number | null;
  stdout: string;
  stderr: string;
}

/** Runs a verb until it ends, as a user would. */
export async function farhand(args: readonly string[], timeoutMs = 50_000): Promise<Finished> {
  const child = startFarhand(args);
  const timer = setTimeout(() => child.process.kill('SIGKILL'), timeoutMs);
  const code = await child.exited;
  clearTimeout(timer);
  return { code, stdout: child.stdout(), stderr: child.stderr() };
}

export interface Running {
  process: ChildProcess;
  stdout: () => string;
  stderr: () => string;
  /** The exit code; null after a signal, which then stands at the end of stderr. */
  exited: Promise<number | null>;
  /** Resolves with the first match in stdout; rejects when the process ends or the time is up. */
  waitFor(pattern: RegExp, timeoutMs?: number): Promise<RegExpExecArray>;
  end(): Promise<number | null>;
}

/** Verbs that start a robot. */
const ROBOTS = ['robot', 'demo'];

/**
 * A robot gets timeouts for a busy machine unless `args` set them. `ownGroup`: starts it as a shell does, so that Ctrl-C
 * can be sent to all of its processes (−pid). `within`: command prefix that executes the verb.
 */
export function startFarhand(
  args: readonly string[],
  ownGroup = false,
  within: readonly string[] = [],
): Running {
  const patience = ROBOTS.includes(args[0] ?? '') && !args.includes('--help') ? patienceOf(args) : [];
  const [program, ...words] = [...within, process.execPath, bin, ...args, ...patience];
  const child = spawn(program!, words, {
    cwd: root,
    // Its user may answer a request.
    stdio: [args[1] === 'operate' ? 'pipe' : 'ignore', 'pipe', 'pipe'],
    detached: ownGroup,
  });
  let out = '';
  let err = '';
  child.stdout!.on('data', (data: Buffer) => {
    out += data.toString();
  });
  child.stderr!.on('data', (data: Buffer) => {
    err += data.toString();
  });
  const exited = once(child, 'close').then(([code, signal]) => {
    if (signal !== null) err += `\nended by ${signal}`;
    return code as number | null;
  });
  const end = async () => {
    child.kill('SIGTERM');
    const timer = setTimeout(() => child.kill('SIGKILL'), 20_000);
    const code = await exited;
    clearTimeout(timer);
    return code;
  };
  return {
    process: child,
    stdout: () => out,
    stderr: () => err,
    exited,
    async waitFor(pattern, timeoutMs = 100_000) {
      const untilMs = performance.now() + timeoutMs;
      while (performance.now() < untilMs) {
        const found = pattern.exec(out);
        if (found) return found;
        if (child.exitCode !== null || child.signalCode !== null) break;
        await new Promise((resolve) => setTimeout(resolve, 20));
      }
      const seen = `${out}\n${err}`;
      await end();
      throw new Error(`${pattern} not seen from \`farhand ${args.join(' ')}\`:\n${seen}`);
    },
    end,
  };
}

/** Stamps of the commands currently in the traces of a folder. */
export function stampsIn(dir: string): Record<string, number>[] {
  const files = readdirSync(dir).filter((name) => name.startsWith('robot_trace_'));
  const lines = files.flatMap((name) => readFileSync(path.join(dir, name), 'utf8').split('\n').slice(0, -1));
  return lines.flatMap((line) => {
    const { stamps } = JSON.parse(line) as { stamps?: Record<string, number> };
    return stamps === undefined ? [] : [stamps];
  });
}
