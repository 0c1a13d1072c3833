import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { packageRoot } from '../../src/files/package-root.ts';
import { interruption } from '../interrupt.ts';

const SOURCE = path.join(packageRoot, 'bench', 'peers', 'floor.c');

/** The C program, compiled; null with the reason if there is no compiler. */
export function compileFloor(): { program: string; remove(): void } | string {
  const folder = mkdtempSync(path.join(tmpdir(), 'farhand-floor-'));
  const remove = () => rmSync(folder, { recursive: true, force: true });
  const program = path.join(folder, 'floor');
  try {
    execFileSync('cc', ['-O2', '-o', program, SOURCE], { stdio: 'pipe' });
    return { program, remove };
  } catch (error) {
    remove();
    return `cc does not compile ${path.basename(SOURCE)}: ${(error as Error).message.split('\n')[0]}`;
  }
}

/** One-way times in nanoseconds. */
export async function floorRun(program: string, hz: number, seconds: number): Promise<number[]> {
  const count = Math.round(hz * seconds);
  const receiver = start(program, ['receive', String(count)]);
  const lines = createInterface({ input: receiver.stdout! })[Symbol.asyncIterator]();
  const port = (await lines.next()).value ?? '';
  start(program, ['send', String(port), String(count), String(hz)]);
  const found: number[] = [];
  for (let line = await lines.next(); !line.done; line = await lines.next()) found.push(Number(line.value));
  interruption.throwIfAborted();
  return found;
}

function start(program: string, args: string[]): ChildProcess {
  const child = spawn(program, args, { stdio: ['ignore', 'pipe', 'inherit'], signal: interruption });
  child.on('error', () => {});
  return child;
}
