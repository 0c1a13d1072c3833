import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import path from 'node:path';
import { packageRoot } from '../../src/app/paths.ts';

const PYTHON = process.env['PYTHON'] ?? 'python3';
const INSTALL_MS = 120_000;

/** An interpreter that can import what is asked for, or why there is none. */
export type Venv = { python: string; why: '' } | { python: null; why: string };

/**
 * A virtual environment with one package from the index, kept in artifacts/ from run to run. The environment variable
 * names an interpreter that has it already.
 */
export function venvWith(name: string, requirement: string, module: string, variable: string): Venv {
  const given = process.env[variable];
  if (given !== undefined)
    return canImport(given, module) ? { python: given, why: '' } : none(`${given} has no ${module}`);
  const folder = path.join(packageRoot, 'artifacts', `venv-${name}`);
  const python = path.join(folder, 'bin', 'python3');
  if (existsSync(python) && canImport(python, module)) return { python, why: '' };
  try {
    execFileSync(PYTHON, ['-m', 'venv', folder], { stdio: 'pipe', timeout: INSTALL_MS });
    execFileSync(
      python,
      [
        '-m',
        'pip',
        'install',
        '--quiet',
        '--disable-pip-version-check',
        '--retries=1',
        '--timeout=10',
        requirement,
      ],
      {
        stdio: 'pipe',
        timeout: INSTALL_MS,
      },
    );
  } catch (error) {
    const { message } = error as Error;
    return none(`${PYTHON} or the package index cannot be reached (${message.split('\n')[0]})`);
  }
  return canImport(python, module)
    ? { python, why: '' }
    : none(`${requirement} was installed and cannot be imported`);
}

const none = (why: string): Venv => ({ python: null, why });

function canImport(python: string, module: string): boolean {
  return spawnSync(python, ['-c', `import ${module}`], { stdio: 'ignore' }).status === 0;
}
