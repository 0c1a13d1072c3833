import { createHash } from 'node:crypto';
import { closeSync, existsSync, openSync, readFileSync, readSync } from 'node:fs';
import path from 'node:path';
import type { Problems } from './problems.ts';

/** Ours; loaders ignore it. */
export const DIGEST_FILE = 'meta/farhand-files.json';
const PIECE_BYTES = 1 << 20;

/** SHA-256 of files, by name. */
export interface Digests {
  /** What every edit rewrites: if one of these differs, another program has edited the dataset. */
  edition: Record<string, string>;
  /** Everything below `data`, `videos` and `meta/episodes`. */
  files: Record<string, string>;
}

const DIGESTED = /^(data|videos|meta\/episodes)\//;
const isDigested = (name: string): boolean => DIGESTED.test(name);

function digestOf(file: string): string {
  const hash = createHash('sha256');
  const piece = Buffer.allocUnsafe(PIECE_BYTES);
  const handle = openSync(file, 'r');
  try {
    for (let at = 0; ; ) {
      const count = readSync(handle, piece, 0, PIECE_BYTES, at);
      if (count === 0) return hash.digest('hex');
      hash.update(piece.subarray(0, count));
      at += count;
    }
  } finally {
    closeSync(handle);
  }
}

/** Null: there are none, or another program has edited the dataset since. */
export function readDigests(dir: string): Digests | null {
  const file = path.join(dir, DIGEST_FILE);
  if (!existsSync(file)) return null;
  try {
    const { edition, files } = JSON.parse(readFileSync(file, 'utf8')) as Digests;
    const isCurrent = Object.entries(edition).every(
      ([name, digest]) => existsSync(path.join(dir, name)) && digestOf(path.join(dir, name)) === digest,
    );
    return isCurrent && typeof files === 'object' ? { edition, files } : null;
  } catch {
    return null;
  }
}

/** `written`: the new files by name in the dataset, and where their content is now. */
export function digestsJson(earlier: Digests | null, written: ReadonlyMap<string, string>): string {
  const digests: Digests = { edition: {}, files: { ...earlier?.files } };
  for (const [name, file] of written)
    (isDigested(name) ? digests.files : digests.edition)[name] = digestOf(file);
  return `${JSON.stringify(digests, null, 1)}\n`;
}

export function checkDigests(dir: string, problems: Problems): void {
  for (const [name, digest] of Object.entries(readDigests(dir)?.files ?? {})) {
    const file = path.join(dir, name);
    if (!existsSync(file)) problems.add('file-missing', name, null, 'it was part of the export');
    else if (digestOf(file) !== digest)
      problems.add('digest', name, null, 'it has changed since Farhand wrote it');
  }
}
