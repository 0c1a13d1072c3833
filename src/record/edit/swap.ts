import { existsSync, readdirSync, renameSync, rmSync } from 'node:fs';
import path from 'node:path';
import { TeleopError } from '../../core/errors.ts';
import { syncFolderOf } from '../../files/write-whole.ts';
import { folderOf, lockDataset } from '../lerobot/dataset-lock.ts';

/** Beside the dataset: the new one while it is being written, and the old one while they change places. */
const newOf = (dir: string): string => `${dir}.farhand-new`;
const oldOf = (dir: string): string => `${dir}.farhand-old`;

/** Written anew by an edit. Everything else, for example a README or `.git`, belongs to people and other programs. */
const isRewritten = (name: string): boolean => /^(meta|data|videos|\.farhand-.*)$/.test(name);

function keepOthers(old: string, target: string): void {
  for (const name of readdirSync(old).filter((each) => !isRewritten(each)))
    if (!existsSync(path.join(target, name))) renameSync(path.join(old, name), path.join(target, name));
}

/** Removes what an interrupted edit left and returns an empty place for the new dataset. */
export function beginSwap(dir: string): string {
  const place = newOf(folderOf(dir));
  rmSync(place, { recursive: true, force: true });
  return place;
}

/** The new dataset, complete and synced, takes the place of the old one, if there is one. */
export function swap(dir: string): void {
  const target = folderOf(dir);
  if (existsSync(target)) renameSync(target, oldOf(target));
  renameSync(newOf(target), target);
  syncFolderOf(target);
  if (existsSync(oldOf(target))) keepOthers(oldOf(target), target);
  rmSync(oldOf(target), { recursive: true, force: true });
}

/** After a failed edit: the dataset is as it was. */
export function abandonSwap(dir: string): void {
  const target = folderOf(dir);
  if (!existsSync(target) && existsSync(oldOf(target))) renameSync(oldOf(target), target);
  rmSync(newOf(target), { recursive: true, force: true });
}

/** Finishes an edit that was interrupted while the datasets changed places. The caller holds the lock. */
export function finishSwap(dir: string): void {
  const target = folderOf(dir);
  const [next, old] = [newOf(target), oldOf(target)];
  if (!existsSync(old)) return;
  // The old one moves away only after the new one is complete.
  if (!existsSync(target)) renameSync(existsSync(next) ? next : old, target);
  else if (existsSync(next))
    throw new TeleopError('bad-dataset', `${dir} was created while an edit of it was unfinished`, {
      hint: `The dataset is ${old} before the edit and ${next} after it: move ${dir} away, and one of the two to its name.`,
    });
  syncFolderOf(target);
  if (existsSync(old)) keepOthers(old, target);
  rmSync(old, { recursive: true, force: true });
}

/** The same for a reader: only if the folder is missing, and nobody is editing it. */
export function restoreInterrupted(dir: string): void {
  const target = folderOf(dir);
  if (existsSync(target) || !existsSync(oldOf(target))) return;
  const unlock = lockDataset(dir);
  try {
    finishSwap(dir);
  } finally {
    unlock();
  }
}
