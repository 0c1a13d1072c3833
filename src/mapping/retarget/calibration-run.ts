import type { RobotModel } from '../../geometry/robot-model.ts';
import { HAND_NUMBERS } from '../../hand/points.ts';
import type { Person } from '../../messages/person.ts';
import {
  CALIBRATION_POSES,
  type CalibrationPose,
  calibratePerson,
  checkPose,
  type SeenPoses,
} from './calibration.ts';

/** What the person is asked to do. */
export const POSE_PROMPTS: Readonly<Record<CalibrationPose, string>> = {
  open: 'Hold your hand flat and open, fingers together.',
  fist: 'Make a fist, the thumb over the fingers.',
  index: 'Touch your index fingertip with your thumb.',
  middle: 'Touch your middle fingertip with your thumb.',
  ring: 'Touch your ring fingertip with your thumb.',
  pinky: 'Touch the tip of your little finger with your thumb.',
};
/** Time to take a pose, and to hold it. */
export const READY_S = 1.5;
export const HOLD_S = 2;

/** `ready`: take the pose; `hold`: it is being measured; `done`: `person` is known. */
export type RunPhase = 'ready' | 'hold' | 'done';

/** Leads a person through the poses. Sans I/O: called with the newest hand, often, on any clock. Browser-safe. */
export class CalibrationRun {
  readonly #model: RobotModel;
  readonly #seen: Record<CalibrationPose, Float64Array[]>;
  #at = 0;
  #phase: RunPhase = 'ready';
  #sinceMs: number;
  #trouble = '';
  #person: Person | null = null;
  #isLeft = false;
  #newest: ArrayLike<number> | null = null;

  /** `model` has finger geometry. */
  constructor(model: RobotModel, nowMs: number) {
    this.#model = model;
    this.#sinceMs = nowMs;
    this.#seen = Object.fromEntries(CALIBRATION_POSES.map((pose) => [pose, []])) as never;
  }

  get pose(): CalibrationPose {
    return CALIBRATION_POSES[Math.min(this.#at, CALIBRATION_POSES.length - 1)]!;
  }

  get phase(): RunPhase {
    return this.#phase;
  }

  /** Poses done, out of all. */
  get share(): number {
    return this.#at / CALIBRATION_POSES.length;
  }

  /** Why the last attempt at this pose was not used; empty: it is the first. */
  get trouble(): string {
    return this.#trouble;
  }

  get person(): Person | null {
    return this.#person;
  }

  /** Seconds until the phase ends. */
  secondsLeft(nowMs: number): number {
    return Math.max(0, (this.#phase === 'ready' ? READY_S : HOLD_S) - (nowMs - this.#sinceMs) / 1000);
  }

  /** `pointsM`: the newest 21 points; null without a hand. The same array again is not a new hand. */
  update(nowMs: number, pointsM: ArrayLike<number> | null, isLeft: boolean): void {
    if (this.#phase === 'done') return;
    const isNew = pointsM !== null && pointsM !== this.#newest && pointsM.length === HAND_NUMBERS;
    this.#newest = pointsM;
    if (this.#phase === 'hold' && isNew) {
      this.#isLeft = isLeft;
      this.#seen[this.pose].push(Float64Array.from(pointsM));
    }
    if (this.secondsLeft(nowMs) > 0) return;
    if (this.#phase === 'hold') this.#judge();
    else this.#phase = 'hold';
    this.#sinceMs = nowMs;
  }

  #judge(): void {
    const { pose } = this;
    const trouble = checkPose(pose, this.#seen[pose], this.#isLeft);
    this.#trouble = trouble ?? '';
    this.#phase = 'ready';
    if (trouble !== null) this.#seen[pose] = [];
    else if (++this.#at === CALIBRATION_POSES.length) this.#finish();
  }

  #finish(): void {
    const found = calibratePerson(this.#model, this.#seen as SeenPoses, this.#isLeft);
    if (!('trouble' in found)) {
      this.#person = found;
      this.#phase = 'done';
      return;
    }
    this.#trouble = found.trouble;
    this.#at = CALIBRATION_POSES.indexOf(found.pose);
    this.#seen[found.pose] = [];
  }
}
