import { type EpisodeScore, scoreDataset } from '../record/lerobot/score.ts';

const COLUMNS: [string, (score: EpisodeScore) => string][] = [
  ['episode', ({ episode }) => String(episode)],
  ['s', ({ durationS }) => durationS.toFixed(1)],
  ['jerk p95', ({ jerkP95RadS3 }) => number(jerkP95RadS3, 0)],
  ['peak rad/s', ({ peakVelocityRadS }) => number(peakVelocityRadS, 2)],
  ['still', ({ stillShare }) => percent(stillShare)],
  ['end rad', ({ endDistanceRad }) => number(endDistanceRad, 2)],
  ['offset rad', ({ offsetRad }) => number(offsetRad, 3)],
  ['one-way ms', ({ oneWayP95Ms }) => number(oneWayP95Ms, 1)],
  ['stale', ({ staleShare }) => percent(staleShare)],
  ['taken over', ({ interventions }) => String(interventions)],
  ['label', ({ label }) => label ?? ''],
  ['unusual', ({ marks }) => marks.join(', ')],
];

const number = (value: number | null, digits: number): string =>
  value === null ? '–' : value.toFixed(digits);
const percent = (value: number | null): string => (value === null ? '–' : `${(100 * value).toFixed(0)} %`);

/** `dataset score`: the figures of every episode, outliers marked. */
export async function runScore(dir: string, json: boolean): Promise<number> {
  const scores = await scoreDataset(dir);
  if (json) console.log(JSON.stringify(scores));
  else console.log(tableOf(scores));
  return 0;
}

function tableOf(scores: readonly EpisodeScore[]): string {
  const cells = [
    COLUMNS.map(([name]) => name),
    ...scores.map((score) => COLUMNS.map(([, show]) => show(score))),
  ];
  const widths = COLUMNS.map((_, i) => Math.max(...cells.map((row) => row[i]!.length)));
  return cells
    .map((row) =>
      row
        .map((cell, i) => (i < 10 ? cell.padStart(widths[i]!) : cell.padEnd(widths[i]!)))
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
}
