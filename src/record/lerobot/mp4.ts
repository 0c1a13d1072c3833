import { closeSync, fstatSync, openSync, readSync } from 'node:fs';

/** The video track of an mp4, from its tables. */
export interface VideoTrack {
  codec: string;
  widthPx: number;
  heightPx: number;
  /** Units of time per second. */
  timescale: number;
  /** When each picture is shown, in seconds, ascending. */
  timesS: Float64Array;
}

const MAX_TABLES_BYTES = 256 * 2 ** 20;
/** Four days at 30 per second. */
const MAX_PICTURES = 1e7;

interface Box {
  type: string;
  start: number;
  end: number;
}

/** Throws an `Error` with the reason if the file is not an mp4 with readable tables. */
export function readVideoTrack(file: string): VideoTrack {
  const tables = readTables(file);
  const view = new DataView(tables.buffer, tables.byteOffset, tables.byteLength);
  for (const trak of children(view, 0, view.byteLength).filter(({ type }) => type === 'trak')) {
    const track = videoTrack(view, trak);
    if (track !== null) return track;
  }
  throw new Error('no video track');
}

/** The content of the `moov` box. */
function readTables(file: string): Uint8Array {
  const handle = openSync(file, 'r');
  try {
    const total = fstatSync(handle).size;
    const header = new DataView(new ArrayBuffer(16));
    for (let at = 0; at + 8 <= total; ) {
      readSync(handle, header, 0, 16, at);
      const type = typeAt(header, 4);
      const small = header.getUint32(0);
      const size = small === 1 ? Number(header.getBigUint64(8)) : small === 0 ? total - at : small;
      if (size < 8 || at + size > total) throw new Error('the file is truncated');
      if (type === 'moof') throw new Error('fragmented mp4 is not supported');
      if (type === 'moov') {
        if (size > MAX_TABLES_BYTES) throw new Error('the tables are too large');
        const body = new Uint8Array(size - 8);
        readSync(handle, body, 0, body.length, at + 8);
        return body;
      }
      at += size;
    }
    throw new Error('no tables (moov): the file is unfinished or not an mp4');
  } finally {
    closeSync(handle);
  }
}

const typeAt = (view: DataView, at: number): string =>
  String.fromCharCode(view.getUint8(at), view.getUint8(at + 1), view.getUint8(at + 2), view.getUint8(at + 3));

function children(view: DataView, start: number, end: number): Box[] {
  const boxes: Box[] = [];
  for (let at = start; at + 8 <= end; ) {
    const size = view.getUint32(at);
    if (size < 8 || at + size > end) break;
    boxes.push({ type: typeAt(view, at + 4), start: at + 8, end: at + size });
    at += size;
  }
  return boxes;
}

function find(view: DataView, from: Box, ...types: string[]): Box | null {
  let box: Box | null = from;
  for (const type of types) {
    if (box === null) return null;
    box = children(view, box.start, box.end).find((child) => child.type === type) ?? null;
  }
  return box;
}

function videoTrack(view: DataView, trak: Box): VideoTrack | null {
  const handler = find(view, trak, 'mdia', 'hdlr');
  if (handler === null || typeAt(view, handler.start + 8) !== 'vide') return null;
  const header = find(view, trak, 'mdia', 'mdhd');
  const table = find(view, trak, 'mdia', 'minf', 'stbl');
  const description = table && find(view, table, 'stsd');
  const durations = table && find(view, table, 'stts');
  if (header === null || table === null || description === null || durations === null)
    throw new Error('the video track lacks tables');
  const timescale = view.getUint32(header.start + (view.getUint8(header.start) === 1 ? 20 : 12));
  // Version and flags, count, then the first entry: its size, its type, and width and height at fixed offsets.
  const entry = description.start + 8;
  return {
    codec: codecName(typeAt(view, entry + 4)),
    widthPx: view.getUint16(entry + 32),
    heightPx: view.getUint16(entry + 34),
    timescale,
    timesS: shownAt(view, durations, find(view, table, 'ctts'), startOf(view, trak)).map(
      (t) => t / timescale,
    ),
  };
}

function codecName(type: string): string {
  const names: Record<string, string> = {
    av01: 'av1',
    avc1: 'h264',
    avc3: 'h264',
    hvc1: 'hevc',
    hev1: 'hevc',
  };
  return names[type] ?? type;
}

/** Start of the edit list, in track units; 0 if there is none. */
function startOf(view: DataView, trak: Box): number {
  const list = find(view, trak, 'edts', 'elst');
  if (list === null || view.getUint32(list.start + 4) !== 1) return 0;
  const isLong = view.getUint8(list.start) === 1;
  const at = list.start + 8 + (isLong ? 8 : 4);
  const start = isLong ? Number(view.getBigInt64(at)) : view.getInt32(at);
  return Math.max(0, start);
}

/** Decode times from the durations, shifted by the composition offsets where pictures are reordered. */
function shownAt(view: DataView, durations: Box, offsets: Box | null, start: number): Float64Array {
  const spans = runs(view, durations, (at) => view.getUint32(at));
  const count = spans.reduce((sum, run) => sum + run.count, 0);
  if (count > MAX_PICTURES) throw new Error(`the tables claim ${count} pictures`);
  const times = new Float64Array(count);
  let [at, time] = [0, 0 - start];
  for (const { count: n, value } of spans)
    for (let i = 0; i < n; i++) {
      times[at++] = time;
      time += value;
    }
  at = 0;
  if (offsets !== null)
    for (const { count: n, value } of runs(view, offsets, (place) => view.getInt32(place)))
      for (let i = 0; i < n && at < count; i++, at++) times[at] = times[at]! + value;
  return times.sort();
}

function runs(view: DataView, box: Box, valueAt: (at: number) => number): { count: number; value: number }[] {
  const found: { count: number; value: number }[] = [];
  const entries = view.getUint32(box.start + 4);
  for (let i = 0; i < entries; i++) {
    const at = box.start + 8 + 8 * i;
    if (at + 8 > box.end) throw new Error('a table is truncated');
    const count = view.getUint32(at);
    found.push({ count, value: valueAt(at + 4) });
  }
  return found;
}
