import { TeleopError } from '../../core/errors.ts';
import { NS_PER_S } from '../../core/time/clock.ts';
import type { EpisodeRow } from '../../messages/recording.ts';

/** An instant of the export, and the row that was current then. */
export interface GridRow {
  frameIndex: number;
  row: EpisodeRow;
}

/** Half a nanosecond's worth of rounding must not move a row to the next instant. */
const SLACK_NS = 1000;

/**
 * The rows at frame_index / fps: at each instant the newest row that existed then, never one from later. A row stays
 * whole, so what was commanded, measured and seen together is exported together. A hole longer than `maxGapS` is
 * refused: a policy would learn that the robot stood still.
 */
export function resample(rows: readonly EpisodeRow[], fps: number, maxGapS: number): GridRow[] {
  const last = rows.at(-1);
  if (last === undefined)
    throw badEpisode('it has no rows', 'Record it again; `farhand record list` tells how long each one is.');
  const count = Math.floor(((last.timeNs + SLACK_NS) * fps) / NS_PER_S) + 1;
  const grid: GridRow[] = [];
  let at = 0;
  for (let frameIndex = 0; frameIndex < count; frameIndex++) {
    const instantNs = (frameIndex * NS_PER_S) / fps;
    while (at + 1 < rows.length && rows[at + 1]!.timeNs <= instantNs + SLACK_NS) at++;
    const row = rows[at]!;
    const next = rows[at + 1];
    if (next !== undefined && next.timeNs - row.timeNs > maxGapS * NS_PER_S)
      throw badEpisode(
        `between rows ${row.index} and ${next.index} there are ${((next.timeNs - row.timeNs) / NS_PER_S).toFixed(2)} s`,
        'Allow it with a longer --max-gap, or leave this episode out.',
      );
    grid.push({ frameIndex, row });
  }
  return grid;
}

export const badEpisode = (message: string, hint: string): TeleopError =>
  new TeleopError('bad-episode', message, { hint });
