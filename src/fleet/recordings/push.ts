import { rmSync, statSync } from 'node:fs';
import path from 'node:path';
import { TeleopError } from '../../core/errors.ts';
import type { EpisodeInfo } from '../../messages/recording.ts';
import { listEpisodes } from '../../record/episodes.ts';
import { sidecarOf } from '../../record/reader.ts';
import { EPISODE_ENDING } from '../../record/writer.ts';
import { type ObjectStore, sha256OfFile, type Upload, whatIsWrong } from '../../s3/object-store.ts';
import { EPISODE_NAME, type Recording, recordingNames } from '../recordings.ts';
import type { RecordingIndex } from './recording-index.ts';

export interface PushOptions {
  robot: string;
  /** Folder of recordings. */
  dir: string;
  /** Only these; empty: all that are finished. */
  episodes: readonly string[];
  /** Null: they are only announced. */
  target: ObjectStore | null;
  /** Deletes the local file once its bytes were read back with the right hash. */
  deleteAfter: boolean;
  /** Files already handled, by size and time; for repeated calls. */
  seen?: Map<string, string>;
  /** As in `Upload`. */
  pace?: (bytes: number) => Promise<void>;
  /** Now, ISO 8601. */
  now: () => string;
  say: (text: string) => void;
}

/** Announces the finished episodes in a folder and stores them; returns how many. Skips unfinished ones. */
export async function pushRecordings(index: RecordingIndex, options: PushOptions): Promise<number> {
  const { dir, episodes } = options;
  const all = await listEpisodes(dir);
  for (const id of episodes)
    if (!all.some((info) => info.id === id))
      throw new TeleopError('file-missing', `there is no episode "${id}" in ${dir}`, {
        hint: 'List the episodes with `farhand record list`.',
      });
  let done = 0;
  for (const info of all) {
    if (episodes.length > 0 && !episodes.includes(info.id)) continue;
    if (!info.complete || !EPISODE_NAME.test(info.id)) {
      options.say(
        `${info.id}: skipped, ${info.complete ? 'its name is not valid in a fleet' : 'it is not finished'}`,
      );
      continue;
    }
    if (await pushEpisode(index, options, info)) done++;
  }
  return done;
}

/** Announces one finished episode and stores it. False: it was already handled. */
export async function pushEpisode(
  index: RecordingIndex,
  options: Omit<PushOptions, 'episodes'>,
  info: EpisodeInfo,
): Promise<boolean> {
  const file = path.join(options.dir, `${info.id}${EPISODE_ENDING}`);
  const before = stampOf(file);
  if (options.seen?.get(file) === before) return false;
  const sha256 = await sha256OfFile(file);
  const { startedAt, durationS, rows, task, label, sizeBytes } = info;
  const known = await index.get(info.id);
  const places = known?.sha256 === sha256 ? known.places : [];
  const entry: Recording = {
    ...{ robot: options.robot, episode: info.id, sizeBytes, sha256, startedAt, durationS, rows },
    ...{ task, label, places, atRobot: true },
  };
  await index.put(entry);
  const where = options.target?.where(recordingNames.object(info.id));
  if (options.target === null) options.say(`${info.id}: announced`);
  else if (!options.deleteAfter && places.some((place) => place.where === where))
    options.say(`${info.id}: already at ${where}`);
  else await storeOne(index, options, options.target, { entry, file, before });
  options.seen?.set(file, before);
  return true;
}

interface Chosen {
  entry: Recording;
  file: string;
  /** The file's size and time when it was hashed. */
  before: string;
}

async function storeOne(
  index: RecordingIndex,
  { now, say, deleteAfter, pace }: Omit<PushOptions, 'episodes'>,
  target: ObjectStore,
  { entry, file, before }: Chosen,
): Promise<void> {
  const { episode, sizeBytes, sha256 } = entry;
  const upload: Upload = {
    name: recordingNames.object(episode),
    file,
    sizeBytes,
    sha256,
    ...(pace && { pace }),
  };
  const there = await target.find(upload.name);
  if (there?.sha256 !== sha256 || there.sizeBytes !== sizeBytes)
    await target.store(upload, (bytes) => say(`${episode}: resuming, ${megabytes(bytes)} already stored`));
  const wrong = await whatIsWrong(target, upload);
  if (wrong !== null) {
    await target.discard(upload);
    throw new TeleopError('transfer-failed', `${episode} was not stored correctly: ${wrong}`, {
      hint: 'The original is intact and the stored copy was discarded. Run the same command again.',
    });
  }
  const where = target.where(upload.name);
  const places = [...entry.places.filter((place) => place.where !== where), { where, verifiedAt: now() }];
  await index.put({ ...entry, places });
  say(`${episode}: ${megabytes(sizeBytes)} at ${where}, verified`);
  if (!deleteAfter) return;
  if (stampOf(file) !== before)
    throw new TeleopError('transfer-failed', `${file} changed while it was sent, so it was not deleted`, {
      hint: 'Send it again.',
    });
  rmSync(file);
  rmSync(sidecarOf(file), { force: true });
  await index.put({ ...entry, places, atRobot: false });
  say(`${episode}: deleted here`);
}

export function stampOf(file: string): string {
  const { size, mtimeMs, ino } = statSync(file);
  return `${size} ${mtimeMs} ${ino}`;
}

const megabytes = (bytes: number): string => `${(bytes / 1e6).toFixed(1)} MB`;
