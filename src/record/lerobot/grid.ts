import { TeleopError } from '../../core/errors.ts';
import { NS_PER_S } from '../../core/time/clock.ts';
import type { EpisodeRow } from '../../messages/recording.ts';

/** A time step of the export, and the row that was current then. */
export interface GridRow {
  frameIndex: number;
  row: EpisodeRow;
}

/** Rounding must not move a row to the next time step. */
const SLACK_NS = 1000;

/**
 * Resamples the rows at frame_index / fps: each time step gets the newest row that existed then, never a
 * later one. A row stays intact, so what was commanded, measured and seen together is exported together.
 * Rejects a gap longer than `maxGapS`: a policy would learn that the robot stood still.
 */
export function resample(rows: readonly EpisodeRow[], fps: number, maxGapS: number): GridRow[] {
  const last = rows.at(-1);
  if (last === undefined)
    throw badEpisode(
      'the episode has no rows',
      'Record it again; `farhand record list` shows the length of each episode.',
    );
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
        `there is a gap of ${((next.timeNs - row.timeNs) / NS_PER_S).toFixed(2)} s between rows ${row.index} and ${next.index}`,
        'Allow it with a longer --max-gap, or leave this episode out.',
      );
    grid.push({ frameIndex, row });
  }
  return grid;
}

export const badEpisode = (message: string, hint: string): TeleopError =>
  new TeleopError('bad-episode', message, { hint });
