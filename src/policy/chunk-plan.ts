import type { Chunk } from './policy.ts';

/** ACT's temporal ensembling: each newer chunk weighs this much less (arXiv 2304.13705). */
const DECAY = 0.01;
/** A chunk's weight falls over its last rows, at most half of them: it leaves the mean without a step. */
const FADE_ROWS = 4;

interface Placed {
  startNs: number;
  chunk: Chunk;
}

/**
 * Chunks on the clock: row i of a chunk is for its start + i / fps. At any instant the plan is the weighted mean of all
 * chunks that cover it, each joined by straight lines.
 */
export class ChunkPlan {
  readonly #periodNs: number;
  readonly #joints: number;
  /** In order of their starts. */
  #chunks: Placed[] = [];

  constructor(fps: number, joints: number) {
    this.#periodNs = 1e9 / fps;
    this.#joints = joints;
  }

  /** `startNs`: the instant of the observation that it answers. */
  add(startNs: number, chunk: Chunk): void {
    const at = this.#chunks.findLastIndex((each) => each.startNs <= startNs);
    this.#chunks.splice(at + 1, 0, { startNs, chunk });
  }

  clear(): void {
    this.#chunks = [];
  }

  /** Chunks held, including any that have not begun. */
  get chunks(): number {
    return this.#chunks.length;
  }

  /**
   * The plan at an instant into `out`: the joints, then the gripper (left as it is if no chunk has one). False if no
   * chunk covers it. Chunks that are over are dropped: instants never go back.
   */
  at(instantNs: number, out: Float64Array): boolean {
    this.#chunks = this.#chunks.filter(({ startNs, chunk }) => instantNs <= this.#endNs(startNs, chunk));
    const width = this.#joints + 1;
    let [total, gripTotal, weight] = [0, 0, 1];
    let gripper = 0;
    for (const { startNs, chunk } of this.#chunks) {
      if (startNs > instantNs) break;
      const row = (instantNs - startNs) / this.#periodNs;
      if (total === 0) out.fill(0, 0, this.#joints);
      const share = weight * fade(chunk, row);
      for (let i = 0; i < this.#joints; i++) out[i]! += share * valueAt(chunk, row, i);
      total += share;
      if (chunk.width === width) {
        gripper += share * valueAt(chunk, row, this.#joints);
        gripTotal += share;
      }
      weight *= Math.exp(-DECAY);
    }
    if (total === 0) return false;
    for (let i = 0; i < this.#joints; i++) out[i]! /= total;
    if (gripTotal > 0) out[this.#joints] = Math.min(1, Math.max(0, gripper / gripTotal));
    return true;
  }

  #endNs(startNs: number, { rows }: Chunk): number {
    return startNs + Math.max(0, rows - 1) * this.#periodNs;
  }
}

/** 1, falling over the last rows; above 0 even in the last one, which may be all there is. */
function fade({ rows }: Chunk, row: number): number {
  const over = Math.min(FADE_ROWS, rows / 2) + 1;
  return Math.min(1, (rows - row) / over);
}

function valueAt({ rows, width, values }: Chunk, row: number, column: number): number {
  const low = Math.min(rows - 1, Math.floor(row));
  const high = Math.min(rows - 1, low + 1);
  const from = values[low * width + column]!;
  return from + (row - low) * (values[high * width + column]! - from);
}
