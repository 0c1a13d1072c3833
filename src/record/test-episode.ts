import type { EpisodeInfo, EpisodeRow, ReceivedFrame } from '../messages/recording.ts';
import type { EpisodeStart } from './writer.ts';

/** Synthetic episodes for tests and benchmarks. */
export const START_NS = 5e9;
export const WALL_NS = 1_790_000_000_000_000_000n;
const FRAME_NS = 30e6;

export const emptyInfo = (id: string, joints: number, cameras: string[]): EpisodeInfo => ({
  id,
  task: 'put the cup down',
  label: null,
  startedAt: '2026-09-21T14:13:20.000Z',
  durationS: 0,
  rows: 0,
  skippedRows: 0,
  staleRows: 0,
  robot: 'test',
  joints: Array.from({ length: joints }, (_, i) => `joint_${i + 1}`),
  hasGripper: joints < 10,
  cameras,
  rateHz: 100,
  sizeBytes: 0,
  complete: false,
  quality: null,
});

export const startOf = (info: EpisodeInfo): EpisodeStart => ({
  info,
  rig: { name: 'test' },
  version: '0.0.0',
  startNs: START_NS,
  wallNs: WALL_NS,
});

/** The n-th picture of a camera, 5 ms in transit, with unique bytes. */
export function received(camera: string, n: number, salt: number, sizeBytes = 2000): ReceivedFrame {
  const captureNs = 1e12 + n * FRAME_NS + salt;
  const bytes = new Uint8Array(sizeBytes);
  for (let i = 0; i < sizeBytes; i++) bytes[i] = (n * 31 + salt * 7 + i * 13) & 0xff;
  const captureOperatorNs = START_NS + n * FRAME_NS - 10e6;
  return {
    camera,
    captureNs,
    encoding: 'jpeg',
    bytes,
    captureOperatorNs,
    uncertaintyNs: 1e5,
    arrivedNs: captureOperatorNs + 5e6,
  };
}

export function rowOf(
  index: number,
  joints: number,
  pictures: ReadonlyMap<string, ReceivedFrame>,
  sampledNs: number,
): EpisodeRow {
  const wave = (offset: number) =>
    Array.from({ length: joints }, (_, j) => Math.sin(index / 50 + j + offset));
  return {
    index,
    timeNs: sampledNs - START_NS,
    seq: index + 1,
    engaged: true,
    commandRad: wave(0),
    commandGripper: 0.25,
    stateRad: wave(-0.02),
    stateGripper: 0.5,
    supervisor: 'engaged',
    limitedBy: '',
    oneWayNs: 3.2e6,
    uncertaintyNs: 1e5,
    playoutDelayNs: 2e6,
    frames: Object.fromEntries(
      [...pictures].map(([name, { captureNs, captureOperatorNs }]) => [
        name,
        { captureNs, ageNs: sampledNs - captureOperatorNs, stale: false },
      ]),
    ),
  };
}
