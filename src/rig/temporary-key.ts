import path from 'node:path';
import { temporaryFolder } from '../files/temporary-folder.ts';
import { createKey, writeKeyFile } from '../wire/secure/key-file.ts';
import type { Rig } from './rig.ts';

/** We start both roles: a key for this run only, unless the user set one or chose a plain link. */
export function temporaryKey({ link }: Rig, name: string): { overrides: string[]; remove: () => void } {
  if (link.security === 'plain' || link.keyFile !== '') return { overrides: [], remove: () => {} };
  const folder = temporaryFolder(name);
  const file = path.join(folder.path, `${name}.key`);
  writeKeyFile(file, { name, key: createKey(), createdAt: new Date().toISOString() });
  return { overrides: [`link.keyFile=${file}`], remove: folder.remove };
}
