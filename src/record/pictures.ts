import { statSync } from 'node:fs';
import { TeleopError } from '../core/errors.ts';
import { videoBytes, videoFrameId } from './foxglove/messages.ts';
import type { McapFile } from './mcap/index-reader.ts';
import { isKeyPicture } from './media/annex-b.ts';
import { jpegsFromVideo } from './media/jpeg-from-video.ts';
import { CAMERA_TOPIC, captureIn, captureOf, DEPTH_TOPIC, readCompressedImage } from './schemas.ts';

export interface RecordedPicture {
  captureNs: number;
  /** JPEG, or the PNG of a depth camera. */
  bytes: Uint8Array;
}

interface Place {
  captureNs: number;
  offset: number;
  bytes: number;
  /** Pictures of one group are decoded together; 0 where each stands alone. */
  group: number;
}

/** Locations of a camera's pictures, in order. */
interface Places {
  isVideo: boolean;
  list: readonly Place[];
  byCapture: ReadonlyMap<number, Place>;
}

export type PictureKind = 'picture' | 'depth';

/** Enough of a picture's message to read its capture time, and of H.264 to see what kind of picture it is. */
const HEAD_BYTES = 256;
const VIDEO_HEAD_BYTES = 4096;

/** Cached, because pages request pictures one by one. */
export function placesOf(mcap: McapFile, camera: string, kind: PictureKind = 'picture'): Places {
  const key = `${mcap.path}\n${camera}\n${kind}\n${mcap.sizeBytes}\n${statSync(mcap.path).mtimeMs}`;
  const kept = PLACES.get(key);
  if (kept !== undefined) return kept;
  const places = findPlaces(mcap, `${kind === 'depth' ? DEPTH_TOPIC : CAMERA_TOPIC}${camera}`);
  keep(PLACES, key, places, MAX_PLACES);
  return places;
}

function findPlaces(mcap: McapFile, topic: string): Places {
  const index = mcap.index();
  const channel = [...index.channels.values()].find((each) => each.topic === topic);
  if (channel === undefined) return { isVideo: false, list: [], byCapture: new Map() };
  const isVideo = channel.messageEncoding === 'protobuf';
  const groups = new Groups();
  const list: Place[] = [];
  for (const chunk of index.chunks) {
    if (chunk.channels.size > 0 && !chunk.channels.has(channel.id)) continue;
    for (const found of mcap.heads(chunk, isVideo ? VIDEO_HEAD_BYTES : HEAD_BYTES)) {
      if (found.channelId !== channel.id) continue;
      const { head, sequence, dataOffset: offset, dataBytes: bytes } = found;
      const group = isVideo ? groups.of(sequence, videoBytes(head, true)) : 0;
      const captureNs = isVideo ? captureIn(videoFrameId(head)) : captureOf(head);
      if (group !== null) list.push({ captureNs, offset, bytes, group });
    }
  }
  return { isVideo, list, byCapture: new Map(list.map((place) => [place.captureNs, place])) };
}

/** Numbers the groups of a video. After a loss there is none until the next key picture. */
class Groups {
  #group: number | null = null;
  #groups = 0;
  #next = 0;

  of(sequence: number, head: Uint8Array | null): number | null {
    if (head !== null && isKeyPicture(head)) this.#group = this.#groups++;
    else if (sequence !== this.#next) this.#group = null;
    this.#next = sequence + 1;
    return this.#group;
  }
}

/** All pictures of a camera in order, a few at a time in memory. H.264 is decoded to JPEG of the highest quality. */
export async function* picturesIn(
  mcap: McapFile,
  camera: string,
  kind: PictureKind = 'picture',
): AsyncGenerator<RecordedPicture> {
  const { isVideo, list } = placesOf(mcap, camera, kind);
  if (isVideo) return yield* decoded(mcap, list);
  for (const { captureNs, offset, bytes } of list) {
    const picture = readCompressedImage(mcap.read(offset, bytes));
    if (picture !== null) yield { captureNs, bytes: picture.bytes };
  }
}

async function* decoded(mcap: McapFile, list: readonly Place[]): AsyncGenerator<RecordedPicture> {
  if (list.length === 0) return;
  let at = 0;
  for await (const bytes of jpegsFromVideo(encoded(mcap, list))) {
    const place = list[at++];
    if (place !== undefined) yield { captureNs: place.captureNs, bytes };
  }
  if (at !== list.length)
    throw new TeleopError(
      'file-unreadable',
      `${mcap.path}: ${at} of ${list.length} pictures can be decoded`,
      {
        hint: 'The file is damaged; recover what is left with `farhand recover`.',
      },
    );
}

function* encoded(mcap: McapFile, list: readonly Place[]): Generator<Uint8Array> {
  for (const { offset, bytes } of list) {
    const picture = videoBytes(mcap.read(offset, bytes));
    if (picture !== null) yield picture;
  }
}

/** One picture; null if the file has none with that capture time. Neighbours in a video are kept decoded. */
export async function pictureAt(
  mcap: McapFile,
  camera: string,
  captureNs: number,
  kind: PictureKind = 'picture',
): Promise<Uint8Array | null> {
  const { isVideo, list, byCapture } = placesOf(mcap, camera, kind);
  const place = byCapture.get(captureNs);
  if (place === undefined) return null;
  if (!isVideo) return readCompressedImage(mcap.read(place.offset, place.bytes))?.bytes ?? null;
  const members = list.filter(({ group }) => group === place.group);
  // A thumbnail is the first picture, and nobody asks for its neighbours.
  if (place === members[0]) return (await decodeAll(mcap, [place])).get(captureNs) ?? null;
  const key = `${mcap.path}\n${camera}\n${mcap.sizeBytes}\n${place.group}`;
  const group = GROUPS.get(key) ?? decodeAll(mcap, members);
  keep(GROUPS, key, group, MAX_GROUPS);
  group.catch(() => GROUPS.delete(key));
  return (await group).get(captureNs) ?? null;
}

async function decodeAll(mcap: McapFile, list: readonly Place[]): Promise<Map<number, Uint8Array>> {
  const found = new Map<number, Uint8Array>();
  for await (const { captureNs, bytes } of decoded(mcap, list)) found.set(captureNs, bytes);
  return found;
}

/** The newest entries of a map: one more, and the oldest goes. */
function keep<T>(map: Map<string, T>, key: string, value: T, most: number): void {
  map.delete(key);
  map.set(key, value);
  if (map.size > most) map.delete(map.keys().next().value!);
}

const PLACES = new Map<string, Places>();
const MAX_PLACES = 8;
const GROUPS = new Map<string, Promise<Map<number, Uint8Array>>>();
/** A second of video each: two cameras, and the seconds around the one shown. */
const MAX_GROUPS = 6;
