import { NS_PER_S } from '../core/time/clock.ts';
import { quatRotate, type Transform } from '../geometry/frames.ts';
import type { Box } from '../geometry/robot-model.ts';
import type { HandPose } from './filters/filter.ts';

/** `absolute`: speed from the robot's position when engaging to the hand's. */
const APPROACH_M_S = 0.1;
/** Longest gap between samples that counts towards an approach. */
export const MAX_APPROACH_STEP_S = 0.1;

/** Target position of the arm's lead frame, before the clamp. Hot path: nothing allocates. */
export interface Placement {
  engage(hand: HandPose, robotM: Float64Array): void;
  target(hand: HandPose, outM: Float64Array): void;
}

/** The robot's reference plus the hand's motion since engaging, times `gain`, in the base frame. */
export function createRelativePlacement(gain: number, baseFromVr: Transform<'base', 'vr'>): Placement {
  const handM = new Float64Array(3);
  const referenceM = new Float64Array(3);
  return {
    engage(hand, robotM) {
      handM.set(hand.positionM);
      referenceM.set(robotM);
    },
    target(hand, outM) {
      for (let i = 0; i < 3; i++) outM[i] = gain * (hand.positionM[i]! - handM[i]!);
      quatRotate(baseFromVr.quatXyzw, outM, outM);
      for (let i = 0; i < 3; i++) outM[i]! += referenceM[i]!;
    },
  };
}

/** Slower than SLOW the fine gain applies, faster than FAST the coarse one. */
const SLOW_M_S = 0.05;
const FAST_M_S = 0.25;
/** Time constant of the hand's speed. */
const SPEED_S = 0.1;

/**
 * Like the relative placement, with a gain that grows with the hand's speed: fine work when slow, long ways when fast.
 * What the hand has moved counts with the gain of that moment, so a path back at another speed ends elsewhere.
 */
export function createAdaptivePlacement(
  fine: number,
  coarse: number,
  baseFromVr: Transform<'base', 'vr'>,
): Placement {
  const handM = new Float64Array(3);
  const placeM = new Float64Array(3);
  const stepM = new Float64Array(3);
  let speedMS = 0;
  let lastNs = 0;
  return {
    engage(hand, robotM) {
      handM.set(hand.positionM);
      placeM.set(robotM);
      speedMS = 0;
      lastNs = hand.takenNs;
    },
    target(hand, outM) {
      for (let i = 0; i < 3; i++) stepM[i] = hand.positionM[i]! - handM[i]!;
      const dtS = Math.min((hand.takenNs - lastNs) / NS_PER_S, MAX_APPROACH_STEP_S);
      if (dtS > 0) {
        const movedM = Math.sqrt(stepM[0]! * stepM[0]! + stepM[1]! * stepM[1]! + stepM[2]! * stepM[2]!);
        speedMS += (movedM / dtS - speedMS) * Math.min(1, dtS / SPEED_S);
      }
      const share = Math.max(0, Math.min(1, (speedMS - SLOW_M_S) / (FAST_M_S - SLOW_M_S)));
      const gain = fine + (coarse - fine) * share * share * (3 - 2 * share);
      for (let i = 0; i < 3; i++) stepM[i]! *= gain;
      quatRotate(baseFromVr.quatXyzw, stepM, stepM);
      for (let i = 0; i < 3; i++) outM[i] = placeM[i]! + stepM[i]!;
      if (dtS <= 0) return;
      placeM.set(outM);
      handM.set(hand.positionM);
      lastNs = hand.takenNs;
    },
  };
}

/** The hand's position, scaled and transformed into the base frame; the initial gap closes slowly. */
export function createAbsolutePlacement(scale: number, baseFromVr: Transform<'base', 'vr'>): Placement {
  const gapM = new Float64Array(3);
  let lastNs = 0;
  const place = (hand: HandPose, outM: Float64Array): void => {
    for (let i = 0; i < 3; i++) outM[i] = scale * hand.positionM[i]!;
    quatRotate(baseFromVr.quatXyzw, outM, outM);
    for (let i = 0; i < 3; i++) outM[i]! += baseFromVr.positionM[i]!;
  };
  return {
    engage(hand, robotM) {
      lastNs = hand.takenNs;
      place(hand, gapM);
      for (let i = 0; i < 3; i++) gapM[i] = robotM[i]! - gapM[i]!;
    },
    target(hand, outM) {
      const elapsedS = Math.min((hand.takenNs - lastNs) / NS_PER_S, MAX_APPROACH_STEP_S);
      if (elapsedS > 0) {
        shorten(gapM, APPROACH_M_S * elapsedS);
        lastNs = hand.takenNs;
      }
      place(hand, outM);
      for (let i = 0; i < 3; i++) outM[i]! += gapM[i]!;
    },
  };
}

function shorten(v: Float64Array, byM: number): void {
  const lengthM = Math.sqrt(v[0]! * v[0]! + v[1]! * v[1]! + v[2]! * v[2]!);
  const share = lengthM > byM ? 1 - byM / lengthM : 0;
  for (let i = 0; i < 3; i++) v[i]! *= share;
}

/** The last step: keeps a target inside a box. */
export interface Clamp {
  /** A robot found outside may stay or move in, not further out. */
  engage(robotM: Float64Array): void;
  /** True if the target had to be moved. */
  apply(targetM: Float64Array): boolean;
}

export function createClamp(box: Box | undefined): Clamp {
  const minM = new Float64Array(3);
  const maxM = new Float64Array(3);
  return {
    engage(robotM) {
      for (let i = 0; i < 3; i++) {
        minM[i] = Math.min(box?.minM[i] ?? -Infinity, robotM[i]!);
        maxM[i] = Math.max(box?.maxM[i] ?? Infinity, robotM[i]!);
      }
    },
    apply(targetM) {
      let clamped = false;
      for (let i = 0; i < 3; i++) {
        const wantedM = targetM[i]!;
        targetM[i] = Math.min(Math.max(wantedM, minM[i]!), maxM[i]!);
        if (targetM[i] !== wantedM) clamped = true;
      }
      return clamped;
    },
  };
}
