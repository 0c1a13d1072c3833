import { existsSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { TeleopError } from '../../core/errors.ts';
import type { EpisodeInfo } from '../../messages/recording.ts';
import { readInfo, readStart, sidecarOf } from '../../record/reader.ts';
import { EPISODE_ENDING } from '../../record/writer.ts';
import type { ObjectStore } from '../../s3/object-store.ts';
import { EPISODE_NAME, recordingNames } from '../recordings.ts';
import { type PushOptions, pushEpisode, stampOf } from './push.ts';
import type { RecordingIndex } from './recording-index.ts';

export interface Store {
  index: RecordingIndex;
  /** Null: recordings are only announced. */
  target: ObjectStore | null;
}

export type AnnouncerOptions = Pick<PushOptions, 'robot' | 'dir' | 'deleteAfter' | 'now' | 'say' | 'pace'>;

/**
 * Announces the finished episodes in a folder that were recorded from one robot of a fleet, and stores them
 * if requested. Other episodes in the folder stay unknown to the fleet. May be called repeatedly: an
 * unchanged file costs one `stat`.
 */
export class Announcer {
  readonly #options: AnnouncerOptions;
  /** By file: size and time of the file and of its label. */
  readonly #seen = new Map<string, string>();

  constructor(options: AnnouncerOptions) {
    this.#options = options;
  }

  /** Calls `open` when there is something to announce. Rejects if that failed: call it again later. */
  async look(open: () => Promise<Store>): Promise<void> {
    const { dir } = this.#options;
    const names = existsSync(dir) ? readdirSync(dir).filter((name) => name.endsWith(EPISODE_ENDING)) : [];
    for (const file of names.sort().map((name) => path.join(dir, name))) {
      const stamp = stampWithLabel(file);
      if (stamp === null || this.#seen.get(file) === stamp) continue;
      const info = await this.#ours(file);
      if (info !== null) await this.#announce(await open(), info);
      this.#seen.set(file, stamp);
    }
  }

  /** Null: unfinished, unreadable, or recorded from another robot. */
  async #ours(file: string): Promise<EpisodeInfo | null> {
    try {
      const { rig } = (await readStart(file)) as { rig?: { fleet?: { robot?: unknown } } };
      if (rig?.fleet?.robot !== this.#options.robot) return null;
      const info = await readInfo(file);
      return info.complete && EPISODE_NAME.test(info.id) ? info : null;
    } catch (error) {
      if (error instanceof TeleopError) return null;
      throw error;
    }
  }

  async #announce({ index, target }: Store, info: EpisodeInfo): Promise<void> {
    const { sizeBytes, startedAt, task, label } = info;
    const known = await index.get(info.id);
    const where = target?.where(recordingNames.object(info.id));
    const isStored = where === undefined || known?.places.some((place) => place.where === where) === true;
    const isKnown = known?.sizeBytes === sizeBytes && known.startedAt === startedAt;
    if (!isKnown || !isStored || (this.#options.deleteAfter && target !== null))
      await pushEpisode(index, { ...this.#options, target }, info);
    else if (known.task !== task || known.label !== label) await index.put({ ...known, task, label });
  }
}

/** Null: the file was removed. */
function stampWithLabel(file: string): string | null {
  try {
    const beside = sidecarOf(file);
    return `${stampOf(file)} ${existsSync(beside) ? stampOf(beside) : ''}`;
  } catch {
    return null;
  }
}
