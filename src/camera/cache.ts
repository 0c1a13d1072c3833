import type { ReceivedFrame } from '../messages/recording.ts';
import { STALE_AFTER_MS } from './config.ts';

/** The newest picture of a camera, and whether it has been silent for too long. */
export interface FrameView {
  frame: ReceivedFrame;
  stale: boolean;
}

/** At 30 Hz a quarter of a second: enough for a reader that asks what had arrived at an earlier instant. */
const DEPTH = 8;

/** The newest few frames per camera. A silent camera keeps its last one: whoever asks decides what it is worth. */
export class FrameCache {
  readonly #depth: number;
  /** Per camera in order of arrival, newest last. */
  readonly #frames = new Map<string, ReceivedFrame[]>();

  constructor(depth = DEPTH) {
    this.#depth = depth;
  }

  /** A frame with the capture of one already held takes its place. */
  put(frame: ReceivedFrame): void {
    const held = this.#frames.get(frame.camera);
    if (held === undefined) {
      this.#frames.set(frame.camera, [frame]);
      return;
    }
    const same = held.findIndex(({ captureNs }) => captureNs === frame.captureNs);
    if (same >= 0) held[same] = frame;
    else held.push(frame);
    if (held.length > this.#depth) held.shift();
  }

  /** The newest frame that had arrived at that instant (operator clock), or null. */
  newestAt(camera: string, instantNs: number): ReceivedFrame | null {
    const held = this.#frames.get(camera) ?? [];
    for (let i = held.length - 1; i >= 0; i--) if (held[i]!.arrivedNs <= instantNs) return held[i]!;
    return null;
  }

  newest(camera: string): ReceivedFrame | null {
    return this.#frames.get(camera)?.at(-1) ?? null;
  }

  /** The newest frame with its flag: stale when nothing came from the camera for `limitNs`. */
  view(camera: string, nowNs: number, limitNs = STALE_AFTER_MS * 1e6): FrameView | null {
    const frame = this.newest(camera);
    return frame && { frame, stale: nowNs - frame.arrivedNs > limitNs };
  }

  /** Cameras heard so far. */
  cameras(): string[] {
    return [...this.#frames.keys()];
  }
}
