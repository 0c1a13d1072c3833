import jpeg from '@julusian/jpeg-turbo';
import type { EpisodeInfo, EpisodeRow, ReceivedFrame } from '../../src/messages/recording.ts';
import type { SourceEpisode, SourceFrame } from '../../src/record/lerobot/layout.ts';
import { emptyInfo, rowOf, START_NS } from '../../src/record/test-episode.ts';

export interface EpisodeShape {
  id: string;
  seconds: number;
  rateHz?: number;
  cameras?: readonly string[];
  cameraHz?: number;
  widthPx?: number;
  heightPx?: number;
  joints?: number;
  task?: string;
}

/**
 * The n-th picture of a camera: the brightness of its upper half encodes n; below it, a moving bar. Cameras
 * other than `front` have a bright left edge.
 */
export function picture(n: number, widthPx: number, heightPx: number, camera = 'front'): Uint8Array {
  const rgb = Buffer.alloc(3 * widthPx * heightPx);
  const level = brightness(n);
  const bar = (n * 4) % widthPx;
  for (let y = 0; y < heightPx; y++)
    for (let x = 0; x < widthPx; x++) {
      const at = 3 * (y * widthPx + x);
      const isEdge = camera !== 'front' && x < widthPx / 4;
      const isBar = isEdge || (y >= heightPx / 2 && Math.abs(x - bar) < 8);
      rgb[at] = isBar ? 255 : level;
      rgb[at + 1] = isBar ? 40 : level;
      rgb[at + 2] = isBar ? 40 : level;
    }
  return jpeg.compressSync(rgb, {
    width: widthPx,
    height: heightPx,
    format: jpeg.FORMAT_RGB,
    subsampling: jpeg.SAMP_420,
    quality: 75,
  });
}

export const brightness = (n: number): number => 20 + (n % 20) * 10;

/**
 * As the recorder would have joined it: each row has the newest picture that had arrived, 12 ms after
 * capture.
 */
export function sourceEpisode(
  shape: EpisodeShape,
): SourceEpisode & { received: Map<string, ReceivedFrame[]> } {
  const { id, seconds, rateHz = 100, cameras = ['front'], cameraHz = 30, joints = 6 } = shape;
  const { widthPx = 64, heightPx = 48 } = shape;
  const received = new Map(cameras.map((camera) => [camera, [] as ReceivedFrame[]]));
  const rows: EpisodeRow[] = [];
  for (let i = 0; i < seconds * rateHz; i++) {
    const sampledNs = START_NS + Math.round((i * 1e9) / rateHz);
    const shown = new Map<string, ReceivedFrame>();
    for (const camera of cameras) {
      const n = Math.floor(((sampledNs - START_NS) / 1e9) * cameraHz + 1e-6);
      const list = received.get(camera)!;
      while (list.length <= n) list.push(frameOf(camera, list.length, cameraHz, widthPx, heightPx));
      shown.set(camera, list[n]!);
    }
    rows.push(rowOf(i, joints, shown, sampledNs));
  }
  const info: EpisodeInfo = {
    ...emptyInfo(id, joints, [...cameras]),
    task: shape.task ?? 'put the cup down',
    rateHz,
    rows: rows.length,
    durationS: seconds,
    complete: true,
    jointLimits: {
      minRad: new Array<number>(joints).fill(-2),
      maxRad: new Array<number>(joints).fill(2),
      maxVelocityRadS: new Array<number>(joints).fill(3),
    },
  };
  return { info, rows, received, frames: (camera) => each(received.get(camera) ?? []) };
}

function frameOf(camera: string, n: number, hz: number, widthPx: number, heightPx: number): ReceivedFrame {
  const captureOperatorNs = START_NS + Math.round((n * 1e9) / hz) - 12e6;
  return {
    camera,
    captureNs: 1e12 + captureOperatorNs,
    encoding: 'jpeg',
    bytes: picture(n, widthPx, heightPx, camera),
    captureOperatorNs,
    uncertaintyNs: 1e5,
    arrivedNs: captureOperatorNs + 12e6,
  };
}

async function* each(frames: readonly ReceivedFrame[]): AsyncGenerator<SourceFrame> {
  for (const { captureNs, bytes } of frames) yield { captureNs, bytes };
}
