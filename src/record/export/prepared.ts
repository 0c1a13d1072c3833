import type { EpisodeRow } from '../../messages/recording.ts';
import { alignApplied } from '../applied.ts';
import type { SourceEpisode } from '../lerobot/layout.ts';
import { readJson } from '../reader.ts';
import { type EpisodeSource, onlyWhole, openSource } from './sources.ts';

export interface Prepared {
  /** What becomes episodes of the export: the recording itself, or its corrections. */
  parts: SourceEpisode[];
  /** Rows dropped because a damaged part of the file held their pictures. */
  leftOut: number;
}

/** Shorter stretches teach nothing: a person closed the clutch and opened it again. */
const MIN_NS = 0.2e9;

/** A recording as it is exported for training: whole rows, each with the command that was applied then. */
export async function prepared(source: EpisodeSource, onlyCorrections = false): Promise<Prepared> {
  const { source: whole, leftOut } = await onlyWhole(source.file, await openSource(source));
  const rows = alignApplied(whole.rows, await readJson(source.file, 'trace'));
  const aligned = { ...whole, rows };
  return { parts: onlyCorrections ? correctionsOf(aligned) : [aligned], leftOut };
}

/** The stretches that a person drove after taking over from a policy, each as an episode of its own. */
export function correctionsOf(source: SourceEpisode): SourceEpisode[] {
  const parts: SourceEpisode[] = [];
  for (const rows of stretches(source.rows)) {
    const [firstNs, lastNs] = [rows[0]!.timeNs, rows.at(-1)!.timeNs];
    if (lastNs - firstNs < MIN_NS) continue;
    const info = {
      ...source.info,
      id: `${source.info.id}-correction-${parts.length + 1}`,
      rows: rows.length,
      durationS: (lastNs - firstNs) / 1e9,
    };
    parts.push({
      ...source,
      info,
      rows: rows.map((row, index) => ({ ...row, index, timeNs: row.timeNs - firstNs })),
    });
  }
  return parts;
}

function stretches(rows: readonly EpisodeRow[]): EpisodeRow[][] {
  const found: EpisodeRow[][] = [];
  let isOpen = false;
  for (const row of rows) {
    const isCorrection = row.intervention === true;
    if (isCorrection && !isOpen) found.push([]);
    if (isCorrection) found.at(-1)!.push(row);
    isOpen = isCorrection;
  }
  return found;
}
