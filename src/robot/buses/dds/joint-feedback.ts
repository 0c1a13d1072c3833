import type { JointState } from './ros2.ts';

/** Why a joint state was rejected. */
export type FeedbackReason = 'joint-missing' | 'joint-count' | 'non-finite';

/** The newest joint state, in the order of our joints. */
export class JointFeedback {
  readonly positionsRad: Float64Array;
  readonly velocitiesRadS: Float64Array;
  /** Arrival time on our clock; minus infinity before the first. */
  receivedNs = Number.NEGATIVE_INFINITY;
  readonly #joints: readonly string[];
  /** Index of each joint in the last message: publishers keep their order. */
  readonly #places: Int32Array;
  readonly #fresh: Float64Array;

  constructor(joints: readonly string[]) {
    this.#joints = joints;
    this.positionsRad = new Float64Array(joints.length);
    this.velocitiesRadS = new Float64Array(joints.length);
    this.#places = new Int32Array(joints.length);
    this.#fresh = new Float64Array(joints.length);
  }

  /** All or nothing: a message with a missing joint or a non-finite number changes nothing. */
  take({ names, positions, velocities }: JointState, nowNs: number): FeedbackReason | null {
    const reason = this.#place(names, positions.length);
    if (reason !== null) return reason;
    for (let i = 0; i < this.#fresh.length; i++) {
      const position = positions[this.#places[i]!];
      if (position === undefined) return 'joint-count';
      if (!Number.isFinite(position)) return 'non-finite';
      this.#fresh[i] = position;
    }
    const elapsedS = (nowNs - this.receivedNs) / 1e9;
    for (let i = 0; i < this.#fresh.length; i++) {
      const reported = velocities[this.#places[i]!];
      const moved = (this.#fresh[i]! - this.positionsRad[i]!) / elapsedS;
      if (reported !== undefined && Number.isFinite(reported)) this.velocitiesRadS[i] = reported;
      else this.velocitiesRadS[i] = elapsedS > 0 && elapsedS < 1 ? moved : 0;
    }
    this.positionsRad.set(this.#fresh);
    this.receivedNs = nowNs;
    return null;
  }

  #place(names: readonly string[], positions: number): FeedbackReason | null {
    if (names.length === 0) {
      if (positions !== this.#joints.length) return 'joint-count';
      for (let i = 0; i < this.#places.length; i++) this.#places[i] = i;
      return null;
    }
    for (let i = 0; i < this.#joints.length; i++) {
      const name = this.#joints[i]!;
      if (names[this.#places[i]!] === name) continue;
      const place = names.indexOf(name);
      if (place < 0) return 'joint-missing';
      this.#places[i] = place;
    }
    return null;
  }
}
