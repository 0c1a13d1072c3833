import { TeleopError } from '../core/errors.ts';
import { checkDataset } from '../record/lerobot/check.ts';
import { problemText } from '../record/lerobot/problems.ts';
import { writeCard } from './card.ts';
import { type DatasetStore, datasetFiles, isDatasetName, isSame, type LocalFile } from './dataset-store.ts';

export interface Pushed {
  where: string;
  files: number;
  sentFiles: number;
  sentBytes: number;
  removedFiles: number;
}

export interface PushOptions {
  /** SPDX name for the card; absent: the card names none. */
  license?: string;
  progress: (done: number, total: number) => void;
}

/** Checks a dataset, describes it, and makes a store equal to it. */
export async function pushDataset(dir: string, store: DatasetStore, options: PushOptions): Promise<Pushed> {
  const checked = await checkDataset(dir, 'sample');
  const [problem] = checked.problems.list;
  if (problem !== undefined)
    throw new TeleopError('bad-dataset', `${dir} is not published: ${problemText(problem)}`, {
      hint: `\`farhand dataset check ${dir}\` lists every violation. Fix them first.`,
    });
  writeCard(dir, checked, options.license);
  const all = await datasetFiles(dir);
  const stored = (await store.list()) ?? new Map();
  const put = all.filter((file) => !isSame(file, stored.get(file.name)));
  const names = new Set(all.map(({ name }) => name));
  const remove = [...stored.keys()].filter((name) => isDatasetName(name) && !names.has(name));
  if (put.length + remove.length > 0) {
    const { total_episodes: episodes, total_frames: rows } = checked.info!;
    const title = `${episodes} episodes, ${rows} rows`;
    await send(store, { put, remove, all, title }, options);
  } else await store.settle();
  return {
    where: store.where,
    files: all.length,
    sentFiles: put.length,
    sentBytes: bytesOf(put),
    removedFiles: remove.length,
  };
}

async function send(
  store: DatasetStore,
  change: Parameters<DatasetStore['store']>[0],
  { progress }: PushOptions,
): Promise<void> {
  const total = bytesOf(change.put);
  let done = 0;
  await store.store(change, (bytes) => {
    done += bytes;
    progress(done, total);
  });
  const stored = await store.list();
  const wrong = change.all.find((file) => !isSame(file, stored?.get(file.name)));
  if (wrong === undefined) return;
  throw new TeleopError('transfer-failed', `${store.where}: ${wrong.name} was not stored correctly`, {
    hint: 'The dataset here is intact. Run the same command again: what arrived is not sent again.',
  });
}

const bytesOf = (files: readonly LocalFile[]): number =>
  files.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0);
