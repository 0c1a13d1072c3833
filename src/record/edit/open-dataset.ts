import path from 'node:path';
import { TeleopError } from '../../core/errors.ts';
import { checkDataset } from '../lerobot/check.ts';
import type { EpisodeMeta } from '../lerobot/episode-meta.ts';
import type { DatasetInfo } from '../lerobot/layout.ts';
import { openParquet } from '../lerobot/parquet.ts';
import { type Problem, problemText, type Rule } from '../lerobot/problems.ts';
import { finishSwap } from './swap.ts';

/** A dataset that can be edited. */
export interface OpenDataset {
  dir: string;
  info: DatasetInfo;
  episodes: EpisodeMeta[];
  tasks: string[];
}

/** Violations of what episodes contain: an edit may remove them, and may leave them in other episodes. */
export const OF_CONTENT: readonly Rule[] = [
  ...(['limits', 'jump', 'finite', 'picture'] as const),
  ...(['video-black', 'video-frozen', 'video-duplicate', 'video-decode'] as const),
];
/** Every edit writes these anew. */
const REWRITTEN: readonly Rule[] = ['stats', 'digest', 'done', 'dtype', 'episode-file'];

/** Finishes an interrupted edit, then reads the dataset; the caller holds its lock. Throws if its structure is damaged. */
export async function openDataset(dir: string): Promise<OpenDataset> {
  finishSwap(dir);
  const { info, episodes, tasks, problems } = await checkDataset(dir, 'none');
  const severe = problems.list.find(({ rule }) => ![...OF_CONTENT, ...REWRITTEN].includes(rule));
  if (info === null || severe !== undefined) throw damaged(dir, severe ?? problems.list[0]!);
  return { dir, info, episodes, tasks };
}

const damaged = (dir: string, problem: Problem): TeleopError =>
  new TeleopError('bad-dataset', `${dir}: ${problemText(problem)}`, {
    hint: `\`farhand dataset check ${dir}\` lists all violations. Export the recordings again, or fix the file named here.`,
  });

/** The rows of an episode, in order. */
export async function rowsOf(
  { dir, episodes }: OpenDataset,
  { episode, dataFile, fromIndex, length }: EpisodeMeta,
): Promise<Record<string, unknown>[]> {
  const parquet = await openParquet(path.join(dir, dataFile));
  // Episodes of one file are in the order of their indices.
  const first = Math.min(
    ...episodes.filter((each) => each.dataFile === dataFile).map(({ fromIndex: from }) => from),
  );
  const rows = await parquet.read(fromIndex - first, fromIndex - first + length);
  if (rows.length !== length || rows.some((row) => Number(row['episode_index']) !== episode))
    throw new TeleopError('bad-dataset', `${dir}: the rows of episode ${episode} are not in one piece`, {
      hint: `See \`farhand dataset check ${dir}\`.`,
    });
  return rows;
}
