import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { TeleopError } from '../core/errors.ts';

/** Runs a plug-in's tests with this Farhand as its `farhand`; returns the exit code. */
export function testPlugin(folder: string): number {
  const files = existsSync(folder)
    ? readdirSync(folder).filter((name) => /\.test\.(js|mjs)$/.test(name))
    : [];
  if (files.length === 0)
    throw new TeleopError('file-missing', `there is no test in ${folder}`, {
      hint: 'Name the folder of a plug-in with a file *.test.js; `farhand plugins new` makes one.',
    });
  const hook = new URL('./use-own-library.js', import.meta.url).href;
  const { status } = spawnSync(
    process.execPath,
    ['--test', ...files.map((name) => path.resolve(folder, name))],
    {
      stdio: 'inherit',
      env: { ...process.env, NODE_OPTIONS: `${process.env['NODE_OPTIONS'] ?? ''} --import=${hook}`.trim() },
    },
  );
  return status ?? 1;
}
