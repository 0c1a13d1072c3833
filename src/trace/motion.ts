import { NS_PER_MS } from '../core/time/clock.ts';
import { OUTCOMES, type TraceRecord } from '../messages/trace-record.ts';

/** A step smaller than this, or than several times the encoder noise at rest, cannot be detected. */
const MIN_STEP_RAD = 0.5e-3;
const NOISE_FACTOR = 6;
/** A motion not seen after this long is given up. */
export const GIVE_UP_NS = 300 * NS_PER_MS;
const COMMANDS = 4096;
const STATES = 512;
const NOISE_WEIGHT = 0.02;
/** States after the last moving command that still show the arm coming to rest. */
const REST_STATES = 50;

/**
 * Finds when a command's own motion showed in the measured joints. A command's step leads from the previous
 * command's target to its own, in the joint that it moves most; its motion shows in the first state, sampled after
 * it was applied, in which that joint has covered at least half of the step. The result is NaN:
 *
 * - if the step is smaller than the encoder noise: a hand at rest or slow;
 * - if the joint was already there when the command was applied;
 * - if it does not arrive within 300 ms: limited, stopped, or held off its target by a steady error.
 */
export class MotionMatcher {
  readonly #joints: number;
  /** seq, joint, middle of the step, direction; seq 0 where there is no detectable step. */
  readonly #steps = new Float64Array(COMMANDS * 4);
  readonly #previousRad: Float64Array;
  #previousSeq = 0;
  readonly #stateNs = new Float64Array(STATES).fill(Number.NaN);
  readonly #stateRad: Float64Array;
  #states = 0;
  /** Mean square of the difference of two states at rest, per joint. */
  readonly #restSquare: Float64Array;
  #resting = 0;

  constructor(joints: number) {
    this.#joints = joints;
    this.#previousRad = new Float64Array(joints);
    this.#stateRad = new Float64Array(STATES * joints);
    this.#restSquare = new Float64Array(joints);
  }

  /** In `seq` order. `moves` is false for commands that follow no hand. */
  command(seq: number, targetRad: ArrayLike<number>, moves: boolean): void {
    const at = (seq % COMMANDS) * 4;
    this.#steps[at] = 0;
    if (moves) this.#resting = 0;
    if (moves && this.#previousSeq === seq - 1) this.#keepStep(at, seq, targetRad);
    this.#previousSeq = moves ? seq : 0;
    for (let i = 0; i < this.#joints; i++) this.#previousRad[i] = targetRad[i]!;
  }

  /** A measured state in robot clock order; an older one starts over. */
  state(robotNs: number, measuredRad: ArrayLike<number>): void {
    const before = (this.#states + STATES - 1) % STATES;
    if (robotNs <= this.#stateNs[before]!) this.#stateNs.fill(Number.NaN);
    const at = this.#states % STATES;
    if (++this.#resting > REST_STATES) this.#learnNoise(before, measuredRad);
    this.#stateNs[at] = robotNs;
    for (let i = 0; i < this.#joints; i++) this.#stateRad[at * this.#joints + i] = measuredRad[i]!;
    this.#states++;
  }

  /** Sets `movedNs`; false while a later state may still decide. */
  resolve(record: TraceRecord): boolean {
    record.movedNs = Number.NaN;
    const step = (record.seq % COMMANDS) * 4;
    const wasApplied = record.outcome === APPLIED || record.outcome === LATE;
    if (!wasApplied || Number.isNaN(record.offsetNs) || this.#steps[step] !== record.seq) return true;
    const { appliedNs } = record;
    const newestNs = this.#stateNs[(this.#states + STATES - 1) % STATES]!;
    if (!(newestNs > appliedNs)) return false;
    let seenBefore = false;
    for (let back = Math.min(STATES, this.#states); back > 0; back--) {
      const at = (this.#states - back) % STATES;
      const ns = this.#stateNs[at]!;
      if (Number.isNaN(ns)) continue;
      const reached = this.#isPast(step, at);
      if (ns <= appliedNs) {
        seenBefore = !reached;
        continue;
      }
      if (!seenBefore) return true;
      if (ns - appliedNs > GIVE_UP_NS) return true;
      if (!reached) continue;
      record.movedNs = ns - record.offsetNs;
      return true;
    }
    return newestNs - appliedNs > GIVE_UP_NS;
  }

  #keepStep(at: number, seq: number, targetRad: ArrayLike<number>): void {
    let joint = -1;
    let largestRad = 0;
    for (let i = 0; i < this.#joints; i++) {
      const stepRad = Math.abs(targetRad[i]! - this.#previousRad[i]!);
      const noiseRad = NOISE_FACTOR * Math.sqrt(this.#restSquare[i]!);
      if (stepRad <= Math.max(MIN_STEP_RAD, noiseRad) || stepRad <= largestRad) continue;
      joint = i;
      largestRad = stepRad;
    }
    if (joint < 0) return;
    this.#steps[at] = seq;
    this.#steps[at + 1] = joint;
    this.#steps[at + 2] = (targetRad[joint]! + this.#previousRad[joint]!) / 2;
    this.#steps[at + 3] = Math.sign(targetRad[joint]! - this.#previousRad[joint]!);
  }

  #isPast(step: number, state: number): boolean {
    const rad = this.#stateRad[state * this.#joints + this.#steps[step + 1]!]!;
    return (rad - this.#steps[step + 2]!) * this.#steps[step + 3]! >= 0;
  }

  #learnNoise(before: number, measuredRad: ArrayLike<number>): void {
    for (let i = 0; i < this.#joints; i++) {
      const difference = measuredRad[i]! - this.#stateRad[before * this.#joints + i]!;
      this.#restSquare[i]! += NOISE_WEIGHT * (difference * difference - this.#restSquare[i]!);
    }
  }
}

const APPLIED = OUTCOMES.indexOf('applied');
const LATE = OUTCOMES.indexOf('late');
