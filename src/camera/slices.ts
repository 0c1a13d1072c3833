/**
 * JPEG pictures split into UDP packets: bytes 0–7 frame number, byte 8 section, the rest JPEG, at most 1440
 * bytes. No count, last flag or stream name: a frame is complete when its sections are contiguous from SOI to
 * EOI.
 */
export const MAX_SLICE_BYTES = 1440;
export const SLICE_HEADER_BYTES = 9;
export const MAX_SLICE_PAYLOAD = MAX_SLICE_BYTES - SLICE_HEADER_BYTES;
/** The section is one byte and never wraps. */
export const MAX_SECTIONS = 256;

export interface SliceVariant {
  order: 'little' | 'big';
  /** Section of a frame's first slice: 0 or 1. */
  first: number;
}

/** Larger pictures are rejected, not truncated. */
export const maxJpegBytes = (first: number): number => (MAX_SECTIONS - first) * MAX_SLICE_PAYLOAD;

/**
 * Splits a picture. `packet` is scratch of `MAX_SLICE_BYTES`, refilled before each `emit` with the packet's
 * length. `frameId` counts from 1; 0 is reserved.
 */
export function sliceJpeg(
  jpeg: Uint8Array,
  frameId: number,
  { order, first }: SliceVariant,
  packet: Uint8Array,
  emit: (length: number) => void,
): 'oversize' | null {
  if (jpeg.length > maxJpegBytes(first)) return 'oversize';
  const view = new DataView(packet.buffer, packet.byteOffset, packet.byteLength);
  view.setBigUint64(0, BigInt(frameId), order === 'little');
  let section = first;
  for (let at = 0; at < jpeg.length; at += MAX_SLICE_PAYLOAD) {
    const length = Math.min(MAX_SLICE_PAYLOAD, jpeg.length - at);
    packet[8] = section++;
    packet.set(jpeg.subarray(at, at + length), SLICE_HEADER_BYTES);
    emit(SLICE_HEADER_BYTES + length);
  }
  return null;
}
