import { createHash } from 'node:crypto';
import { createReadStream, existsSync, statSync } from 'node:fs';
import path from 'node:path';
import { TeleopError } from '../core/errors.ts';
import { filesBelow } from '../record/lerobot/dataset-folder.ts';

/** A file of a dataset, by its name in it. */
export interface DatasetFile {
  name: string;
  sizeBytes: number;
  sha256: string;
}

export interface LocalFile extends DatasetFile {
  file: string;
  /** Git's name of the same bytes: what a hub reports for small files. */
  gitId: string;
}

/** As the store reports it. One of the two hashes is known. */
export interface StoredFile {
  sizeBytes: number;
  sha256: string | null;
  gitId: string | null;
}

/** What makes the store equal to the dataset. */
export interface Change {
  put: readonly LocalFile[];
  remove: readonly string[];
  /** Everything that is stored afterwards. */
  all: readonly LocalFile[];
  title: string;
}

/** A place for one dataset. Every operation may be interrupted at any point and repeated. */
export interface DatasetStore {
  readonly where: string;
  /** What is stored; null: no dataset. */
  list(): Promise<ReadonlyMap<string, StoredFile> | null>;
  /** Until it returns, readers get the old dataset or an error, never a mixture that passes `pull`. */
  store(change: Change, progress: (bytes: number) => void): Promise<void>;
  /** Does what a push that was interrupted after its last file left undone. */
  settle(): Promise<void>;
  read(name: string, offset: number): AsyncIterable<Uint8Array>;
}

/** Names that a dataset may have. Others, and anything that could leave its folder, are neither sent nor fetched. */
const NAME = /^(README\.md|(?:meta|data|videos)(?:\/[\w=.-]+)+\.(?:json|jsonl|parquet|mp4))$/;
export const isDatasetName = (name: string): boolean =>
  name.length <= 300 && NAME.test(name) && !name.split('/').some((part) => /^\.+$/.test(part));

export const isSame = (file: LocalFile, stored: StoredFile | undefined): boolean =>
  stored !== undefined &&
  stored.sizeBytes === file.sizeBytes &&
  (stored.sha256 === null ? stored.gitId === file.gitId : stored.sha256 === file.sha256);

/** The files of a dataset with their hashes, in the order of their names. */
export async function datasetFiles(dir: string): Promise<LocalFile[]> {
  const names = ['meta', 'data', 'videos'].flatMap((folder) =>
    filesBelow(path.join(dir, folder)).map((name) => `${folder}/${name}`),
  );
  if (existsSync(path.join(dir, 'README.md'))) names.push('README.md');
  const files: LocalFile[] = [];
  for (const name of names.sort()) {
    if (path.basename(name).startsWith('.')) continue;
    if (!isDatasetName(name)) throw unnameable(dir, name);
    files.push(await localFile(dir, name));
  }
  return files;
}

const unnameable = (dir: string, name: string): TeleopError =>
  new TeleopError('bad-dataset', `${dir}: ${name} cannot be published under this name`, {
    hint: 'Only .json, .parquet and .mp4 files with letters, digits and . _ - = in their names are published. Remove it or rename its feature.',
  });

async function localFile(dir: string, name: string): Promise<LocalFile> {
  const file = path.join(dir, name);
  const { size: sizeBytes } = statSync(file);
  const sha256 = createHash('sha256');
  const git = createHash('sha1').update(`blob ${sizeBytes}\0`);
  let seen = 0;
  for await (const part of createReadStream(file, { highWaterMark: 1 << 20 })) {
    seen += (part as Buffer).length;
    sha256.update(part as Buffer);
    git.update(part as Buffer);
  }
  if (seen !== sizeBytes)
    throw new TeleopError('transfer-failed', `${file} changed while it was read`, {
      hint: 'Push when no process writes to the dataset any more.',
    });
  return { name, file, sizeBytes, sha256: sha256.digest('hex'), gitId: git.digest('hex') };
}
