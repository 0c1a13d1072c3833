import { closeSync, fstatSync, openSync, readSync } from 'node:fs';

/** A box of an mp4 file; `start` is the first byte after its header. */
export interface Box {
  type: string;
  start: number;
  end: number;
}

const MAX_TABLES_BYTES = 256 * 2 ** 20;

export interface Mp4File {
  sizeBytes: number;
  /** The content of the `moov` box. */
  tables: DataView<ArrayBuffer>;
  /** Where picture data may lie. */
  media: readonly Box[];
  /** The file ends inside a box. */
  isTruncated: boolean;
}

/** Throws an `Error` with the reason if the file is not an mp4 with tables. */
export function readMp4(file: string): Mp4File {
  const handle = openSync(file, 'r');
  try {
    const sizeBytes = fstatSync(handle).size;
    const { boxes, isTruncated } = topBoxes(handle, sizeBytes);
    if (boxes.some(({ type }) => type === 'moof')) throw new Error('fragmented mp4 is not supported');
    const moov = boxes.find(({ type }) => type === 'moov');
    if (moov === undefined)
      throw new Error(
        isTruncated ? 'the file is truncated' : 'no tables (moov): the file is unfinished or not an mp4',
      );
    const length = moov.end - moov.start;
    if (length > MAX_TABLES_BYTES) throw new Error('the tables are too large');
    const tables = new DataView(new ArrayBuffer(length));
    if (readSync(handle, tables, 0, length, moov.start) < length) throw new Error('the tables are truncated');
    return { sizeBytes, tables, media: boxes.filter(({ type }) => type === 'mdat'), isTruncated };
  } finally {
    closeSync(handle);
  }
}

function topBoxes(handle: number, total: number): { boxes: Box[]; isTruncated: boolean } {
  const boxes: Box[] = [];
  const header = new DataView(new ArrayBuffer(16));
  let at = 0;
  while (at + 8 <= total) {
    readSync(handle, header, 0, 16, at);
    const small = header.getUint32(0);
    const size = small === 1 ? Number(header.getBigUint64(8)) : small === 0 ? total - at : small;
    if (size < 8) return { boxes, isTruncated: true };
    boxes.push({ type: typeAt(header, 4), start: at + (small === 1 ? 16 : 8), end: at + size });
    at += size;
  }
  return { boxes, isTruncated: at !== total };
}

export const typeAt = (view: DataView, at: number): string =>
  String.fromCharCode(view.getUint8(at), view.getUint8(at + 1), view.getUint8(at + 2), view.getUint8(at + 3));

export function children(view: DataView, start: number, end: number): Box[] {
  const boxes: Box[] = [];
  for (let at = start; at + 8 <= end; ) {
    const size = view.getUint32(at);
    if (size < 8 || at + size > end) break;
    boxes.push({ type: typeAt(view, at + 4), start: at + 8, end: at + size });
    at += size;
  }
  return boxes;
}

export function find(view: DataView, from: Box, ...types: string[]): Box | null {
  let box: Box | null = from;
  for (const type of types) {
    if (box === null) return null;
    box = children(view, box.start, box.end).find((child) => child.type === type) ?? null;
  }
  return box;
}
