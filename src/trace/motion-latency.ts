import { NS_PER_MS } from '../core/time/clock.ts';

/**
 * How far the measured joints lag behind the commanded ones, and how similar the motions are (1: identical).
 */
export interface MotionLatency {
  latencyNs: number;
  /** Correlation at that lag, 0 … 1. */
  confidence: number;
}

const GRID_NS = 5 * NS_PER_MS;
const WINDOW = 600; // grid steps: 3 s of motion
/** Lags from slightly below 0, so that a peak near 0 has two sides, to 600 ms. */
const BELOW = 4;
const LAGS = 125;
const HISTORY = 8192;
/** Speeds are differences over this many grid steps to either side. */
const REACH = 2;
const MIN_SPEED_RAD_S = 0.02;
const MIN_CONFIDENCE = 0.8;
/** A second lag that fits nearly as well makes the result ambiguous. */
const MAX_RIVAL = 0.97;

/**
 * Compares the commanded with the measured motion: finds the lag at which their speeds correlate best, over
 * the last three seconds and all joints, and interpolates the peak between grid points with a parabola. Run
 * it off the control thread: an estimate takes about a millisecond.
 */
export class MotionCorrelator {
  readonly #joints: number;
  readonly #commands: Series;
  readonly #states: Series;

  constructor(joints: number) {
    this.#joints = joints;
    this.#commands = new Series(joints);
    this.#states = new Series(joints);
  }

  /** `operatorNs`: when its hand was sampled, operator clock. */
  command(operatorNs: number, targetRad: ArrayLike<number>): void {
    this.#commands.push(operatorNs, targetRad);
  }

  /** Also on the operator's clock. */
  state(operatorNs: number, measuredRad: ArrayLike<number>): void {
    this.#states.push(operatorNs, measuredRad);
  }

  /** Commands that follow no hand carry no information: forget everything before them. */
  clear(): void {
    this.#commands.clear();
  }

  /** Null without enough motion, or if the measured motion fits more than one lag. */
  estimate(): MotionLatency | null {
    const endNs = Math.min(this.#states.lastNs, this.#commands.lastNs) - BELOW * GRID_NS;
    const startNs = endNs - (WINDOW + 2 * REACH) * GRID_NS;
    const earliestNs = startNs - (LAGS - BELOW) * GRID_NS;
    if (!(this.#commands.firstNs <= earliestNs) || !(this.#states.firstNs <= startNs)) return null;
    const correlation = new Float64Array(LAGS);
    const energy = new Float64Array(LAGS);
    let measuredEnergy = 0;
    for (let joint = 0; joint < this.#joints; joint++) {
      const measured = this.#states.speeds(joint, startNs, WINDOW);
      const commanded = this.#commands.speeds(joint, earliestNs, WINDOW + LAGS);
      measuredEnergy += correlate(commanded, measured, correlation, energy);
    }
    for (let lag = 0; lag < LAGS; lag++) {
      const least = WINDOW * MIN_SPEED_RAD_S ** 2;
      const isMoving = energy[lag]! > least && measuredEnergy > least;
      correlation[lag] = isMoving ? correlation[lag]! / Math.sqrt(energy[lag]! * measuredEnergy) : 0;
    }
    return peakOf(correlation);
  }
}

/** Adds one joint's covariance at each lag, and the commanded energy there; returns the measured energy. */
function correlate(
  commanded: Float64Array,
  measured: Float64Array,
  covariance: Float64Array,
  energy: Float64Array,
): number {
  const mean = measured.reduce((sum, x) => sum + x, 0) / WINDOW;
  let measuredEnergy = 0;
  for (let i = 0; i < WINDOW; i++) {
    measured[i]! -= mean;
    measuredEnergy += measured[i]! * measured[i]!;
  }
  for (let lag = 0; lag < LAGS; lag++) {
    const from = LAGS - lag;
    let sum = 0;
    let squares = 0;
    let product = 0;
    for (let i = 0; i < WINDOW; i++) {
      const x = commanded[from + i]!;
      sum += x;
      squares += x * x;
      product += x * measured[i]!;
    }
    covariance[lag]! += product;
    energy[lag]! += squares - (sum * sum) / WINDOW;
  }
  return measuredEnergy;
}

function peakOf(correlation: Float64Array): MotionLatency | null {
  let best = 0;
  for (let lag = 1; lag < LAGS; lag++) if (correlation[lag]! > correlation[best]!) best = lag;
  const peak = correlation[best]!;
  const atEdge = best === 0 || best === LAGS - 1;
  if (peak < MIN_CONFIDENCE || atEdge || hasRival(correlation, best)) return null;
  const [before, after] = [correlation[best - 1]!, correlation[best + 1]!];
  const shift = (0.5 * (before - after)) / (before - 2 * peak + after);
  return { latencyNs: (best - BELOW + shift) * GRID_NS, confidence: Math.min(1, peak) };
}

/** Another local maximum that fits nearly as well: a repeating motion. */
function hasRival(correlation: Float64Array, best: number): boolean {
  for (let lag = 1; lag < LAGS - 1; lag++) {
    const value = correlation[lag]!;
    const isPeak = value >= correlation[lag - 1]! && value >= correlation[lag + 1]!;
    if (Math.abs(lag - best) > 2 && isPeak && value > MAX_RIVAL * correlation[best]!) return true;
  }
  return false;
}

/** The newest joint angles with their times. */
class Series {
  readonly #joints: number;
  readonly #ns = new Float64Array(HISTORY);
  readonly #rad: Float64Array;
  #count = 0;

  constructor(joints: number) {
    this.#joints = joints;
    this.#rad = new Float64Array(HISTORY * joints);
  }

  get lastNs(): number {
    return this.#count === 0 ? Number.NaN : this.#ns[(this.#count - 1) % HISTORY]!;
  }

  get firstNs(): number {
    return this.#count === 0 ? Number.NaN : this.#ns[Math.max(0, this.#count - HISTORY) % HISTORY]!;
  }

  clear(): void {
    this.#count = 0;
  }

  /** Starts over if time does not increase. */
  push(ns: number, rad: ArrayLike<number>): void {
    if (!Number.isFinite(ns)) return;
    if (ns <= this.lastNs) this.clear();
    const at = this.#count++ % HISTORY;
    this.#ns[at] = ns;
    for (let i = 0; i < this.#joints; i++) this.#rad[at * this.#joints + i] = rad[i]!;
  }

  /** Speed of a joint at `count` grid points from `startNs` on, in rad/s. */
  speeds(joint: number, startNs: number, count: number): Float64Array {
    const rad = new Float64Array(count + 2 * REACH);
    let at = Math.max(0, this.#count - HISTORY);
    for (let i = 0; i < rad.length; i++) {
      const ns = startNs + i * GRID_NS;
      while (at + 2 < this.#count && this.#ns[(at + 1) % HISTORY]! < ns) at++;
      const [a, b] = [at % HISTORY, (at + 1) % HISTORY];
      const share = (ns - this.#ns[a]!) / (this.#ns[b]! - this.#ns[a]!);
      const fromRad = this.#rad[a * this.#joints + joint]!;
      rad[i] = fromRad + Math.min(1, share) * (this.#rad[b * this.#joints + joint]! - fromRad);
    }
    const spanS = (2 * REACH * GRID_NS) / 1e9;
    return Float64Array.from({ length: count }, (_, i) => (rad[i + 2 * REACH]! - rad[i]!) / spanS);
  }
}
