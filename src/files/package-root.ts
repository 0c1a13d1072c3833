import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

/** Folder of the installed package: where robots/, rigs/ and dist/ are. */
export const packageRoot = findRoot(path.dirname(fileURLToPath(import.meta.url)));

export function packageVersion(): string {
  const text = readFileSync(path.join(packageRoot, 'package.json'), 'utf8');
  return (JSON.parse(text) as { version: string }).version;
}

function findRoot(start: string): string {
  let here = start;
  while (!existsSync(path.join(here, 'robots'))) {
    const up = path.dirname(here);
    if (up === here) throw new Error(`no package root above ${start}`);
    here = up;
  }
  return here;
}
