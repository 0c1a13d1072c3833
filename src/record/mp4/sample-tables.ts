import { type Box, find } from './boxes.ts';

/** Four days at 30 per second. */
const MAX_SAMPLES = 1e7;

/** The encoded pictures of a track in decoding order: where they lie in the file and when they are shown. */
export interface Samples {
  offsets: Float64Array;
  sizes: Uint32Array;
  /** In units of the track's timescale. */
  durations: Uint32Array;
  /** From decoding to showing. */
  delays: Int32Array;
  /** 1: can be decoded without the pictures before it. */
  isKey: Uint8Array;
}

/** Throws an `Error` with the reason if the tables do not agree with each other. */
export function readSamples(view: DataView, table: Box): Samples {
  const sizes = sizesOf(view, required(view, table, 'stsz'));
  const count = sizes.length;
  const durations = expanded(
    view,
    required(view, table, 'stts'),
    (at) => view.getUint32(at),
    count,
    Uint32Array,
  );
  const offsetBox = find(view, table, 'ctts');
  const delays =
    offsetBox === null
      ? new Int32Array(count)
      : expanded(view, offsetBox, (at) => view.getInt32(at), count, Int32Array);
  return {
    offsets: offsetsOf(view, table, sizes),
    sizes,
    durations,
    delays,
    isKey: keysOf(view, table, count),
  };
}

function required(view: DataView, table: Box, type: string): Box {
  const box = find(view, table, type);
  if (box === null) throw new Error(`the video track lacks the table ${type}`);
  return box;
}

function sizesOf(view: DataView, box: Box): Uint32Array {
  const same = view.getUint32(box.start + 4);
  const count = view.getUint32(box.start + 8);
  if (count > MAX_SAMPLES) throw new Error(`the tables claim ${count} pictures`);
  if (same !== 0) return new Uint32Array(count).fill(same);
  if (box.start + 12 + 4 * count > box.end) throw new Error('the table of picture sizes is truncated');
  return Uint32Array.from({ length: count }, (_, i) => view.getUint32(box.start + 12 + 4 * i));
}

function expanded<T extends Uint32Array | Int32Array>(
  view: DataView,
  box: Box,
  valueAt: (at: number) => number,
  count: number,
  make: new (length: number) => T,
): T {
  const values = new make(count);
  let done = 0;
  const entries = view.getUint32(box.start + 4);
  for (let i = 0; i < entries; i++) {
    const at = box.start + 8 + 8 * i;
    if (at + 8 > box.end) throw new Error('a table is truncated');
    const run = view.getUint32(at);
    if (done + run > count)
      throw new Error(`a table of times has more than the ${count} pictures of the file`);
    values.fill(valueAt(at + 4), done, done + run);
    done += run;
  }
  if (done !== count) throw new Error(`a table of times has ${done} pictures, the file has ${count}`);
  return values;
}

function offsetsOf(view: DataView, table: Box, sizes: Uint32Array): Float64Array {
  const long = find(view, table, 'co64');
  const box = long ?? required(view, table, 'stco');
  const chunks = view.getUint32(box.start + 4);
  const width = long === null ? 4 : 8;
  if (box.start + 8 + width * chunks > box.end) throw new Error('the table of chunks is truncated');
  const chunkAt = (i: number): number =>
    long === null ? view.getUint32(box.start + 8 + 4 * i) : Number(view.getBigUint64(box.start + 8 + 8 * i));
  const perChunk = required(view, table, 'stsc');
  const entries = view.getUint32(perChunk.start + 4);
  if (perChunk.start + 8 + 12 * entries > perChunk.end) throw new Error('the table of chunks is truncated');
  const offsets = new Float64Array(sizes.length);
  let sample = 0;
  for (let i = 0; i < entries; i++) {
    const at = perChunk.start + 8 + 12 * i;
    const first = view.getUint32(at) - 1;
    const until = i + 1 < entries ? view.getUint32(at + 12) - 1 : chunks;
    const count = view.getUint32(at + 4);
    for (let chunk = first; chunk < Math.min(until, chunks) && sample < sizes.length; chunk++) {
      let offset = chunkAt(chunk);
      for (let k = 0; k < count && sample < sizes.length; k++, sample++) {
        offsets[sample] = offset;
        offset += sizes[sample]!;
      }
    }
  }
  if (sample !== sizes.length)
    throw new Error(`the chunks hold ${sample} pictures, the sizes ${sizes.length}`);
  return offsets;
}

/** Without a table of key pictures every picture is one. */
function keysOf(view: DataView, table: Box, count: number): Uint8Array {
  const box = find(view, table, 'stss');
  if (box === null) return new Uint8Array(count).fill(1);
  const isKey = new Uint8Array(count);
  const entries = view.getUint32(box.start + 4);
  for (let i = 0; i < entries && box.start + 12 + 4 * i <= box.end; i++)
    isKey[view.getUint32(box.start + 8 + 4 * i) - 1] = 1;
  return isKey;
}
