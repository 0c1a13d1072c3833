import { createHash, type Hash } from 'node:crypto';
import { createReadStream, existsSync, mkdirSync, renameSync, rmSync, statSync } from 'node:fs';
import { open } from 'node:fs/promises';
import path from 'node:path';
import { TeleopError } from '../core/errors.ts';
import { syncFolderOf } from '../files/write-whole.ts';
import { checkDataset } from '../record/lerobot/check.ts';
import { filesBelow } from '../record/lerobot/dataset-folder.ts';
import { problemText } from '../record/lerobot/problems.ts';
import { type DatasetStore, isDatasetName, type StoredFile } from './dataset-store.ts';

export interface Pulled {
  dir: string;
  files: number;
  fetchedBytes: number;
  episodes: number;
  rows: number;
  /** Violations of the dataset's rules, as text; the dataset is kept all the same. */
  problems: string[];
}

/** While it is being fetched; a second attempt continues there. */
const draftOf = (dir: string): string => `${path.resolve(dir)}.farhand-pull`;
const MAX_FILES = 1_000_000;

/** Fetches a dataset into a new folder. Only complete files with the right hash get there. */
export async function pullDataset(
  store: DatasetStore,
  dir: string,
  progress: (done: number, total: number) => void,
): Promise<Pulled> {
  if (existsSync(dir))
    throw new TeleopError('bad-option', `${dir} exists already`, { hint: 'Choose a new folder.' });
  const listed = await store.list();
  if (listed === null || !listed.has('meta/info.json') || listed.size > MAX_FILES)
    throw new TeleopError('file-missing', `${store.where} is not a LeRobot v3 dataset`, {
      hint: 'Check the address. A private dataset on a hub needs HF_TOKEN.',
    });
  const files = [...listed].filter(([name]) => isDatasetName(name)).sort(([a], [b]) => (a < b ? -1 : 1));
  const total = files.reduce((sum, [, { sizeBytes }]) => sum + sizeBytes, 0);
  const draft = draftOf(dir);
  let done = 0;
  let fetchedBytes = 0;
  for (const [name, stored] of files) {
    fetchedBytes += await fetchFile(store, draft, name, stored, (bytes) => {
      done += bytes;
      progress(done, total);
    });
  }
  for (const name of filesBelow(draft)) if (!listed.has(name)) rmSync(path.join(draft, name));
  renameSync(draft, path.resolve(dir));
  syncFolderOf(path.resolve(dir));
  const { problems, episodes } = await checkDataset(dir, 'sample');
  const rows = episodes.reduce((sum, { length }) => sum + length, 0);
  return {
    ...{ dir, files: files.length, fetchedBytes, episodes: episodes.length, rows },
    problems: problems.list.map(problemText),
  };
}

/**
 * Returns how many bytes were fetched: 0 if an earlier attempt had fetched the file. What that attempt left is of another
 * version if somebody has pushed since: then the file is fetched from its beginning.
 */
async function fetchFile(
  store: DatasetStore,
  draft: string,
  name: string,
  stored: StoredFile,
  progress: (bytes: number) => void,
): Promise<number> {
  const file = path.join(draft, name);
  const part = `${file}.part`;
  if (existsSync(file)) renameSync(file, part);
  mkdirSync(path.dirname(file), { recursive: true });
  const hash = hashFor(stored);
  const begun = await begunBytes(part, stored, hash);
  progress(begun);
  let at = begun;
  const handle = await open(part, begun > 0 ? 'r+' : 'w');
  try {
    if (begun < stored.sizeBytes)
      for await (const bytes of store.read(name, begun)) {
        if (at + bytes.length > stored.sizeBytes) throw wrong(store, name, 'it is longer than announced');
        await handle.write(bytes, 0, bytes.length, at);
        hash.update(bytes);
        at += bytes.length;
        progress(bytes.length);
      }
    await handle.datasync();
  } finally {
    await handle.close();
  }
  if (at !== stored.sizeBytes) throw wrong(store, name, `${at} of ${stored.sizeBytes} bytes arrived`);
  if (hash.digest('hex') !== (stored.sha256 ?? stored.gitId)) {
    rmSync(part);
    if (begun === 0) throw wrong(store, name, 'its hash is not the announced one');
    progress(-at);
    return at - begun + (await fetchFile(store, draft, name, stored, progress));
  }
  renameSync(part, file);
  return at - begun;
}

const hashFor = ({ sha256, sizeBytes }: StoredFile): Hash =>
  sha256 === null ? createHash('sha1').update(`blob ${sizeBytes}\0`) : createHash('sha256');

/** What an earlier attempt left of a file, taken into the hash. */
async function begunBytes(part: string, { sizeBytes }: StoredFile, hash: Hash): Promise<number> {
  const begun = existsSync(part) ? statSync(part).size : 0;
  if (begun === 0 || begun > sizeBytes) return 0;
  for await (const bytes of createReadStream(part)) hash.update(bytes as Buffer);
  return begun;
}

const wrong = (store: DatasetStore, name: string, what: string): TeleopError =>
  new TeleopError('transfer-failed', `${store.where}: ${name}: ${what}`, {
    hint: 'Pull again: it continues where it stopped. If this persists, somebody is changing the dataset there.',
  });
