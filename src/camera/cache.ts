import type { ReceivedFrame } from '../messages/recording.ts';
import { STALE_AFTER_MS } from './config.ts';

/** The newest picture of a camera, and whether the camera has been silent too long. */
export interface FrameView {
  frame: ReceivedFrame;
  stale: boolean;
}

/** A quarter of a second at 30 Hz: enough for a reader that looks up an earlier instant. */
const DEPTH = 8;

/**
 * The newest frames of each camera. A silent camera keeps its last frame; the caller decides whether to use
 * it.
 */
export class FrameCache {
  readonly #depth: number;
  /** Per camera in order of arrival, newest last. */
  readonly #frames = new Map<string, ReceivedFrame[]>();

  constructor(depth = DEPTH) {
    this.#depth = depth;
  }

  /** Replaces a held frame with the same capture time. */
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

  /** The newest frame that had arrived by that time (operator clock), or null. */
  newestAt(camera: string, instantNs: number): ReceivedFrame | null {
    const held = this.#frames.get(camera) ?? [];
    for (let i = held.length - 1; i >= 0; i--) if (held[i]!.arrivedNs <= instantNs) return held[i]!;
    return null;
  }

  newest(camera: string): ReceivedFrame | null {
    return this.#frames.get(camera)?.at(-1) ?? null;
  }

  /** The newest frame and its flag: stale when the camera has sent nothing for `limitNs`. */
  view(camera: string, nowNs: number, limitNs = STALE_AFTER_MS * 1e6): FrameView | null {
    const frame = this.newest(camera);
    return frame && { frame, stale: nowNs - frame.arrivedNs > limitNs };
  }

  /** Cameras received so far. */
  cameras(): string[] {
    return [...this.#frames.keys()];
  }
}
