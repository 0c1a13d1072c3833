import { renameSync, rmSync } from 'node:fs';
import { TeleopError } from '../core/errors.ts';
import { syncFolderOf, unwritable } from '../files/write-whole.ts';
import { EpisodeTally } from './episode-tally.ts';
import { endMcap, type RecoverHooks, recoverMcap } from './mcap/recover-file.ts';
import type { Scanned } from './mcap/scan.ts';
import { episodeId } from './reader.ts';
import { SUMMARY_METADATA } from './schemas.ts';
import { EPISODE_ENDING, PART_ENDING } from './writer.ts';

const ELSEWHERE = 'Or recover to another disk with --output FILE.';

export interface RecoveredEpisode extends Scanned {
  path: string;
  rows: number;
  durationS: number;
  /** Rows missing between rows that were kept. */
  lostRows: number;
}

/** Default destination of a recovery: an unfinished file gets its final name, a damaged one a copy. */
export const recoveryPath = (file: string): string =>
  file.endsWith(PART_ENDING)
    ? file.slice(0, -'.part'.length)
    : `${file.endsWith(EPISODE_ENDING) ? file.slice(0, -EPISODE_ENDING.length) : file}.recovered${EPISODE_ENDING}`;

/** Writes the intact parts of an episode to `into`; the source file is not changed. Blocking. */
export function recoverEpisode(file: string, into: string, version: string): RecoveredEpisode {
  const episode = new EpisodeTally();
  const draft = `${into}.recovering`;
  try {
    rmSync(draft, { force: true });
    const found = recoverMcap(file, draft, `farhand ${version}`, hooksOf(episode, episodeId(into)));
    if (found.keptMessages === 0) throw nothingLeft(file);
    return named(draft, into, episode, found);
  } catch (cause) {
    rmSync(draft, { force: true });
    throw unwritable(into, cause, ELSEWHERE);
  }
}

/**
 * Completes a truncated episode: in place if nothing else is wrong with it, which takes hardly any space,
 * otherwise through a copy. Removes the unfinished file. Blocking.
 */
export function finishEpisode(part: string, version: string): RecoveredEpisode {
  const into = recoveryPath(part);
  try {
    const episode = new EpisodeTally();
    const found = endMcap(part, hooksOf(episode, episodeId(into)));
    if (found !== null) return named(part, into, episode, found);
    const recovered = recoverEpisode(part, into, version);
    rmSync(part);
    return recovered;
  } catch (cause) {
    throw unwritable(into, cause, ELSEWHERE);
  }
}

function named(from: string, into: string, episode: EpisodeTally, found: Scanned): RecoveredEpisode {
  renameSync(from, into);
  syncFolderOf(into);
  const { rows, durationS, lostRows } = episode;
  return { ...found, path: into, rows, durationS, lostRows };
}

const hooksOf = (episode: EpisodeTally, id: string): RecoverHooks => ({
  onMessage: (message, channel) => episode.onMessage(message, channel),
  onMetadata: (name, metadata) => episode.onMetadata(name, metadata.get('json') ?? '{}'),
  isOutdated: (name) => name === SUMMARY_METADATA,
  beforeEnd: (out, recovered) => {
    const info = episode.info(id);
    if (info !== null) out.metadata(SUMMARY_METADATA, { json: JSON.stringify({ ...info, recovered }) });
  },
});

const nothingLeft = (file: string): TeleopError =>
  new TeleopError('file-unreadable', `nothing in ${file} can be recovered`, {
    hint: 'It contains no intact MCAP chunk: nothing was written before it was cut off, or it is not an MCAP file. Delete it.',
  });
