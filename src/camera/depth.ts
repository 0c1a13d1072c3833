import { crc32, deflateSync } from 'node:zlib';
import type { JpegCoder } from './encoder.ts';
import type { DepthPicture } from './source.ts';

const SIGNATURE = Uint8Array.of(0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a);
const HEADER_BYTES = 13;
const BITS = 16;
const GREY = 0;
/** Each row as its difference from the one above: a table is the same slope over many rows. */
const UP = 2;

/** Black in the view of a depth camera, unless its settings say otherwise. */
export const DEFAULT_FAR_M = 2;

/** A depth picture as it is sent: the distances without loss, and a view of them. */
export interface EncodedDepth {
  jpeg: Uint8Array;
  png: Uint8Array;
}

export function encodeDepth(picture: DepthPicture, coder: JpegCoder, quality: number): EncodedDepth {
  const { depthMm, widthPx, heightPx, farMm } = picture;
  const grey = new Uint8Array(widthPx * heightPx);
  for (let i = 0; i < grey.length; i++) grey[i] = greyOf(depthMm[i]!, farMm);
  return { jpeg: coder.encodeGrey(grey, widthPx, heightPx, quality), png: depthPng(picture) };
}

/** 0: no distance. Otherwise from 255 at the camera to 1 at `farMm` and beyond, evenly. */
export const greyOf = (depthMm: number, farMm: number): number =>
  depthMm === 0 ? 0 : Math.max(1, Math.round(255 - (254 * depthMm) / farMm));

/** The distances as a PNG of 16-bit grey, in millimetres. */
export function depthPng({
  depthMm,
  widthPx,
  heightPx,
}: Pick<DepthPicture, 'depthMm' | 'widthPx' | 'heightPx'>): Uint8Array {
  const stride = 1 + 2 * widthPx;
  const rows = new Uint8Array(stride * heightPx);
  for (let row = 0, at = 0; row < heightPx; row++) {
    let to = row * stride;
    rows[to++] = UP;
    for (let column = 0; column < widthPx; column++, at++) {
      const value = depthMm[at]!;
      const above = row === 0 ? 0 : depthMm[at - widthPx]!;
      // Byte by byte, as the format demands.
      rows[to++] = (value >> 8) - (above >> 8);
      rows[to++] = value - above;
    }
  }
  const header = new DataView(new ArrayBuffer(HEADER_BYTES));
  header.setUint32(0, widthPx);
  header.setUint32(4, heightPx);
  header.setUint8(8, BITS);
  header.setUint8(9, GREY);
  const body = [chunk('IHDR', new Uint8Array(header.buffer)), chunk('IDAT', deflateSync(rows, { level: 1 }))];
  return Buffer.concat([SIGNATURE, ...body, chunk('IEND', new Uint8Array(0))]);
}

function chunk(type: string, data: Uint8Array): Uint8Array {
  const body = Buffer.concat([Buffer.from(type, 'latin1'), data]);
  const out = Buffer.alloc(body.length + 8);
  out.writeUInt32BE(data.length);
  out.set(body, 4);
  out.writeUInt32BE(crc32(body), body.length + 4);
  return out;
}

/** Whether bytes begin as `depthPng` writes them. */
export function isDepthPng(bytes: Uint8Array): boolean {
  const depthAt = SIGNATURE.length + 8 + 8;
  return (
    bytes.length > depthAt + 8 &&
    SIGNATURE.every((byte, i) => bytes[i] === byte) &&
    bytes[depthAt] === BITS &&
    bytes[depthAt + 1] === GREY
  );
}

/** A third of the width and height: the middle pixel of nine, because a mean of near and far is nowhere. */
export function thirdOfDepth(from: DepthPicture): DepthPicture {
  const widthPx = Math.max(1, Math.floor(from.widthPx / 3));
  const heightPx = Math.max(1, Math.floor(from.heightPx / 3));
  const depthMm = new Uint16Array(widthPx * heightPx);
  const middle = (index: number, size: number) => Math.min(3 * index + 1, size - 1);
  for (let row = 0, to = 0; row < heightPx; row++)
    for (let column = 0; column < widthPx; column++, to++)
      depthMm[to] = from.depthMm[middle(row, from.heightPx) * from.widthPx + middle(column, from.widthPx)]!;
  return { kind: 'depth', depthMm, widthPx, heightPx, farMm: from.farMm };
}
