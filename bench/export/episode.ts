import path from 'node:path';
import jpeg from '@julusian/jpeg-turbo';
import type { ReceivedFrame } from '../../src/messages/recording.ts';
import { emptyInfo, rowOf, START_NS, startOf } from '../../src/record/test-episode.ts';
import { EpisodeWriter } from '../../src/record/writer.ts';

const ROW_HZ = 100;
const CAMERA_HZ = 30;
const JOINTS = 6;
/** Number of different pictures, then they repeat. */
const PICTURES = 60;

export interface MadeEpisode {
  file: string;
  bytesPerPicture: number;
}

/** Writes an episode like a recorder, with pictures of a moving scene and camera noise. */
export function makeEpisode(
  dir: string,
  seconds: number,
  cameras: readonly string[],
  widthPx: number,
  heightPx: number,
): MadeEpisode {
  const info = emptyInfo('bench', JOINTS, [...cameras]);
  const file = path.join(dir, 'bench.mcap');
  const writer = new EpisodeWriter(file, startOf(info));
  const pictures = Array.from({ length: PICTURES }, (_, n) => noisyPicture(n, widthPx, heightPx));
  const frameOf = (camera: string, n: number): ReceivedFrame => {
    const captureOperatorNs = START_NS + Math.round((n * 1e9) / CAMERA_HZ) - 12e6;
    const captureNs = 1e12 + captureOperatorNs;
    const bytes = pictures[n % PICTURES]!;
    return {
      camera,
      captureNs,
      encoding: 'jpeg',
      bytes,
      captureOperatorNs,
      uncertaintyNs: 1e5,
      arrivedNs: captureOperatorNs + 12e6,
    };
  };
  for (let i = 0; i < seconds * ROW_HZ; i++) {
    const atNs = START_NS + (i * 1e9) / ROW_HZ;
    const n = Math.floor((i * CAMERA_HZ) / ROW_HZ);
    const shown = new Map(cameras.map((camera) => [camera, frameOf(camera, n)]));
    writer.row(rowOf(i, JOINTS, shown, atNs), atNs, shown);
  }
  writer.close({ ...info, rows: seconds * ROW_HZ, durationS: seconds });
  return { file, bytesPerPicture: pictures.reduce((sum, { length }) => sum + length, 0) / PICTURES };
}

/** A gradient, a moving disc, and noise: about 50 KB at 640 × 480. */
function noisyPicture(n: number, widthPx: number, heightPx: number): Uint8Array {
  const rgb = Buffer.alloc(3 * widthPx * heightPx);
  const [x0, y0] = [widthPx / 2 + 150 * Math.cos(n / 10), heightPx / 2 + 100 * Math.sin(n / 10)];
  let seed = 1 + n;
  for (let y = 0; y < heightPx; y++)
    for (let x = 0; x < widthPx; x++) {
      seed = (Math.imul(seed, 1_664_525) + 1_013_904_223) >>> 0;
      const noise = (seed >>> 24) / 8 - 16;
      const isDisc = (x - x0) ** 2 + (y - y0) ** 2 < 3600;
      const at = 3 * (y * widthPx + x);
      rgb[at] = clamp((isDisc ? 220 : (200 * x) / widthPx) + noise);
      rgb[at + 1] = clamp((isDisc ? 80 : (200 * y) / heightPx) + noise);
      rgb[at + 2] = clamp((isDisc ? 60 : 120) + noise);
    }
  return jpeg.compressSync(rgb, {
    width: widthPx,
    height: heightPx,
    format: jpeg.FORMAT_RGB,
    subsampling: jpeg.SAMP_420,
    quality: 75,
  });
}

const clamp = (value: number): number => Math.max(0, Math.min(255, value));
