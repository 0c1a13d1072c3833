import { lstatSync, symlinkSync, unlinkSync } from 'node:fs';
import { TeleopError } from '../src/core/errors.ts';

/** Creates a link to a pseudo-terminal. Replaces a link left by a killed simulator; touches nothing else. */
export function replaceLink(target: string, link: string, option: string): void {
  const there = lstatSync(link, { throwIfNoEntry: false });
  if (there !== undefined && !there.isSymbolicLink())
    throw new TeleopError('file-unwritable', `${link} already exists and is not a link`, {
      hint: `Choose another path for ${option}.`,
    });
  if (there !== undefined) unlinkSync(link);
  symlinkSync(target, link);
}
