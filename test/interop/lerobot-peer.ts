import assert from 'node:assert/strict';
import { existsSync, mkdirSync } from 'node:fs';
import path from 'node:path';
import { packageRoot } from '../../src/files/package-root.ts';
import { checkDataset } from '../../src/record/lerobot/check.ts';
import { type Python, runPython } from './python-venv.ts';

/** The newest version that runs on Python 3.10 and 3.11. */
const LEROBOT = 'lerobot==0.4.4';
const INSTALL_MS = 30 * 60_000;
export const LOAD_MS = 5 * 60_000;

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

/** Runs a script of this folder and returns the JSON of its last line. */
export async function peer<T>(python: string, script: string, ...args: string[]): Promise<T> {
  const answer = await runPython(python, [path.join('test', 'interop', script), ...args], LOAD_MS);
  assert.equal(answer.code, 0, answer.stderr.slice(-3000));
  return JSON.parse(answer.stdout.trim().split('\n').at(-1)!) as T;
}

export async function assertWhole(dir: string, what: string): Promise<void> {
  const { problems, pictures } = await checkDataset(dir, 'all');
  assert.deepEqual(problems.list, [], what);
  console.log(`✔ ${what}: ${pictures.decoded} pictures decoded, every rule satisfied`);
}
