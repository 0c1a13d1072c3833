import { readFileSync } from 'node:fs';
import path from 'node:path';
import { TeleopError } from '../core/errors.ts';
import { stateFolder } from '../files/state-folder.ts';
import { PRIVATE, writeWhole } from '../files/write-whole.ts';

/** Where the console keeps its certificates and paired devices. */
export const consoleFolder = (): string => path.join(stateFolder(), 'console');

/**
 * The text of a file; null if it does not exist. Throws if it exists but is unreadable, so that it is not
 * replaced.
 */
export function readIfThere(file: string): string | null {
  try {
    return readFileSync(file, 'utf8');
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw new TeleopError('file-unreadable', `${file} cannot be read: ${(cause as Error).message}`, {
      hint: 'Check its owner and permissions with `ls -l`; FARHAND_STATE=FOLDER chooses another folder.',
      cause,
    });
  }
}

/** Writes a file that only its owner can read, atomically. */
export const writePrivate = (file: string, text: string): void =>
  writeWhole(file, text, { ...PRIVATE, hint: 'FARHAND_STATE=FOLDER chooses another folder.' });
