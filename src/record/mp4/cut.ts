import { closeSync, fsyncSync, openSync, readSync, writeSync } from 'node:fs';
import { timescaleOf } from './timescale.ts';
import { readVideoTrack, type VideoTrack } from './video-track.ts';

/** Whether pictures from `from` on can be copied without decoding them. */
export function canCut({ samples, isEdited }: VideoTrack, from: number, count: number): boolean {
  const { delays, isKey } = samples;
  // Pictures in another order than they are shown would need their neighbours.
  for (let i = from; i < from + count; i++) if (delays[i] !== delays[from]) return false;
  return !isEdited && count > 0 && isKey[from] === 1;
}

/** Copies `count` encoded pictures from picture `from` on into a new mp4, at one picture every 1 / fps. */
export function cutVideo(file: string, out: string, from: number, count: number, fps: number): void {
  const track = readVideoTrack(file);
  if (!canCut(track, from, count)) throw new Error(`${file} cannot be cut at picture ${from}`);
  const timescale = timescaleOf(fps);
  const sizes = track.samples.sizes.subarray(from, from + count);
  const bytes = sizes.reduce((sum, size) => sum + size, 0);
  const head = (mediaAt: number) => [
    box('ftyp', text('isom'), u32(512), text('isomiso2avc1mp41')),
    movie(track, {
      timescale,
      unit: timescale / fps,
      sizes,
      isKey: track.samples.isKey.subarray(from, from + count),
      mediaAt,
    }),
  ];
  const headBytes = head(0).reduce((sum, part) => sum + part.length, 0);
  const mediaHeader = Buffer.concat([u32(1), text('mdat'), u64(bytes + 16)]);
  copySamples(file, out, [...head(headBytes + mediaHeader.length), mediaHeader], track, from, count);
}

function copySamples(
  file: string,
  out: string,
  head: readonly Buffer[],
  { samples }: VideoTrack,
  from: number,
  count: number,
): void {
  const source = openSync(file, 'r');
  const target = openSync(out, 'w');
  try {
    for (const part of head) writeSync(target, part);
    for (let i = from; i < from + count; i++) {
      const piece = Buffer.allocUnsafe(samples.sizes[i]!);
      if (readSync(source, piece, 0, piece.length, samples.offsets[i]!) < piece.length)
        throw new Error(`${file} ends inside picture ${i}`);
      writeSync(target, piece);
    }
    fsyncSync(target);
  } finally {
    closeSync(source);
    closeSync(target);
  }
}

interface Cut {
  timescale: number;
  /** Duration of a picture. */
  unit: number;
  sizes: Uint32Array;
  isKey: Uint8Array;
  mediaAt: number;
}

function movie(track: VideoTrack, cut: Cut): Buffer {
  const duration = cut.unit * cut.sizes.length;
  const size = Buffer.concat([u32(track.widthPx * 65536), u32(track.heightPx * 65536)]);
  const header = full('mvhd', 0, zeros(8), u32(cut.timescale), u32(duration), MOVIE_FIELDS);
  const trackHeader = full('tkhd', 3, zeros(8), u32(1), zeros(4), u32(duration), zeros(16), MATRIX, size);
  const mediaHeader = full(
    'mdhd',
    0,
    zeros(8),
    u32(cut.timescale),
    u32(duration),
    Buffer.from([0x55, 0xc4, 0, 0]),
  );
  const handler = full('hdlr', 0, zeros(4), text('vide'), zeros(12), text('VideoHandler\0'));
  const data = box('dinf', full('dref', 0, u32(1), full('url ', 1)));
  const info = box('minf', full('vmhd', 1, zeros(8)), data, sampleTable(track, cut));
  return box('moov', header, box('trak', trackHeader, box('mdia', mediaHeader, handler, info)));
}

function sampleTable({ description }: VideoTrack, { unit, sizes, isKey, mediaAt }: Cut): Buffer {
  const keys = [...isKey.keys()].filter((i) => isKey[i] === 1).map((i) => i + 1);
  return box(
    'stbl',
    Buffer.from(description),
    full('stts', 0, u32(1), u32(sizes.length), u32(unit)),
    full('stss', 0, u32(keys.length), ...keys.map(u32)),
    full('stsc', 0, u32(1), u32(1), u32(sizes.length), u32(1)),
    full('stsz', 0, u32(0), u32(sizes.length), ...Array.from(sizes, u32)),
    full('co64', 0, u32(1), u64(mediaAt)),
  );
}

const u32 = (value: number): Buffer => {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return bytes;
};
const u64 = (value: number): Buffer => {
  const bytes = Buffer.alloc(8);
  bytes.writeBigUInt64BE(BigInt(value));
  return bytes;
};
const zeros = (count: number): Buffer => Buffer.alloc(count);
const text = (value: string): Buffer => Buffer.from(value, 'latin1');
const box = (type: string, ...parts: readonly Buffer[]): Buffer => {
  const body = Buffer.concat(parts);
  return Buffer.concat([u32(body.length + 8), text(type), body]);
};
/** A box with version 0 and flags. */
const full = (type: string, flags: number, ...parts: readonly Buffer[]): Buffer =>
  box(type, u32(flags), ...parts);

/** No rotation or scaling, 16.16 and 2.30 fixed point. */
const MATRIX = Buffer.concat([0x10000, 0, 0, 0, 0x10000, 0, 0, 0, 0x40000000].map(u32));
/** Rate 1, volume 1, reserved, matrix, predefined, next track. */
const MOVIE_FIELDS = Buffer.concat([u32(0x10000), Buffer.from([1, 0]), zeros(10), MATRIX, zeros(24), u32(2)]);
