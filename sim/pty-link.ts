import { lstatSync, symlinkSync, unlinkSync } from 'node:fs';
import { TeleopError } from '../src/core/errors.ts';
import { unwritable } from '../src/files/write-whole.ts';

/** Creates a link to a pseudo-terminal. Replaces a link left by a killed simulator; touches nothing else. */
export function replaceLink(target: string, link: string, option: string): void {
  const there = lstatSync(link, { throwIfNoEntry: false });
  if (there !== undefined && !there.isSymbolicLink())
    throw new TeleopError('file-unwritable', `${link} already exists and is not a link`, {
      hint: `Choose another path for ${option}.`,
    });
  try {
    if (there !== undefined) unlinkSync(link);
    symlinkSync(target, link);
  } catch (cause) {
    throw unwritable(link, cause, `Or choose another path for ${option}.`);
  }
}
