import turbo from '@julusian/jpeg-turbo';
import { HAND_NUMBERS } from '../../src/hand/points.ts';
import { encodeJpeg } from '../../src/operator/hand-view/jpeg.ts';
import { SkeletonView, VIEW_SIZE } from '../../src/operator/hand-view/skeleton.ts';
import type { Check } from '../text-table.ts';
import { type Comparison, compare } from './compare.ts';

const CALLS = 20;
const QUALITY = 75;

function drawing(): Buffer {
  const pointsM = Float64Array.from({ length: HAND_NUMBERS }, (_, i) => 0.08 * Math.sin(1.7 * i));
  return Buffer.from(new SkeletonView().draw(pointsM, false));
}

/** `@julusian/jpeg-turbo` beside our own encoder, on the drawing it is for. */
export async function compareJpeg(): Promise<{ rows: Comparison[]; checks: Check[] }> {
  const pixels = drawing();
  const format = {
    format: turbo.FORMAT_GRAY,
    width: VIEW_SIZE,
    height: VIEW_SIZE,
    subsampling: turbo.SAMP_GRAY,
    quality: QUALITY,
  };
  const scratch = Buffer.alloc(turbo.bufferSize(format));
  const theirs = () => Uint8Array.from(turbo.compressSync(pixels, scratch, format));
  const ours = () => encodeJpeg(pixels, VIEW_SIZE, VIEW_SIZE, QUALITY);
  const row = await compare('JPEG: a hand, 480 × 480 in grey', CALLS, ours, theirs);
  const [a, b] = [ours(), theirs()].map((jpeg) => ({ size: jpeg.length, error: errorOf(pixels, jpeg) }));
  const found = `ours ${a!.size} B, error ${a!.error.toFixed(2)}; library ${b!.size} B, error ${b!.error.toFixed(2)}`;
  const ok = b!.size <= 1.05 * a!.size && b!.error <= 1.05 * a!.error;
  return { rows: [row], checks: [{ what: 'JPEG library: size and error within 5 % of ours', ok, found }] };
}

/** Root mean square, in tones of 256. */
function errorOf(pixels: Uint8Array, jpeg: Uint8Array): number {
  const { data } = turbo.decompressSync(Buffer.from(jpeg), { format: turbo.FORMAT_GRAY });
  let sum = 0;
  for (let i = 0; i < pixels.length; i++) sum += (data[i]! - pixels[i]!) ** 2;
  return Math.sqrt(sum / pixels.length);
}
