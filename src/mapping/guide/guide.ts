import { TRANSFORM_SIZE } from '../../geometry/chain.ts';
import { matrixFromQuat, quatFromMatrix, rotvecFromQuat } from '../../geometry/frames.ts';
import { neighbourCapsules } from '../../geometry/pairings.ts';
import type { RobotModel } from '../../geometry/robot-model.ts';
import { LIMITED_BY, type LimitedBy } from '../../messages/robot-state.ts';
import { ArmPose } from './arm-pose.ts';
import { Clearances, type GuideSurroundings } from './clearances.ts';
import { ContactDirections } from './contact-directions.ts';
import { QuadraticProgram } from './quadratic-program.ts';
import { distanceM, type Reach, reachOf } from './reach.ts';
import { Shoulder } from './shoulder.ts';
import { WristBranch } from './wrist-branch.ts';
import { type RateLimits, WRIST_JOINTS, WristRates } from './wrist-rates.ts';

/** The limits of each joint are as the robot keeps them. */
export interface GuideOptions extends RateLimits {
  /** The frame whose origin follows the hand's position; the flange follows its orientation. */
  lead: number;
  around: GuideSurroundings;
}

const MAX_STEPS = 4;
/** A step below this ends the iteration. */
const CONVERGED_RAD = 1e-6;
/** Largest part of the error taken in one step. */
const MAX_STEP_M = 0.04;
const MAX_STEP_RAD = 0.3;
/** Square of the length that one radian of orientation is worth. */
const ORIENTATION = 1e-3;
/** With a larger error of orientation than this, position counts for more. */
const YIELDING_RAD = 0.02;
const POSTURE = 1e-6;
/** The posture of an arm with a spare joint approaches home over this much motion of the hand. */
const HOMING_M = 0.3;
const DAMPING = 1e-6;
/** Damping per square of the error: a target out of reach must not make the joints chatter. */
const RESIDUAL_DAMPING = 0.5;
/**
 * Damping while the arm is far behind. Twenty times the weight of orientation, which then takes twenty samples, and
 * little beside that of position: no joint has to hurry for the orientation's sake.
 */
const HASTE_DAMPING = 0.02;
/** Clearances above this are not looked at. */
const NEAR_M = 0.2;
/** A clearance shrinks towards its margin with this time constant. */
const APPROACH_S = 0.03;
/** Fastest change of the arm's first joints, so that a leap of the hand stays a motion. */
const FAST_RAD_S = 15;
/** Errors below these count as followed. */
const FOLLOWED_M = 5e-4;
const FOLLOWED_RAD = 0.01;
/** Pressed on the arm's own base, the tool may turn by as much as this to keep the point with the hand. */
const BASE_YIELD_RAD = 0.6;
/** Square of the least part of a direction that is worth anything. */
const LEAST_PART = 0.04;
const ROUNDS = 3;
const REACH = -2;
const SHOULDER = -3;

/**
 * Geometry of a guided motion: each hand pose becomes one joint pose. The guided point takes the nearest place it can:
 * at a limit, the motion into it stops and the rest goes on; orientation gives way before position; the arm stays on its
 * branch. A small quadratic program per step. Knows no time but the spacing of the samples. Hot path: nothing allocates.
 */
export class Guide {
  /** The joint pose of the last hand pose. */
  readonly qRad: Float64Array;
  /** What keeps the point from where the hand asks it to be, and in which direction (base frame). */
  limitedBy: LimitedBy = '';
  readonly towards = new Float64Array(3);
  readonly #options: GuideOptions;
  readonly #pose: ArmPose;
  readonly #clearances: Clearances;
  readonly #program: QuadraticProgram;
  readonly #wrist: WristBranch;
  readonly #reach: Reach | null;
  readonly #shoulder: Shoulder;
  readonly #homeRad: Float64Array | null;
  /** Where the spare joint is drawn to: from the pose it began in to home, as far as the hand has moved. */
  readonly #postureRad: Float64Array;
  readonly #lastM = new Float64Array(3);
  /** How far the hand has moved since the last sample. */
  #movedM = 0;
  readonly #rates: WristRates;
  readonly #lowM: Float64Array;
  readonly #lowRad: Float64Array;
  readonly #fromRad: Float64Array;
  readonly #highRad: Float64Array;
  readonly #placeM = new Float64Array(3);
  readonly #wantedRotation = new Float64Array(9);
  readonly #relative = new Float64Array(9);
  readonly #quat = new Float64Array(4);
  /** Errors of position and orientation, and the position's before projection. */
  readonly #errorM = new Float64Array(3);
  readonly #errorRad = new Float64Array(3);
  readonly #missedM = new Float64Array(3);
  /** All of the error of orientation. */
  #turnedRad = 0;
  /** What a contact takes off without the motion that it does not hinder. */
  readonly #aside = new Float64Array(3);
  readonly #moving: Float64Array;
  readonly #turning: Float64Array;
  readonly #stretch = new Float64Array(3);
  /** Per clearance, and last for reach. */
  readonly #directions: ContactDirections;
  /** Room below full stretch: now, and the least allowed. */
  #reachM = 0;
  #leastReachM = 0;
  #elbowSide: 1 | -1 = 1;
  /** The clearance that took most off the motion; −1: none, or one of the limits below. */
  #pressed = -1;
  #pressedM = 0;

  constructor(model: RobotModel, options: GuideOptions) {
    const joints = model.joints.length;
    this.#options = options;
    this.#pose = new ArmPose(model, neighbourCapsules(options.around.neighbour).length);
    this.#clearances = new Clearances(model, this.#pose, options.lead, options.around);
    this.#program = new QuadraticProgram(joints, this.#clearances.size + 2 * joints + 1);
    this.#wrist = new WristBranch(model);
    this.#reach = reachOf(model, options.lead);
    this.#shoulder = new Shoulder(model, this.#pose, this.#reach?.wrist ?? null);
    this.#homeRad = joints > 6 ? Float64Array.from(model.homeRad) : null;
    this.#postureRad = new Float64Array(joints);
    this.#rates = new WristRates(joints, options, this.#wrist.isNarrow ? 1 : 2);
    this.qRad = Float64Array.from(model.homeRad);
    this.#lowM = new Float64Array(this.#clearances.size);
    this.#directions = new ContactDirections(this.#clearances.size + 1);
    this.#lowRad = new Float64Array(joints);
    this.#fromRad = new Float64Array(joints);
    this.#highRad = new Float64Array(joints);
    this.#moving = new Float64Array(3 * joints);
    this.#turning = new Float64Array(3 * joints);
  }

  /** Begins at this pose; its branch is kept. */
  engage(qRad: ArrayLike<number>): void {
    for (let i = 0; i < this.qRad.length; i++) this.qRad[i] = qRad[i]!;
    this.#wrist.engage(qRad);
    const reach = this.#reach;
    this.#pose.set(this.qRad);
    this.#shoulder.engage();
    if (reach !== null) this.#elbowSide = qRad[reach.elbow]! < reach.straightRad ? -1 : 1;
    this.limitedBy = '';
    this.#postureRad.set(this.qRad);
    this.#lastM.fill(Number.NaN);
    this.#directions.engage();
    this.#rates.engage();
  }

  /** Joint positions of the other arm; NaN: unknown. */
  neighbourAt(qRad: ArrayLike<number>): void {
    this.#clearances.neighbourAt(qRad);
  }

  /** Moves to the pose nearest to this one, `dtS` after the last. The quaternion is a unit one. */
  follow(positionM: Float64Array, quatXyzw: Float64Array, dtS: number): void {
    this.#placeM.set(positionM);
    this.#movedM = this.#moved();
    this.#drawHome();
    matrixFromQuat(quatXyzw, this.#wantedRotation);
    this.#rates.turn(quatXyzw, dtS);
    if (this.#rates.isTrailing) this.#foresee(dtS);
    this.#bound(dtS);
    this.#fromRad.set(this.qRad);
    for (let step = 0; step < MAX_STEPS; step++) {
      this.#measure();
      if (step === 0) {
        this.#damp(dtS);
        // Met from one side, the arm's own base and shoulder must not hold the tool there.
        const { away, isBase, isShoulder } = this.#clearances;
        this.#directions.roll(isBase, away, this.#movedM);
        this.#directions.roll(isShoulder, away, this.#movedM * this.#clearances.shoulderNearness);
      }
      this.#aim();
      this.#project();
      this.#state();
      if (!this.#program.solve()) this.#relent();
      const { x } = this.#program;
      let largest = 0;
      for (let i = 0; i < x.length; i++) {
        this.qRad[i] = Math.max(this.#lowRad[i]!, Math.min(this.#highRad[i]!, this.qRad[i]! + x[i]!));
        largest = Math.max(largest, Math.abs(x[i]!));
      }
      if (largest < CONVERGED_RAD) break;
    }
    this.#rates.pace(this.#fromRad, this.qRad, dtS, this.#lowRad, this.#highRad);
    this.#explain();
    this.#directions.age();
  }

  /** The wrist cannot go on turning, even slower, and stay clear: it may stop at once. */
  #relent(): void {
    for (let i = 0; i < this.qRad.length; i++) {
      this.#lowRad[i] = Math.min(this.#lowRad[i]!, this.#fromRad[i]!);
      this.#highRad[i] = Math.max(this.#highRad[i]!, this.#fromRad[i]!);
    }
    this.#state();
    this.#program.solve();
  }

  /** Where a trailing wrist would be without bounds on its rates. */
  #foresee(dtS: number): void {
    const { minRad, maxRad } = this.#options;
    for (let i = 0; i < this.qRad.length; i++) {
      this.#lowRad[i] = Math.min(minRad[i]!, this.qRad[i]!);
      this.#highRad[i] = Math.max(maxRad[i]!, this.qRad[i]!);
    }
    this.#measure();
    this.#damp(dtS);
    this.#aim();
    this.#project();
    this.#state();
    this.#program.solve();
    this.#rates.aim(this.qRad, this.#program.x, dtS);
  }

  #moved(): number {
    let square = 0;
    for (let i = 0; i < 3; i++) square += (this.#placeM[i]! - this.#lastM[i]!) ** 2;
    this.#lastM.set(this.#placeM);
    return square > 0 ? Math.sqrt(square) : 0;
  }

  /** A spare joint moves only while the hand does: a still hand moves nothing. */
  #drawHome(): void {
    if (this.#homeRad === null) return;
    const share = Math.min(1, this.#movedM / HOMING_M);
    for (let i = 0; i < this.qRad.length; i++)
      this.#postureRad[i]! += share * (this.#homeRad[i]! - this.#postureRad[i]!);
  }

  /** What the joints may do until this sample. A joint found outside its range may stay or come back. */
  #bound(dtS: number): void {
    const { minRad, maxRad } = this.#options;
    const shrinks = 1 - Math.exp(-dtS / APPROACH_S);
    for (let i = 0; i < this.qRad.length; i++) {
      const now = this.qRad[i]!;
      const up = Math.min(FAST_RAD_S * dtS, shrinks * Math.max(0, maxRad[i]! - now));
      const down = Math.min(FAST_RAD_S * dtS, shrinks * Math.max(0, now - minRad[i]!));
      this.#lowRad[i] = Math.max(Math.min(minRad[i]!, now), now - down);
      this.#highRad[i] = Math.min(Math.max(maxRad[i]!, now), now + up);
    }
    this.#rates.bound(this.qRad, dtS, this.#wrist.weight > 0, this.#lowRad, this.#highRad);
    this.#keepElbow();
  }

  /** The elbow stays on its side of straight. */
  #keepElbow(): void {
    const reach = this.#reach;
    if (reach === null) return;
    const { elbow, straightRad, elbowRad } = reach;
    const now = this.qRad[elbow]!;
    const edge = straightRad + this.#elbowSide * elbowRad;
    if (this.#elbowSide > 0) this.#lowRad[elbow] = Math.max(this.#lowRad[elbow]!, Math.min(edge, now));
    else this.#highRad[elbow] = Math.min(this.#highRad[elbow]!, Math.max(edge, now));
  }

  #measure(): void {
    this.#pose.set(this.qRad);
    this.#pose.placeCapsules();
    this.#clearances.measure();
    this.#shoulder.measure();
    this.#jacobians();
    if (this.#reach === null) return;
    const { shoulder, wrist, mostM } = this.#reach;
    const spanM = distanceM(this.#pose, shoulder, wrist);
    const { axes } = this.#pose;
    for (let i = 0; i < 3; i++)
      this.#stretch[i] = (axes[shoulder * 6 + 3 + i]! - axes[wrist * 6 + 3 + i]!) / Math.max(spanM, 1e-6);
    this.#reachM = mostM - spanM;
  }

  /** How far each clearance may shrink until this sample. */
  #damp(dtS: number): void {
    const kept = Math.exp(-dtS / APPROACH_S);
    const { nowM, marginM } = this.#clearances;
    for (let k = 0; k < nowM.length; k++) {
      const roomM = nowM[k]! - marginM[k]!;
      this.#lowM[k] = roomM > 0 ? marginM[k]! + kept * roomM : nowM[k]!;
    }
    this.#shoulder.damp(kept);
    this.#leastReachM = this.#reachM > 0 ? kept * this.#reachM : this.#reachM;
  }

  /** Errors of the guided point and the flange's rotation. */
  #aim(): void {
    const { frames } = this.#pose;
    const lead = this.#options.lead * TRANSFORM_SIZE;
    for (let i = 0; i < 3; i++) this.#errorM[i] = this.#placeM[i]! - frames[lead + 4 * i + 3]!;
    shorten(this.#errorM, MAX_STEP_M);
    const flange = this.qRad.length * TRANSFORM_SIZE;
    const wanted = this.#wantedRotation;
    for (let i = 0; i < 3; i++)
      for (let k = 0; k < 3; k++)
        this.#relative[3 * i + k] =
          wanted[3 * i]! * frames[flange + 4 * k]! +
          wanted[3 * i + 1]! * frames[flange + 4 * k + 1]! +
          wanted[3 * i + 2]! * frames[flange + 4 * k + 2]!;
    quatFromMatrix(this.#relative, this.#quat);
    rotvecFromQuat(this.#quat, this.#errorRad);
    this.#turnedRad = Math.sqrt(square(this.#errorRad));
    shorten(this.#errorRad, MAX_STEP_RAD);
  }

  /**
   * Takes off the part of the motion that presses the tool on something firm. Otherwise the program would tilt the tool
   * to bring the point closer. On the arm's own base it may, within bounds: what it meets there is askew to the hand.
   */
  #project(): void {
    const { nowM, away, isFirm } = this.#clearances;
    const error = this.#errorM;
    this.#missedM.set(error);
    this.#pressed = -1;
    this.#pressedM = 0;
    for (let round = 0; round < ROUNDS; round++) {
      for (let k = 0; k < nowM.length; k++)
        if (isFirm[k] === 1 && nowM[k]! < NEAR_M) {
          const least = Math.min(0, this.#lowM[k]! - nowM[k]!);
          if (this.#clearances.isShoulder[k] === 0) this.#takeOff(away, k * 3, least, k);
          else if (this.#leaveTurning(away, k * 3)) this.#takeOff(this.#aside, 0, least, k);
        }
      if (this.#reach !== null)
        this.#takeOff(this.#stretch, 0, Math.min(0, this.#leastReachM - this.#reachM), REACH);
    }
    for (let i = 0; i < 3; i++) this.#missedM[i]! -= error[i]!;
  }

  /** The shoulder turns with the first joint: near it, motion round the base's axis is left. False: nothing else is. */
  #leaveTurning(normals: Float64Array, at: number): boolean {
    const round = this.#moving;
    const leverM2 = dot3(round, 0, round, 0);
    const nearness = this.#clearances.shoulderNearness;
    const share = leverM2 > 0 ? (nearness * dot3(round, 0, normals, at)) / leverM2 : 0;
    for (let i = 0; i < 3; i++) this.#aside[i] = normals[at + i]! - share * round[i]!;
    const part = square(this.#aside);
    if (part < LEAST_PART) return false;
    for (let i = 0; i < 3; i++) this.#aside[i]! /= Math.sqrt(part);
    return true;
  }

  #takeOff(normals: Float64Array, at: number, least: number, which: number): void {
    const error = this.#errorM;
    const along = error[0]! * normals[at]! + error[1]! * normals[at + 1]! + error[2]! * normals[at + 2]!;
    if (along >= least) return;
    const slot = which < 0 ? this.#clearances.size : which;
    const yields = which >= 0 && this.#clearances.isBase[which] === 1;
    const firmness = yields ? Math.min(1, this.#turnedRad / BASE_YIELD_RAD) : 1;
    const offM = (firmness * (least - along)) / this.#directions.touch(slot, normals, at);
    const { away } = this.#directions;
    for (let i = 0; i < 3; i++) error[i]! += offM * away[3 * slot + i]!;
    if (offM <= this.#pressedM) return;
    this.#pressed = which;
    this.#pressedM = offM;
  }

  /** States the program of one step. */
  #state(): void {
    this.#cost();
    const program = this.#program;
    const { qRad } = this;
    program.rows = 0;
    for (let i = 0; i < qRad.length; i++) {
      program.c[program.row() + i] = 1;
      program.b[program.rows - 1] = this.#lowRad[i]! - qRad[i]!;
      program.c[program.row() + i] = -1;
      program.b[program.rows - 1] = qRad[i]! - this.#highRad[i]!;
    }
    const { nowM } = this.#clearances;
    for (let k = 0; k < nowM.length; k++) {
      if (nowM[k]! >= NEAR_M) continue;
      const at = program.row();
      program.b[program.rows - 1] = Math.min(0, this.#lowM[k]! - nowM[k]!);
      this.#rowOf[program.rows - 1] = k;
      this.#clearances.gradient(k, program.c, at);
    }
    const { roomM, leastM } = this.#shoulder;
    if (roomM >= NEAR_M) return;
    const at = program.row();
    program.b[program.rows - 1] = Math.min(0, leastM - roomM);
    this.#shoulder.gradient(program.c, at);
    this.#rowOf[program.rows - 1] = SHOULDER;
  }

  readonly #rowOf = new Int32Array(1024);

  /** Columns of the guided point's motion and of the flange's rotation. */
  #jacobians(): void {
    const { axes, frames } = this.#pose;
    const { lead } = this.#options;
    const at = lead * TRANSFORM_SIZE;
    for (let i = 0; i < this.qRad.length; i++) {
      const k = i * 6;
      for (let axis = 0; axis < 3; axis++) this.#turning[3 * i + axis] = axes[k + axis]!;
      if (i >= lead) {
        this.#moving.fill(0, 3 * i, 3 * i + 3);
        continue;
      }
      const rx = frames[at + 3]! - axes[k + 3]!;
      const ry = frames[at + 7]! - axes[k + 4]!;
      const rz = frames[at + 11]! - axes[k + 5]!;
      this.#moving[3 * i] = axes[k + 1]! * rz - axes[k + 2]! * ry;
      this.#moving[3 * i + 1] = axes[k + 2]! * rx - axes[k]! * rz;
      this.#moving[3 * i + 2] = axes[k]! * ry - axes[k + 1]! * rx;
    }
  }

  #cost(): void {
    const { h, g } = this.#program;
    const joints = this.qRad.length;
    const m = this.#moving;
    const t = this.#turning;
    const em = this.#errorM;
    const et = this.#errorRad;
    // An orientation that lags must not pull the point off its place.
    const firm = Math.max(1, Math.sqrt(square(et)) / YIELDING_RAD);
    const damping =
      DAMPING +
      RESIDUAL_DAMPING * (firm * square(em) + ORIENTATION * square(et)) +
      HASTE_DAMPING * this.#rates.patience +
      (this.#homeRad ? POSTURE : 0);
    for (let i = 0; i < joints; i++) {
      for (let k = 0; k <= i; k++) {
        const value = firm * dot3(m, 3 * i, m, 3 * k) + ORIENTATION * dot3(t, 3 * i, t, 3 * k);
        h[i * joints + k] = value;
        h[k * joints + i] = value;
      }
      h[i * joints + i]! += damping;
      g[i] = firm * dot3(m, 3 * i, em, 0) + ORIENTATION * dot3(t, 3 * i, et, 0);
      if (this.#homeRad !== null) g[i]! += POSTURE * (this.#postureRad[i]! - this.qRad[i]!);
    }
    this.#wrist.update(this.#pose, this.qRad, this.#wantedRotation);
    if (this.#wrist.weight === 0) return;
    const first = joints - WRIST_JOINTS;
    h[first * joints + first]! += this.#wrist.weight;
    g[first]! += this.#wrist.weight * this.#wrist.pullRad;
  }

  /** Names the limit that keeps the point from the hand, if it misses noticeably. */
  #explain(): void {
    this.limitedBy = '';
    this.towards.fill(0);
    const missedM = Math.sqrt(square(this.#missedM));
    if (this.#pressed !== -1 && missedM > FOLLOWED_M) this.#noteContact(this.#pressed);
    const isFar = Math.sqrt(square(this.#errorM)) > FOLLOWED_M;
    const isTurned = Math.sqrt(square(this.#errorRad)) > FOLLOWED_RAD;
    if (!isFar && !isTurned) return;
    const { active, actives } = this.#program;
    for (let n = 0; n < actives; n++) {
      const row = active[n]!;
      if (row >= 2 * this.qRad.length) {
        const k = this.#rowOf[row]!;
        this.#noteContact(k);
      } else this.#note(this.#jointReason(row >> 1), this.#errorM, 0);
    }
    if (this.limitedBy === '') this.#note(this.#wrist.weight > 0 ? 'singularity' : 'reach', this.#errorM, 0);
  }

  #noteContact(which: number): void {
    if (which === REACH) this.#note('reach', this.#stretch, 0);
    else if (which === SHOULDER) this.#note('singularity', this.#shoulder.away, 0);
    else this.#note(this.#clearances.by[which]!, this.#clearances.away, which * 3);
  }

  #jointReason(i: number): LimitedBy {
    const { minRad, maxRad } = this.#options;
    const at = this.qRad[i]!;
    if (at <= minRad[i]! + 1e-6 || at >= maxRad[i]! - 1e-6) return 'joint-limit';
    if (this.#reach !== null && i === this.#reach.elbow) return 'reach';
    return this.#wrist.weight > 0 ? 'singularity' : 'velocity';
  }

  /** Keeps the most serious reason; the direction is into the limit. */
  #note(by: LimitedBy, away: Float64Array, at: number): void {
    if (LIMITED_BY.indexOf(by) <= LIMITED_BY.indexOf(this.limitedBy)) return;
    this.limitedBy = by;
    for (let i = 0; i < 3; i++) this.towards[i] = away === this.#errorM ? away[at + i]! : -away[at + i]!;
    const length = Math.sqrt(square(this.towards));
    if (length > 0) for (let i = 0; i < 3; i++) this.towards[i]! /= length;
  }
}

function shorten(v: Float64Array, most: number): void {
  const length = Math.sqrt(square(v));
  if (length > most) for (let i = 0; i < 3; i++) v[i]! *= most / length;
}

const square = (v: Float64Array): number => v[0]! * v[0]! + v[1]! * v[1]! + v[2]! * v[2]!;

const dot3 = (a: Float64Array, aAt: number, b: Float64Array, bAt: number): number =>
  a[aAt]! * b[bAt]! + a[aAt + 1]! * b[bAt + 1]! + a[aAt + 2]! * b[bAt + 2]!;
