import type { RobotModel } from '../../geometry/robot-model.ts';
import { PALM, spanM } from '../../hand/points.ts';
import { fingerTip, ROBOT_PALM_M, thumbTip } from './robot-fingers.ts';

const FINGERS = ['index', 'middle', 'ring', 'pinky'] as const;
const THUMB_TIP = 4;
/** The person's fingertips count as touching at this distance: the points lie inside the flesh. */
const TOUCH_M = 0.015;
/**
 * Beyond FAR_M from the thumb a finger keeps its geometric angles; between NEAR_M and FAR_M the change fades
 * in.
 */
const NEAR_M = 0.03;
const FAR_M = 0.07;
const ROUNDS = 12;
const DAMPING_M2 = 2e-5;
const STEP_RAD = 1e-4;
const MOST_STEP_RAD = 0.25;

/**
 * Adjusts the thumb and one finger so that the robot's tips are as far apart as the person's: a pinch closes.
 * Changes only the finger nearest to the thumb. Hot path: nothing allocates; one caller at a time.
 */
export interface FingertipFit {
  /** `pointsM`: 21 of them, right-handed. Changes `rad` in place, within the model's range. */
  fit(pointsM: Float64Array, isLeft: boolean, rad: Float64Array): void;
}

export function createFingertipFit(model: RobotModel): FingertipFit {
  return new Fit(model);
}

class Fit implements FingertipFit {
  readonly #min: Float64Array;
  readonly #max: Float64Array;
  /**
   * Indices of the thumb's abduction, first, second and third joint; and of each finger's abduction, MCP,
   * PIP.
   */
  readonly #thumb: readonly number[];
  readonly #fingers: readonly (readonly number[])[];
  readonly #person = new Float64Array(3);
  readonly #goal = new Float64Array(3);
  readonly #gap = new Float64Array(3);
  readonly #thumbTip = new Float64Array(3);
  readonly #fingerTip = new Float64Array(3);
  readonly #jacobian = new Float64Array(21);
  readonly #normal = new Float64Array(9);
  readonly #lambda = new Float64Array(3);

  constructor(model: RobotModel) {
    const at = (name: string) => model.joints.findIndex((joint) => joint.name === name);
    const isV2 = at('thumb_cmc') >= 0;
    const thumb = isV2 ? ['abd', 'cmc', 'mcp', 'dip'] : ['abd', 'mcp', 'pip', 'dip'];
    this.#thumb = thumb.map((part) => at(`thumb_${part}`));
    this.#fingers = FINGERS.map((finger) => ['abd', 'mcp', 'pip'].map((part) => at(`${finger}_${part}`)));
    this.#min = Float64Array.from(model.joints, ({ minRad }) => minRad);
    this.#max = Float64Array.from(model.joints, ({ maxRad }) => maxRad);
  }

  fit(pointsM: Float64Array, isLeft: boolean, rad: Float64Array): void {
    const finger = nearestFinger(pointsM);
    const apartM = spanM(pointsM, THUMB_TIP, tipOf(finger));
    const share = smooth((FAR_M - apartM) / (FAR_M - NEAR_M));
    if (share === 0) return;
    tipVector(pointsM, isLeft, tipOf(finger), this.#person);
    const scale =
      (ROBOT_PALM_M / spanM(pointsM, PALM.wrist, PALM.middle)) * (Math.max(0, apartM - TOUCH_M) / apartM);
    this.#measure(finger, rad);
    for (let k = 0; k < 3; k++)
      this.#goal[k] = this.#gap[k]! + share * (scale * this.#person[k]! - this.#gap[k]!);
    for (let round = 0; round < ROUNDS; round++) this.#step(finger, rad);
  }

  /** From the thumb's tip to the finger's. */
  #measure(finger: number, rad: Float64Array): void {
    const [t, f] = [this.#thumb, this.#fingers[finger]!];
    thumbTip(rad[t[0]!]!, rad[t[1]!]!, rad[t[2]!]!, rad[t[3]!]!, this.#thumbTip);
    fingerTip(finger, rad[f[0]!]!, rad[f[1]!]!, rad[f[2]!]!, this.#fingerTip);
    for (let k = 0; k < 3; k++) this.#gap[k] = this.#fingerTip[k]! - this.#thumbTip[k]!;
  }

  /** Damped least squares: the smallest change of seven joints that removes the remaining difference. */
  #step(finger: number, rad: Float64Array): void {
    const [jacobian, gap] = [this.#jacobian, this.#gap];
    for (let j = 0; j < 7; j++) {
      const at = this.#joint(finger, j);
      const before = rad[at]!;
      rad[at] = before + STEP_RAD;
      this.#measure(finger, rad);
      rad[at] = before - STEP_RAD;
      for (let k = 0; k < 3; k++) jacobian[3 * j + k] = gap[k]!;
      this.#measure(finger, rad);
      rad[at] = before;
      for (let k = 0; k < 3; k++) jacobian[3 * j + k] = (jacobian[3 * j + k]! - gap[k]!) / (2 * STEP_RAD);
    }
    this.#measure(finger, rad);
    this.#solve();
    for (let j = 0; j < 7; j++) {
      let change = 0;
      for (let k = 0; k < 3; k++) change += jacobian[3 * j + k]! * this.#lambda[k]!;
      const at = this.#joint(finger, j);
      const moved = rad[at]! + Math.min(MOST_STEP_RAD, Math.max(-MOST_STEP_RAD, change));
      rad[at] = Math.min(this.#max[at]!, Math.max(this.#min[at]!, moved));
    }
  }

  #joint(finger: number, j: number): number {
    return j < 4 ? this.#thumb[j]! : this.#fingers[finger]![j - 4]!;
  }

  /** (J Jᵀ + μ) λ = goal − gap, by Cramer's rule. */
  #solve(): void {
    const [m, j] = [this.#normal, this.#jacobian];
    for (let a = 0; a < 3; a++)
      for (let b = 0; b < 3; b++) {
        m[3 * a + b] = a === b ? DAMPING_M2 : 0;
        for (let i = 0; i < 7; i++) m[3 * a + b]! += j[3 * i + a]! * j[3 * i + b]!;
      }
    const x = this.#goal[0]! - this.#gap[0]!;
    const y = this.#goal[1]! - this.#gap[1]!;
    const z = this.#goal[2]! - this.#gap[2]!;
    const det = det3(m[0]!, m[1]!, m[2]!, m[3]!, m[4]!, m[5]!, m[6]!, m[7]!, m[8]!);
    this.#lambda[0] = det3(x, m[1]!, m[2]!, y, m[4]!, m[5]!, z, m[7]!, m[8]!) / det;
    this.#lambda[1] = det3(m[0]!, x, m[2]!, m[3]!, y, m[5]!, m[6]!, z, m[8]!) / det;
    this.#lambda[2] = det3(m[0]!, m[1]!, x, m[3]!, m[4]!, y, m[6]!, m[7]!, z) / det;
  }
}

function det3(
  a: number,
  b: number,
  c: number,
  d: number,
  e: number,
  f: number,
  g: number,
  h: number,
  i: number,
): number {
  return a * (e * i - f * h) - b * (d * i - f * g) + c * (d * h - e * g);
}

const tipOf = (finger: number): number => 8 + 4 * finger;

function nearestFinger(pointsM: Float64Array): number {
  let nearest = 0;
  for (let finger = 1; finger < FINGERS.length; finger++)
    if (spanM(pointsM, THUMB_TIP, tipOf(finger)) < spanM(pointsM, THUMB_TIP, tipOf(nearest)))
      nearest = finger;
  return nearest;
}

function smooth(share: number): number {
  const t = Math.min(1, Math.max(0, share));
  return t * t * (3 - 2 * t);
}

const [axisX, axisY, axisZ] = [new Float64Array(3), new Float64Array(3), new Float64Array(3)];

/** From the thumb's tip to another, in the palm's frame; a left hand as its mirror image. */
function tipVector(p: Float64Array, isLeft: boolean, tip: number, out: Float64Array): void {
  const mirror = isLeft ? -1 : 1;
  const bone = (a: number, b: number, to: Float64Array) => {
    for (let k = 0; k < 3; k++) to[k] = (k === 0 ? mirror : 1) * (p[3 * b + k]! - p[3 * a + k]!);
  };
  bone(PALM.wrist, PALM.middle, axisY);
  unit(axisY);
  bone(PALM.pinky, PALM.index, axisX);
  cross(axisX, axisY, axisZ);
  unit(axisZ);
  cross(axisY, axisZ, axisX);
  bone(THUMB_TIP, tip, out);
  const [x, y, z] = [dot(out, axisX), dot(out, axisY), dot(out, axisZ)];
  out[0] = x;
  out[1] = y;
  out[2] = z;
}

const dot = (a: Float64Array, b: Float64Array): number => a[0]! * b[0]! + a[1]! * b[1]! + a[2]! * b[2]!;

function unit(v: Float64Array): void {
  const length = Math.sqrt(dot(v, v));
  for (let k = 0; k < 3; k++) v[k]! /= length;
}

function cross(a: Float64Array, b: Float64Array, out: Float64Array): void {
  out[0] = a[1]! * b[2]! - a[2]! * b[1]!;
  out[1] = a[2]! * b[0]! - a[0]! * b[2]!;
  out[2] = a[0]! * b[1]! - a[1]! * b[0]!;
}
