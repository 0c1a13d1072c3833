import { lstatSync, symlinkSync, unlinkSync } from 'node:fs';
import { TeleopError } from '../src/core/errors.ts';

/** A link to a pseudo-terminal. An old one, of a simulator that was killed, is replaced; anything else is left alone. */
export function replaceLink(target: string, link: string, option: string): void {
  const there = lstatSync(link, { throwIfNoEntry: false });
  if (there !== undefined && !there.isSymbolicLink())
    throw new TeleopError('file-unwritable', `${link} exists already and is not a link`, {
      hint: `Choose another path for ${option}.`,
    });
  if (there !== undefined) unlinkSync(link);
  symlinkSync(target, link);
}
