import { existsSync, renameSync, rmSync } from 'node:fs';
import path from 'node:path';
import { syncFolderOf } from '../../files/write-whole.ts';

/** Beside the dataset: the new one while it is being written, and the old one while they change places. */
const newOf = (dir: string): string => `${dir}.farhand-new`;
const oldOf = (dir: string): string => `${dir}.farhand-old`;

/** Removes what an interrupted edit left and returns an empty place for the new dataset. */
export function beginSwap(dir: string): string {
  const place = newOf(path.resolve(dir));
  rmSync(place, { recursive: true, force: true });
  return place;
}

/** The new dataset, complete and synced, takes the place of the old one, if there is one. */
export function swap(dir: string): void {
  const target = path.resolve(dir);
  if (existsSync(target)) renameSync(target, oldOf(target));
  renameSync(newOf(target), target);
  syncFolderOf(target);
  rmSync(oldOf(target), { recursive: true, force: true });
}

/** Finishes an edit that was interrupted while the datasets changed places. Call before opening one. */
export function finishSwap(dir: string): void {
  const target = path.resolve(dir);
  if (!existsSync(oldOf(target))) return;
  // The old one moves away only after the new one is complete.
  if (!existsSync(target)) renameSync(existsSync(newOf(target)) ? newOf(target) : oldOf(target), target);
  syncFolderOf(target);
  rmSync(oldOf(target), { recursive: true, force: true });
}
