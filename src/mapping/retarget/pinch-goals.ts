import type { HandChains } from '../../geometry/hand-chains.ts';
import type { Person } from '../../messages/person.ts';
import type { FingerTargets } from './finger-targets.ts';
import { GapFilter } from './gap-filter.ts';

/** Person's distance from thumb to fingertip, for a palm of MEAN_PALM_M, over which a pinch forms. */
const NEAR_M = 0.025;
const FAR_M = 0.06;
const MEAN_PALM_M = 0.095;
/** The same distance, over which the gap is steadied by itself: only fingers that are about to touch slow down. */
const TOUCHING_M = 0.018;
const APART_M = 0.026;
/** Bend of a finger over which a pinch becomes a fist. */
const FIST_FROM_RAD = 2.6;
const FIST_RAD = 3.3;
const CHANGE_PER_S = 10;
/** Least gain of the running mean of the palm's length, which does not change while a hand is tracked. */
const PALM_GAIN = 0.01;
/** Weight of the vector thumb → tip away from a pinch and in it. */
const FAR_WEIGHT = 0.25;
const NEAR_WEIGHT = 10;
/** Distance of the robot's tip points when its pads touch, for a person whose touch was measured. */
const CONTACT_M = 0.012;

const TIPS = { thumb: 12, index: 24, middle: 36, ring: 48, pinky: 60 } as const;

/**
 * Vectors from the robot's thumb tip to its other tips: in a pinch the person's own, in metres; otherwise the
 * difference of the tips' targets. Hot path: nothing allocates; one caller at a time.
 */
export class PinchGoals {
  readonly vectorsM: Float64Array;
  readonly weights: Float64Array;
  /** How far each finger is in a pinch, 0 … 1; the thumb: as far as any. */
  readonly pinch: Float64Array;
  readonly #fingers: number;
  readonly #tips: Int32Array;
  readonly #shiftM: Float64Array;
  readonly #filter: GapFilter | null;
  /** Measured distances from the thumb's tip, by finger. */
  readonly #seenM: Float64Array;
  /** Mean length of the person's palm, and the gain of the last one. */
  readonly #palm = new Float64Array(2);
  #started = false;

  constructor(chains: HandChains, { touchM }: Person, filtered: boolean) {
    this.#fingers = chains.fingers;
    this.#filter = filtered ? new GapFilter(chains.fingers) : null;
    this.#seenM = new Float64Array(chains.fingers);
    const names = chains.hand.fingers.map(({ name }) => name);
    this.#tips = Int32Array.from(names, (name) => TIPS[name]);
    this.#shiftM = Float64Array.from(names, (name) => {
      const touch = touchM?.[TIPS[name] / 12 - 2];
      return touch === undefined ? 0 : CONTACT_M - touch;
    });
    this.vectorsM = new Float64Array(3 * this.#fingers);
    this.weights = new Float64Array(this.#fingers);
    this.pinch = new Float64Array(this.#fingers);
  }

  reset(): void {
    this.#started = false;
    this.#filter?.reset();
  }

  /** Before `take`: `pointsM` as measured, unfiltered. */
  measure(pointsM: Float64Array, dtS: Float64Array): void {
    for (let f = 1; f < this.#fingers; f++) {
      const tip = this.#tips[f]!;
      const x = pointsM[tip]! - pointsM[12]!;
      const y = pointsM[tip + 1]! - pointsM[13]!;
      const z = pointsM[tip + 2]! - pointsM[14]!;
      this.#seenM[f] = Math.sqrt(x * x + y * y + z * z);
    }
    this.#filter?.apply(this.#seenM, dtS);
  }

  /** `pointsM`: the person's, in the robot's palm, before corrections. */
  take(pointsM: Float64Array, palmM: Float64Array, targets: FingerTargets, dtS: Float64Array): void {
    this.#measurePalm(palmM);
    this.pinch[0] = 0;
    for (let f = 1; f < this.#fingers; f++) {
      this.#aim(f, pointsM, targets, dtS);
      if (this.pinch[f]! > this.pinch[0]!) this.pinch[0] = this.pinch[f]!;
    }
    this.#started = true;
  }

  /** Noise of the palm must not look like a pinch that opens and closes. */
  #measurePalm(palmM: Float64Array): void {
    const palm = this.#palm;
    palm[1] = this.#started && this.#filter !== null ? Math.max(PALM_GAIN, palm[1]! / (1 + palm[1]!)) : 1;
    palm[0]! += palm[1]! * (palmM[0]! - palm[0]!);
  }

  #aim(f: number, p: Float64Array, targets: FingerTargets, dtS: Float64Array): void {
    const tip = this.#tips[f]!;
    const dx = p[tip]! - p[12]!;
    const dy = p[tip + 1]! - p[13]!;
    const dz = p[tip + 2]! - p[14]!;
    const apartM = Math.sqrt(dx * dx + dy * dy + dz * dz);
    const sizedM = (apartM * MEAN_PALM_M) / this.#palm[0]!;
    const near = clampedShare((FAR_M - sizedM) / (FAR_M - NEAR_M));
    const open = clampedShare((FIST_RAD - targets.bendRad[f]!) / (FIST_RAD - FIST_FROM_RAD));
    let pinch = near * near * (3 - 2 * near) * open * open * (3 - 2 * open);
    const most = CHANGE_PER_S * dtS[0]!;
    if (this.#started) pinch = Math.min(this.pinch[f]! + most, Math.max(this.pinch[f]! - most, pinch));
    this.pinch[f] = pinch;
    this.weights[f] = FAR_WEIGHT * (NEAR_WEIGHT / FAR_WEIGHT) ** pinch;
    const close = this.#filter === null ? 0 : clampedShare((APART_M - sizedM) / (APART_M - TOUCHING_M));
    const touching = close * pinch ** 4;
    const gapM = touching === 0 ? apartM : apartM + touching * (this.#filter!.gapsM[f]! - apartM);
    const goalM = this.#shiftM[f] === 0 ? gapM : Math.max(0.2 * CONTACT_M, gapM + this.#shiftM[f]!);
    const scale = goalM / Math.max(1e-6, apartM);
    const t = targets.tipsM;
    this.vectorsM[3 * f] = pinch * scale * dx + (1 - pinch) * (t[3 * f]! - t[0]!);
    this.vectorsM[3 * f + 1] = pinch * scale * dy + (1 - pinch) * (t[3 * f + 1]! - t[1]!);
    this.vectorsM[3 * f + 2] = pinch * scale * dz + (1 - pinch) * (t[3 * f + 2]! - t[2]!);
  }
}

const clampedShare = (value: number): number => Math.min(1, Math.max(0, value));
