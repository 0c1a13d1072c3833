import { type Box, children, find, type Mp4File, readMp4, typeAt } from './boxes.ts';
import { pixelFormat } from './pixel-format.ts';
import { readSamples, type Samples } from './sample-tables.ts';

/** The video track of an mp4, from its tables. */
export interface VideoTrack {
  codec: string;
  /** As ffmpeg names it; null: unknown. */
  pixelFormat: string | null;
  widthPx: number;
  heightPx: number;
  /** Units of time per second. */
  timescale: number;
  /** As the header states it. */
  durationS: number;
  /** When each picture is shown, in seconds, ascending. */
  timesS: Float64Array;
  samples: Samples;
  /** The edit list hides or repeats pictures. */
  isEdited: boolean;
  hasAudio: boolean;
  /** Encoded pictures that do not lie in the file's media data; −1: none. */
  firstOutside: number;
  isTruncated: boolean;
  /** The box `stsd`, header included: everything a decoder needs before the first picture. */
  description: Uint8Array;
}

/** Throws an `Error` with the reason if the file is not an mp4 with readable tables. */
export function readVideoTrack(file: string): VideoTrack {
  const mp4 = readMp4(file);
  const { tables: view } = mp4;
  const all = children(view, 0, view.byteLength);
  const tracks = all.filter(({ type }) => type === 'trak');
  const kinds = tracks.map((trak) => handlerOf(view, trak));
  const video = tracks[kinds.indexOf('vide')];
  if (video === undefined) throw new Error('no video track');
  const header = all.find(({ type }) => type === 'mvhd');
  const movieScale = header === undefined ? 0 : timescaleAt(view, header);
  return videoTrack(mp4, video, movieScale, kinds.includes('soun'));
}

function handlerOf(view: DataView, trak: Box): string {
  const handler = find(view, trak, 'mdia', 'hdlr');
  return handler === null ? '' : typeAt(view, handler.start + 8);
}

const isLong = (view: DataView, box: Box): boolean => view.getUint8(box.start) === 1;
const timescaleAt = (view: DataView, box: Box): number =>
  view.getUint32(box.start + (isLong(view, box) ? 20 : 12));
const durationAt = (view: DataView, box: Box): number =>
  isLong(view, box) ? Number(view.getBigUint64(box.start + 24)) : view.getUint32(box.start + 16);

function videoTrack(mp4: Mp4File, trak: Box, movieScale: number, hasAudio: boolean): VideoTrack {
  const { tables: view } = mp4;
  const header = find(view, trak, 'mdia', 'mdhd');
  const table = find(view, trak, 'mdia', 'minf', 'stbl');
  const description = table && find(view, table, 'stsd');
  if (header === null || table === null || description === null)
    throw new Error('the video track lacks tables');
  const timescale = timescaleAt(view, header);
  if (timescale === 0) throw new Error('the timescale is 0');
  const samples = readSamples(view, table);
  const edit = editOf(view, trak, movieScale, timescale, samples);
  // Version and flags, count, then the first entry: its size, its type, and width and height at fixed offsets.
  const entry = description.start + 8;
  const codec = codecName(typeAt(view, entry + 4));
  return {
    codec,
    pixelFormat: pixelFormat(view, { type: codec, start: entry + 8, end: description.end }),
    widthPx: view.getUint16(entry + 32),
    heightPx: view.getUint16(entry + 34),
    timescale,
    durationS: durationAt(view, header) / timescale,
    timesS: shownAt(samples, edit.shift).map((t) => t / timescale),
    samples,
    isEdited: edit.isPartial,
    hasAudio,
    firstOutside: firstOutside(mp4, samples),
    isTruncated: mp4.isTruncated,
    description: new Uint8Array(view.buffer, description.start - 8, description.end - description.start + 8),
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

/**
 * What the edit list does: empty edits show everything later, and an edit may begin after the first pictures.
 * `shift` is in track units. Several edits, or one that ends early, hide or repeat pictures.
 */
function editOf(
  view: DataView,
  trak: Box,
  movieScale: number,
  timescale: number,
  samples: Samples,
): { shift: number; isPartial: boolean } {
  const list = find(view, trak, 'edts', 'elst');
  if (list === null) return { shift: 0, isPartial: false };
  const long = isLong(view, list);
  const stride = long ? 20 : 12;
  const entries = view.getUint32(list.start + 4);
  let [shift, edits, isPartial] = [0, 0, false];
  const lengthUnits = samples.durations.reduce((sum, units) => sum + units, 0);
  const longest = Math.max(0, ...samples.durations.subarray(0, 1));
  for (let i = 0; i < entries && list.start + 8 + stride * (i + 1) <= list.end; i++) {
    const at = list.start + 8 + stride * i;
    const span = long ? Number(view.getBigUint64(at)) : view.getUint32(at);
    const from = long ? Number(view.getBigInt64(at + 8)) : view.getInt32(at + 4);
    const units = movieScale === 0 ? 0 : (span * timescale) / movieScale;
    if (from < 0) shift += units;
    else {
      edits++;
      shift -= from;
      const firstShown = samples.delays[0] ?? 0;
      if (from > firstShown || (span > 0 && units + longest < lengthUnits)) isPartial = true;
    }
  }
  return { shift, isPartial: isPartial || edits > 1 };
}

/** Decode times from the durations, shifted by the composition offsets where pictures are reordered. */
function shownAt({ durations, delays }: Samples, shift: number): Float64Array {
  const times = new Float64Array(durations.length);
  let time = shift;
  for (let i = 0; i < times.length; i++) {
    times[i] = time + delays[i]!;
    time += durations[i]!;
  }
  return times.sort();
}

function firstOutside({ sizeBytes, media }: Mp4File, { offsets, sizes }: Samples): number {
  for (let i = 0; i < offsets.length; i++) {
    const [from, to] = [offsets[i]!, offsets[i]! + sizes[i]!];
    const inside = media.some(({ start, end }) => from >= start && to <= end);
    if (!inside || to > sizeBytes || sizes[i] === 0) return i;
  }
  return -1;
}
