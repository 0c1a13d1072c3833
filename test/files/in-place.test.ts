import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, it } from 'node:test';

/**
 * Files that may write by other means than `src/files/write-whole.ts`, and why a full disk does no harm
 * there.
 */
const ALLOWED: Record<string, string> = {
  'src/doctor/repair.ts': 'kernel settings, which are not files',
  'src/record/export/export-csv.ts':
    'pictures of an export; the table that names them is written last, atomically',
  'src/fleet/recordings/pull.ts': 'a download and its progress, checked by their SHA-256 and resumed',
  'src/publish/pull.ts': 'a .part file, checked by its hash and renamed when it is complete',
  'src/app/local-robot.ts': 'a temporary file of one run',
  'src/robot/driver-log.ts': 'a log that only grows, for trials',
  'src/record/lerobot/dataset-lock.ts': 'a lock with a process number',
  'src/record/mp4/cut.ts': 'videos of an edited dataset, which replaces the old one when it is complete',
  'src/record/pack/npz.ts': 'a .part file, renamed when it is complete',
  'src/record/lerobot/parquet.ts': 'drafts of a dataset, renamed together when all are complete',
};
const WRITES =
  /\b(writeFileSync|writeFile|appendFileSync|appendFile|createWriteStream)\(|\bopen(Sync)?\([^)]*'[wa]\+?'/;

const sources = (): string[] =>
  readdirSync('src', { recursive: true, encoding: 'utf8' })
    .map((name) => path.posix.join('src', name.replaceAll('\\', '/')))
    .filter((name) => name.endsWith('.ts') && !name.endsWith('.test.ts'));

describe('files', () => {
  it('are replaced by one function that leaves either the old or the new content', () => {
    const found = sources().filter((name) => WRITES.test(readFileSync(name, 'utf8')));
    const others = found.filter((name) => name !== 'src/files/write-whole.ts');
    assert.deepEqual(
      others.sort(),
      Object.keys(ALLOWED).sort(),
      'use writeWhole, or state here why it is not needed',
    );
  });
});
