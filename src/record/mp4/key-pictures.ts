import { closeSync, openSync, readSync } from 'node:fs';
import type { VideoTrack } from './video-track.ts';

/** Key pictures that are looked at, spread over the file. */
const MOST = 200;
/** The header of a picture is at its beginning, after parameters and comments. */
const HEAD_BYTES = 1 << 16;

/**
 * The first picture that is listed as a key picture but needs earlier ones: a loader that begins there shows something
 * else. −1: none, or a codec whose pictures cannot be told apart here.
 */
export function firstFalseKey(file: string, { codec, samples, description }: VideoTrack): number {
  const judge = judgeOf(codec, description);
  if (judge === null) return -1;
  const keys = Array.from(samples.isKey.keys()).filter((i) => samples.isKey[i] === 1);
  const every = Math.max(1, Math.ceil(keys.length / MOST));
  const handle = openSync(file, 'r');
  try {
    for (const at of keys.filter((_, i) => i % every === 0)) {
      const head = new Uint8Array(Math.min(samples.sizes[at]!, HEAD_BYTES));
      const length = readSync(handle, head, 0, head.length, samples.offsets[at]!);
      if (judge(head.subarray(0, length)) === false) return at;
    }
    return -1;
  } finally {
    closeSync(handle);
  }
}

/** Null: it is not known. */
type Judge = (picture: Uint8Array) => boolean | null;

function judgeOf(codec: string, description: Uint8Array): Judge | null {
  if (codec === 'av1') return startsAv1;
  if (codec !== 'h264' && codec !== 'hevc') return null;
  const box = codec === 'h264' ? 'avcC' : 'hvcC';
  const at = Buffer.from(description).indexOf(box);
  if (at < 0) return null;
  const lengthBytes = 1 + (description[at + 4 + (codec === 'h264' ? 4 : 21)]! & 3);
  const judge = codec === 'h264' ? startsH264 : startsHevc;
  return (picture) => firstKnown(picture, lengthBytes, judge);
}

function firstKnown(picture: Uint8Array, lengthBytes: number, judge: Judge): boolean | null {
  for (let at = 0; at + lengthBytes < picture.length; ) {
    let length = 0;
    for (let i = 0; i < lengthBytes; i++) length = 256 * length + picture[at + i]!;
    const found = judge(picture.subarray(at + lengthBytes));
    if (found !== null) return found;
    at += lengthBytes + length;
  }
  return null;
}

const SLICE = 1;
const SLICE_OF_KEY = 5;

/** A unit of H.264: slices of a key picture, or of a picture without references to others. */
function startsH264(unit: Uint8Array): boolean | null {
  const type = unit[0]! & 31;
  if (type === SLICE_OF_KEY) return true;
  if (type !== SLICE) return null;
  const read = golombReader(unit.subarray(1, 12));
  read();
  const kind = read() % 5;
  return kind === 2 || kind === 4;
}

/** Numbers as H.264 writes them: as many zeros as bits follow the first one. */
function golombReader(bytes: Uint8Array): () => number {
  let at = 0;
  const bit = () => ((bytes[at >> 3] ?? 0) >> (7 - (at++ & 7))) & 1;
  return () => {
    let zeros = 0;
    while (zeros < 16 && bit() === 0) zeros++;
    let value = 1;
    for (let i = 0; i < zeros; i++) value = 2 * value + bit();
    return value - 1;
  };
}

/** A unit of HEVC: types 16 to 23 are pictures at which decoding can begin, those below are others. */
function startsHevc(unit: Uint8Array): boolean | null {
  const type = (unit[0]! >> 1) & 63;
  return type < 32 ? type >= 16 && type <= 23 : null;
}

const [FRAME_HEADER, FRAME] = [3, 6];

/** AV1: the first frame header of the picture. */
function startsAv1(picture: Uint8Array): boolean | null {
  for (let at = 0; at < picture.length; ) {
    const [head, hasExtension] = [picture[at]!, (picture[at]! >> 2) & 1];
    const type = (head >> 3) & 15;
    at += 1 + hasExtension;
    let size = picture.length - at;
    if (((head >> 1) & 1) === 1) {
      size = 0;
      for (let shift = 0; shift < 35; shift += 7) {
        const byte = picture[at++] ?? 0;
        size += (byte & 127) * 2 ** shift;
        if (byte < 128) break;
      }
    }
    // Shown again, or of another type than a key frame.
    if (type === FRAME_HEADER || type === FRAME) return ((picture[at] ?? 0) & 0b1110_0000) === 0;
    at += size;
  }
  return null;
}
