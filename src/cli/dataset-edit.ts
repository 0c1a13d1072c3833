import { TeleopError } from '../core/errors.ts';
import {
  deleteEpisodes,
  type Edited,
  mergeDatasets,
  recomputeStats,
  relabel,
  splitDataset,
  trimEpisode,
} from '../record/edit/edits.ts';
import { type Given, numberOption } from './arguments.ts';

export const EDITS = ['delete', 'trim', 'split', 'merge', 'relabel', 'stats'] as const;
export type Edit = (typeof EDITS)[number];

/** Runs an edit and prints what it made. */
export async function runEdit(edit: Edit, dirs: readonly string[], given: Given): Promise<number> {
  const made = await edited(edit, dirs, given);
  if (given.values['json'] === true) console.log(JSON.stringify(made));
  else for (const each of made) console.log(editedText(each));
  return 0;
}

function edited(edit: Edit, dirs: readonly string[], given: Given): Promise<Edited[]> {
  const out = text(given, 'out');
  if (edit === 'merge') {
    if (dirs.length < 2 || out === null)
      throw usage('merge needs two or more datasets and --out', 'dataset merge a b --out both');
    return one(mergeDatasets(dirs, out));
  }
  const [dir, extra] = dirs;
  if (dir === undefined || extra !== undefined)
    throw usage(`${edit} needs one dataset`, `dataset ${edit} datasets/cups …`);
  const into = out ?? dir;
  if (edit === 'stats') return one(recomputeStats(dir, into));
  if (edit === 'split') return splitDataset(dir, splitsOf(given.overrides), out);
  if (edit === 'relabel') {
    const task = text(given, 'task');
    if (task === null)
      throw usage('relabel needs --task', 'dataset relabel datasets/cups --task "lift the lid"');
    return one(relabel(dir, task, text(given, 'episodes') === null ? null : episodesOf(given), into));
  }
  const episodes = episodesOf(given);
  return edit === 'delete' ? one(deleteEpisodes(dir, episodes, into)) : trimmed(dir, episodes, given, into);
}

async function trimmed(dir: string, episodes: number[], given: Given, into: string): Promise<Edited[]> {
  const [episode, extra] = episodes;
  if (episode === undefined || extra !== undefined)
    throw usage('trim needs one episode', 'dataset trim datasets/cups --episodes 3 --from 0.5 --to 4');
  const fromS = numberOption(given, 'from', 0, 86_400);
  const toS = numberOption(given, 'to', 0, 86_400);
  const made = await trimEpisode(
    dir,
    {
      episode,
      ...(fromS !== null && { fromS }),
      ...(toS !== null && { toS }),
      exact: given.values['exact'] === true,
    },
    into,
  );
  return [made];
}

const one = async (made: Promise<Edited>): Promise<Edited[]> => [await made];

const text = (given: Given, name: string): string | null => {
  const value = given.values[name];
  return typeof value === 'string' ? value : null;
};

const usage = (message: string, example: string): TeleopError =>
  new TeleopError('bad-option', message, { hint: `For example \`farhand ${example}\`.` });

function episodesOf(given: Given): number[] {
  const list = text(given, 'episodes');
  if (list === null) throw usage('--episodes is missing', 'dataset delete datasets/cups --episodes 0,3-5');
  return numbersOf(list);
}

/** `0,3-5` as [0, 3, 4, 5]. */
function numbersOf(list: string): number[] {
  return list.split(',').flatMap((range) => {
    const [, from, to] = /^\s*(\d+)\s*(?:-\s*(\d+)\s*)?$/.exec(range) ?? [];
    const last = Number(to ?? from);
    if (from === undefined || last < Number(from) || last - Number(from) > 1e6)
      throw usage(
        `"${range}" is not an episode or a range of episodes`,
        'dataset delete cups --episodes 0,3-5',
      );
    return Array.from({ length: last - Number(from) + 1 }, (_, i) => Number(from) + i);
  });
}

function splitsOf(words: readonly string[]): Map<string, number[]> {
  if (words.length === 0)
    throw usage('split needs names with their episodes', 'dataset split cups train=0-79 test=80-99');
  const parts = words.map((word) => {
    const [name = '', list = ''] = word.split('=');
    return [name, numbersOf(list)] as const;
  });
  const twice = parts.find(([name], i) => parts.findIndex(([other]) => other === name) < i);
  if (twice !== undefined)
    throw usage(`split has two parts named "${twice[0]}"`, 'dataset split cups train=0-79 test=80-99');
  return new Map(parts);
}

function editedText({ dir, episodes, rows, videos }: Edited): string {
  const { kept, cut, encoded } = videos;
  const pictures =
    kept + cut + encoded === 0 ? '' : `; videos: ${kept} kept, ${cut} cut, ${encoded} encoded again`;
  return `${dir}: ${episodes} episodes, ${rows} rows${pictures}`;
}
