import { type Box, children } from './boxes.ts';

/** The fixed fields of a visual sample entry; boxes follow. */
const ENTRY_FIELDS_BYTES = 78;
/** H.264 profiles whose configuration names the colour format; the others have 8-bit 4:2:0. */
const HIGH_PROFILES = [100, 110, 122, 144, 244];

/** The pixel format in a sample entry's decoder configuration, as ffmpeg names it; null: unknown. */
export function pixelFormat(view: DataView, entry: Box): string | null {
  const boxes = children(view, entry.start + ENTRY_FIELDS_BYTES, entry.end);
  const box = (type: string) => boxes.find((each) => each.type === type);
  const [avc, av1, hevc] = [box('avcC'), box('av1C'), box('hvcC')];
  if (av1 !== undefined) return av1Format(view.getUint8(av1.start + 2));
  if (hevc !== undefined)
    return named(view.getUint8(hevc.start + 16) & 3, 8 + (view.getUint8(hevc.start + 17) & 7));
  return avc === undefined ? null : h264Format(view, avc);
}

function av1Format(flags: number): string {
  const depth = flags & 0x40 ? (flags & 0x20 ? 12 : 10) : 8;
  if (flags & 0x10) return named(0, depth);
  const [halfX, halfY] = [flags & 0x08, flags & 0x04];
  return named(halfX ? (halfY ? 1 : 2) : 3, depth);
}

function h264Format(view: DataView, box: Box): string | null {
  if (!HIGH_PROFILES.includes(view.getUint8(box.start + 1))) return 'yuv420p';
  let at = box.start + 5;
  for (const mask of [0x1f, 0xff]) {
    if (at >= box.end) return null;
    const sets = view.getUint8(at++) & mask;
    for (let i = 0; i < sets && at + 2 <= box.end; i++) at += 2 + view.getUint16(at);
  }
  if (at + 2 > box.end) return null;
  return named(view.getUint8(at) & 3, 8 + (view.getUint8(at + 1) & 7));
}

function named(chroma: number, depth: number): string {
  const base = ['gray', 'yuv420p', 'yuv422p', 'yuv444p'][chroma]!;
  return depth === 8 ? base : `${base}${depth}le`;
}
