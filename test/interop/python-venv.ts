import { execFile } from 'node:child_process';
import { existsSync, mkdirSync } from 'node:fs';
import path from 'node:path';
import { packageRoot } from '../../src/files/package-root.ts';
import { absent, needs, PYTHON } from '../needs.ts';

const INSTALL_TIMEOUT_MS = 120_000;

export type Python = { ok: true; python: string } | { ok: false; why: string };

export interface Answer {
  code: number;
  stdout: string;
  stderr: string;
}

export function runPython(python: string, args: readonly string[], timeoutMs: number): Promise<Answer> {
  return new Promise((resolve) => {
    execFile(python, [...args], { timeout: timeoutMs }, (error, stdout, stderr) => {
      const code = error === null ? 0 : typeof error.code === 'number' ? error.code : 1;
      resolve({ code, stdout, stderr: error === null ? stderr : `${stderr}${error.message}` });
    });
  });
}

/**
 * A Python that can import `module`: the one named by PYTHON if it can, otherwise a virtual environment under
 * artifacts/, created once with the required packages from the package index.
 */
export async function pythonWith(module: string, ...required: readonly string[]): Promise<Python> {
  const has = async (python: string) =>
    (await runPython(python, ['-c', `import ${module}`], 20_000)).code === 0;
  if (await has(PYTHON)) return { ok: true, python: PYTHON };
  const noPython = needs('python');
  if (noPython) return { ok: false, why: noPython };
  const folder = path.join(packageRoot, 'artifacts', `venv-${required.join('-').replace(/[^\w.]+/g, '-')}`);
  const python = path.join(folder, 'bin', 'python');
  if (existsSync(python) && (await has(python))) return { ok: true, python };
  mkdirSync(path.dirname(folder), { recursive: true });
  const made = await runPython(PYTHON, ['-m', 'venv', folder], INSTALL_TIMEOUT_MS);
  if (made.code !== 0)
    return { ok: false, why: absent('python', `${PYTHON} -m venv: ${lastLine(made.stderr)}`, false) };
  const install = ['-m', 'pip', 'install', '--quiet', '--disable-pip-version-check', ...required];
  const installed = await runPython(python, install, INSTALL_TIMEOUT_MS);
  if (installed.code !== 0 || !(await has(python)))
    return {
      ok: false,
      why: absent(required.join(' '), `pip install: ${lastLine(installed.stderr)}`, false),
    };
  return { ok: true, python };
}

const lastLine = (text: string): string => text.trim().split('\n').at(-1) ?? '';
