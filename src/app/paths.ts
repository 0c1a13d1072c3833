import { existsSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

/** Folder of the installed package: where robots/, rigs/ and dist/ are. */
export const packageRoot = findRoot(path.dirname(fileURLToPath(import.meta.url)));

function findRoot(start: string): string {
  let here = start;
  while (!existsSync(path.join(here, 'robots'))) {
    const up = path.dirname(here);
    if (up === here) throw new Error(`no package root above ${start}`);
    here = up;
  }
  return here;
}
