import type { EpisodeInfo } from '../messages/recording.ts';

const share = (part: number): string => `${(100 * part).toFixed(1)} %`;
const figure = (value: number | null, unit: string, digits = 1): string =>
  value === null ? '–' : `${value.toFixed(digits)} ${unit}`;

/** Summary of an episode in two or three lines. */
export function episodeText(info: EpisodeInfo, file: string): string {
  const { quality } = info;
  const name = [info.task && `"${info.task}"`, info.label && `labelled ${info.label}`]
    .filter(Boolean)
    .join(', ');
  const lines = [
    `episode ${info.id}${name === '' ? '' : ` (${name})`}: ${info.rows} rows, ${info.durationS.toFixed(1)} s, ` +
      `${(info.sizeBytes / 1e6).toFixed(1)} MB, ${file}`,
  ];
  if (quality !== null)
    lines.push(
      `  skipped ${share(quality.skippedShare)}, stale ${share(quality.staleShare)}, ` +
        `jerk p95 ${figure(quality.jerkP95RadS3, 'rad/s³')}, frame age p95 ${figure(quality.frameAgeP95Ms, 'ms')}, ` +
        `one-way p95 ${figure(quality.oneWayP95Ms, 'ms')}, bad windows ${quality.badWindows}`,
    );
  if (quality !== null && quality.refusedBy.length > 0)
    lines.push(`  rejected: ${quality.refusedBy.join('; ')}`);
  return lines.join('\n');
}

/** One line of a list. */
export function episodeLine(info: EpisodeInfo): string {
  const rejected = info.quality !== null && info.quality.refusedBy.length > 0;
  const notes = [
    info.complete ? '' : 'unfinished',
    rejected ? 'rejected' : '',
    info.skippedRows > 0 ? `${info.skippedRows} skipped` : '',
    info.label ?? '',
  ].filter((note) => note !== '');
  const size = `${(info.sizeBytes / 1e6).toFixed(1)} MB`;
  return [
    info.id.padEnd(20),
    `${info.durationS.toFixed(1)} s`.padStart(8),
    `${info.rows} rows`.padStart(12),
    size.padStart(10),
    `  ${info.task}${notes.length > 0 ? ` [${notes.join(', ')}]` : ''}`,
  ].join(' ');
}
