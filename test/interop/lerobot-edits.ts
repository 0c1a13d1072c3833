import assert from 'node:assert/strict';
import { cpSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { checkDataset } from '../../src/record/lerobot/check.ts';
import { farhand } from '../e2e/farhand.ts';
import { assertWhole, peer } from './lerobot-peer.ts';

/** Rows of one episode that become an episode of the result. */
interface Part {
  from: string;
  first: number;
  count: number;
  task: string;
}

interface Made {
  dir: string;
  rows: number;
  videos: { encoded: number };
  /** Of a trim. */
  first?: number;
}

/** Larger than rounding to float32; a wrong statistic differs by a hundred times as much. */
const NUMBER_SLACK = 1e-6;
/** Ours are of pictures scaled to 160 pixels, converted to RGB by another program. */
const PICTURE_SLACK = 0.01;

/** `farhand dataset …` as a person types it. */
async function edit(...words: string[]): Promise<Made[]> {
  const { code, stdout, stderr } = await farhand(['dataset', ...words, '--json']);
  assert.equal(code, 0, stderr);
  return JSON.parse(stdout) as Made[];
}

async function partsOf(dir: string): Promise<Part[]> {
  let first = 0;
  const { episodes } = await checkDataset(dir, 'none');
  return episodes.map(({ length: count, tasks }) => {
    first += count;
    return { from: dir, first: first - count, count, task: tasks[0]! };
  });
}

/** Every edit of a dataset, ours or theirs with several episodes per file: LeRobot gives exactly the rows that remain. */
export async function editsLoad(python: string, root: string, name: string): Promise<void> {
  const from = path.join(root, 'farhand', name);
  const out = (what: string) => path.join(root, `${name}-${what}`);
  const parts = await partsOf(from);
  const [head, ...others] = parts as [Part, ...Part[]];
  const last = parts.length - 1;
  const loads = async (dir: string, due: readonly Part[]) => {
    await assertWhole(dir, `${path.basename(dir)}, edited by Farhand`);
    const { rows, cameras } = await peer<{ rows: number; cameras: number }>(
      ...([python, 'lerobot_edits.py', 'rows', dir, JSON.stringify(due)] as const),
    );
    console.log(`✔ and LeRobot gives its ${rows} rows and ${rows * cameras} pictures as they must be`);
  };

  await edit('delete', from, '--episodes', '0', '--out', out('deleted'));
  await loads(out('deleted'), others);
  const trim = ['--episodes', '0', '--from', '0.2', '--to', '0.6', '--out', out('trimmed')];
  const [trimmed] = await edit('trim', from, ...trim);
  assert.equal(trimmed!.videos.encoded, 0);
  const first = trimmed!.first!;
  assert.ok(first >= 4 && first <= 6, `${first}`);
  await loads(out('trimmed'), [{ ...head, first, count: 18 - first }, ...others]);
  await edit('merge', from, out('deleted'), '--out', out('merged'));
  await loads(out('merged'), [...parts, ...others]);
  await edit('split', from, `late=${last}`, `early=0-${last - 1}`);
  await loads(`${from}-late`, [parts[last]!]);
  await loads(`${from}-early`, parts.slice(0, last));
  const task = 'close the lid';
  await edit('relabel', from, '--episodes', `${last}`, '--task', task, '--out', out('relabelled'));
  await loads(out('relabelled'), [...parts.slice(0, last), { ...parts[last]!, task }]);
  await statsLoad(python, from, out('counted'));
  await loads(out('counted'), parts);
}

interface Compared {
  features: number;
  /** Relative to 1 + the number. */
  worst: number;
  pictures: Record<string, Record<'mean' | 'std', number>>;
}

/** Wrong statistics reach LeRobot; recomputed, they are those that numpy computes from the rows and pictures. */
async function statsLoad(python: string, from: string, dir: string): Promise<void> {
  cpSync(from, dir, { recursive: true });
  const file = path.join(dir, 'meta/stats.json');
  const all = JSON.parse(readFileSync(file, 'utf8')) as Record<string, Record<string, unknown>>;
  for (const key of Object.keys(all)) {
    const wrong = JSON.stringify(all[key]!['mean']).replaceAll(/-?[\d.]+(e-?\d+)?/g, '7');
    all[key]!['mean'] = JSON.parse(wrong);
  }
  writeFileSync(file, JSON.stringify(all));
  const { problems } = await checkDataset(dir, 'none');
  assert.ok(problems.list.some(({ rule }) => rule === 'stats'));
  const compared = () => peer<Compared>(python, 'lerobot_edits.py', 'stats', dir);
  assert.ok((await compared()).worst > 0.1, 'LeRobot reads the wrong ones');
  await edit('stats', dir);
  const { features, worst, pictures } = await compared();
  assert.ok(worst < NUMBER_SLACK, `${worst}`);
  const picturesApart = Math.max(...Object.values(pictures).flatMap(({ mean, std }) => [mean, std]));
  assert.ok(picturesApart < PICTURE_SLACK, JSON.stringify(pictures));
  console.log(
    `✔ ${path.basename(dir)}: LeRobot reads the statistics of ${features} features as numpy computes them (within ${worst.toExponential(1)}), mean and deviation of pictures within ${picturesApart.toExponential(1)}`,
  );
}
