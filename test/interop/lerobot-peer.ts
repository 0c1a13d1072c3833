import assert from 'node:assert/strict';
import { existsSync, mkdirSync } from 'node:fs';
import path from 'node:path';
import { packageRoot } from '../../src/files/package-root.ts';
import { checkDataset } from '../../src/record/lerobot/check.ts';
import { type Python, runPython } from './python-venv.ts';

/** The newest version that runs on Python 3.10 and 3.11. */
const LEROBOT = 'lerobot==0.4.4';
const INSTALL_MS = 30 * 60_000;
const LOAD_MS = 5 * 60_000;

/** The real LeRobot in its own virtual environment: several gigabytes, because PyPI's torch includes CUDA. */
export async function lerobotPython(): Promise<Python> {
  const base = process.env['PYTHON'] ?? 'python3';
  const folder = path.join(packageRoot, 'artifacts', `venv-${LEROBOT.replace('==', '-')}`);
  const python = path.join(folder, 'bin', 'python');
  const has = async () => (await runPython(python, ['-c', 'import lerobot, torch'], 120_000)).code === 0;
  if (existsSync(python) && (await has())) return { ok: true, python };
  mkdirSync(path.dirname(folder), { recursive: true });
  const made = await runPython(base, ['-m', 'venv', folder], 120_000);
  if (made.code !== 0) return { ok: false, why: `${base} -m venv: ${made.stderr.trim().split('\n').at(-1)}` };
  console.log(`installing ${LEROBOT} into artifacts/ (about 7 GB)`);
  const installed = await runPython(python, ['-m', 'pip', 'install', '--quiet', LEROBOT], INSTALL_MS);
  if (installed.code === 0 && (await has())) return { ok: true, python };
  return { ok: false, why: `pip install ${LEROBOT}: ${installed.stderr.trim().split('\n').at(-1)}` };
}

/**
 * PyArrow may abort the interpreter at its very end, when all work is done: https://github.com/apache/arrow/issues/34314.
 * What was made is checked in any case.
 */
const ABORTED_AT_EXIT = /terminate called without an active exception\s*$/;

/** Runs a program of LeRobot, or one that loads it, and returns what it printed. */
export async function runLerobot(python: string, ...words: string[]): Promise<string> {
  const { code, stdout, stderr } = await runPython(python, words, LOAD_MS);
  if (ABORTED_AT_EXIT.test(stderr)) console.log(`PyArrow aborted at the end of ${path.basename(words[0]!)}`);
  else assert.equal(code, 0, stderr.slice(-3000));
  return stdout;
}

/** Runs a script of this folder and returns the JSON of its last line. */
export async function peer<T>(python: string, script: string, ...args: string[]): Promise<T> {
  const stdout = await runLerobot(python, path.join('test', 'interop', script), ...args);
  return JSON.parse(stdout.trim().split('\n').at(-1)!) as T;
}

export async function assertWhole(dir: string, what: string): Promise<void> {
  const { problems, pictures } = await checkDataset(dir, 'all');
  assert.deepEqual(problems.list, [], what);
  console.log(`✔ ${what}: ${pictures.decoded} pictures decoded, every rule satisfied`);
}
