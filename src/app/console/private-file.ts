import { randomBytes } from 'node:crypto';
import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { TeleopError } from '../../core/errors.ts';
import { stateFolder } from '../network-memory.ts';

/** Where the console keeps its certificates and who was paired. */
export const consoleFolder = (): string => path.join(stateFolder(), 'console');

/** The text of a file; null when there is none. */
export function readIfThere(file: string): string | null {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return null;
  }
}

/** Writes a file that only its owner may read, whole or not at all. */
export function writePrivate(file: string, text: string): void {
  const part = `${file}.${randomBytes(6).toString('hex')}.tmp`;
  try {
    mkdirSync(path.dirname(file), { recursive: true, mode: 0o700 });
    writeFileSync(part, text, { mode: 0o600, flag: 'wx' });
    renameSync(part, file);
  } catch (cause) {
    rmSync(part, { force: true });
    throw new TeleopError('file-unwritable', `${file} cannot be written: ${(cause as Error).message}`, {
      hint: 'Check the folder and the free space; FARHAND_STATE=FOLDER chooses another one.',
      cause,
    });
  }
}
