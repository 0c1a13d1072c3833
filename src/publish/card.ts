import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { writeWhole } from '../files/write-whole.ts';
import type { CheckedDataset } from '../record/lerobot/check.ts';
import { type Features, pictureSize, videoKeysOf } from '../record/lerobot/layout.ts';

const CARD = 'README.md';
/** A card without this line was written by a person and stays. */
const OURS =
  '<!-- Written by farhand from the dataset. Every push writes it again; remove this line to keep your own. -->';

/** Writes the dataset's card unless a person wrote one. A licence stays until another one is given. Returns whether it did. */
export function writeCard(dir: string, checked: CheckedDataset, license?: string): boolean {
  const file = path.join(dir, CARD);
  const earlier = existsSync(file) ? readFileSync(file, 'utf8') : null;
  if (earlier !== null && !earlier.includes(OURS)) return false;
  const card = cardOf(checked, license ?? /^license: (.+)$/m.exec(earlier ?? '')?.[1]);
  if (card !== earlier) writeWhole(file, card);
  return true;
}

/** A description in the form that hubs show: every statement is read from the dataset. */
export function cardOf(
  { info, episodes, tasks, problems, pictures }: CheckedDataset,
  license?: string,
): string {
  if (info === null) throw new Error('a card needs a readable dataset');
  const rows = episodes.reduce((sum, { length }) => sum + length, 0);
  const lengths = episodes.map(({ length }) => length / info.fps).sort((a, b) => a - b);
  const labels = countOf((info.farhand?.episodes ?? []).map(({ label }) => label ?? 'no label'));
  const facts: [string, string][] = [
    ['robot', info.robot_type ?? 'not stated'],
    ['episodes', `${episodes.length}`],
    ['rows', `${rows} at ${info.fps} Hz`],
    [
      'time',
      `${seconds(rows / info.fps)}, an episode ${seconds(lengths[0] ?? 0)} to ${seconds(lengths.at(-1) ?? 0)}`,
    ],
    ['cameras', camerasOf(info.features) || 'none'],
    ...(labels.size > 0 ? [['labels', listed(labels)] as [string, string]] : []),
    ['format', `LeRobotDataset ${info.codebase_version}`],
    ...(info.farhand ? [['recorded with', `Farhand ${info.farhand.version}`] as [string, string]] : []),
    ['checked', `${problems.total} violations, ${pictures.decoded} of ${pictures.total} pictures decoded`],
  ];
  return `${[
    head(license),
    OURS,
    '',
    `# ${title(info.robot_type, tasks)}`,
    '',
    ...table(['', ''], facts),
    '',
    '## Tasks',
    '',
    ...table(['task', 'episodes'], taskRows(episodes, tasks)),
    '',
    '## Features',
    '',
    ...table(
      ['feature', 'type', 'shape', 'names'],
      Object.entries(info.features).map(([key, { dtype, shape, names }]) => [
        `\`${key}\``,
        dtype,
        shape.join(' × '),
        dtype === 'video' ? '' : (Array.isArray(names) ? names : []).join(', '),
      ]),
    ),
    '',
    'Features named `recording.…` describe the recording and are no inputs of a policy.',
  ].join('\n')}\n`;
}

const head = (license?: string): string =>
  [
    '---',
    ...(license === undefined ? [] : [`license: ${license}`]),
    'task_categories:',
    '- robotics',
    'tags:',
    '- LeRobot',
    'configs:',
    '- config_name: default',
    '  data_files: data/*/*.parquet',
    '---',
  ].join('\n');

const title = (robot: string | null, tasks: readonly string[]): string =>
  text(tasks.length === 1 && tasks[0] !== '' ? tasks[0]! : `${tasks.length} tasks of ${robot ?? 'a robot'}`);

function taskRows(episodes: CheckedDataset['episodes'], tasks: readonly string[]): string[][] {
  const counts = countOf(episodes.flatMap((episode) => episode.tasks));
  return tasks.map((task) => [task === '' ? '(none given)' : task, String(counts.get(task) ?? 0)]);
}

const camerasOf = (features: Features): string =>
  videoKeysOf(features)
    .map((key) => {
      const { widthPx, heightPx } = pictureSize(features[key]!);
      const codec = features[key]!.info?.['video.codec'];
      return `${key.replace('observation.images.', '')} (${widthPx} × ${heightPx}${codec === undefined ? '' : `, ${String(codec)}`})`;
    })
    .join(', ');

function countOf(values: readonly string[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const value of values) counts.set(value, (counts.get(value) ?? 0) + 1);
  return counts;
}

const listed = (counts: ReadonlyMap<string, number>): string =>
  [...counts].map(([name, count]) => `${count} ${name}`).join(', ');

const seconds = (s: number): string => (s >= 120 ? `${(s / 60).toFixed(1)} min` : `${s.toFixed(1)} s`);

const table = (heads: readonly string[], rows: readonly (readonly string[])[]): string[] => [
  `| ${heads.join(' | ')} |`,
  `|${heads.map(() => '---').join('|')}|`,
  ...rows.map((row) => `| ${row.map(text).join(' | ')} |`),
];

/** Tasks and names come from people: they must not end a cell or begin HTML. */
const text = (value: string): string =>
  value.replaceAll('|', '\\|').replaceAll('<', '&lt;').replaceAll(/\s+/g, ' ');
