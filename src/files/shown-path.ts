import { homedir } from 'node:os';
import path from 'node:path';

/** A path as a person would write it: relative to the working folder, else to the home folder as `~`. */
export function shownPath(file: string, cwd = process.cwd(), home = homedir()): string {
  const full = path.resolve(cwd, file);
  const here = path.relative(cwd, full);
  if (isInside(here)) return here === '' ? '.' : here;
  const fromHome = path.relative(home, full);
  return isInside(fromHome) ? path.join('~', fromHome) : full;
}

const isInside = (relative: string): boolean =>
  relative !== '..' && !relative.startsWith(`..${path.sep}`) && !path.isAbsolute(relative);
