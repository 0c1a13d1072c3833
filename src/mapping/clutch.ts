import { NS_PER_S } from '../core/clock.ts';
import { baseFromVr, quatConjugate, quatMultiply, quatNormalise, quatRotate } from '../core/frames.ts';
import type { HandSample } from '../core/messages.ts';

/** `absolute`: how fast the orientation the robot had when engaging gives way to the hand's. */
const ALIGN_RAD_S = 0.5;
const MAX_ALIGN_STEP_S = 0.1;
/** `absolute`: tool X right, Y down, Z forward of a hand that has X right, Y up, −Z forward. */
const handFromTool = new Float64Array([1, 0, 0, 0]);

interface Workspace {
  minM: readonly number[];
  maxM: readonly number[];
}

type TargetStatus = 'ok' | 'clamped' | 'bad-input';

export interface Placement {
  engage(hand: HandSample, link3M: Float64Array): boolean;
  target(hand: HandSample, outM: Float64Array): TargetStatus;
}

/** Where link 3 shall be. A robot found outside the workspace may stay or come in, not go farther out. */
export function createPlacement(gain: number, workspace: Workspace | undefined): Placement {
  const handM = new Float64Array(3);
  const link3M = new Float64Array(3);
  const minM = new Float64Array(3);
  const maxM = new Float64Array(3);
  const deltaM = new Float64Array(3);
  return {
    engage(hand, referenceM) {
      handM.set(hand.positionM);
      link3M.set(referenceM);
      for (let i = 0; i < 3; i++) {
        minM[i] = Math.min(workspace?.minM[i] ?? -Infinity, referenceM[i]!);
        maxM[i] = Math.max(workspace?.maxM[i] ?? Infinity, referenceM[i]!);
      }
      return Number.isFinite(handM[0]! + handM[1]! + handM[2]!);
    },
    target(hand, outM) {
      for (let i = 0; i < 3; i++) deltaM[i] = gain * (hand.positionM[i]! - handM[i]!);
      quatRotate(baseFromVr.quatXyzw, deltaM, deltaM);
      let status: TargetStatus = 'ok';
      for (let i = 0; i < 3; i++) {
        const wantedM = link3M[i]! + deltaM[i]!;
        if (!Number.isFinite(wantedM)) return 'bad-input';
        outM[i] = Math.min(Math.max(wantedM, minM[i]!), maxM[i]!);
        if (outM[i] !== wantedM) status = 'clamped';
      }
      return status;
    },
  };
}

export interface Turn {
  engage(hand: HandSample, baseFromTool: Float64Array): boolean;
  /** Of the length of the hand's quaternion: a broken one is the solver's to refuse. */
  target(hand: HandSample, outBaseFromTool: Float64Array): void;
}

export function createRelativeTurn(): Turn {
  const handFromBase = new Float64Array(4); // hand at engagement
  const baseFromTool = new Float64Array(4);
  return {
    engage(hand, reference) {
      baseFromTool.set(reference);
      if (!quatNormalise(hand.quatXyzw, handFromBase)) return false;
      quatMultiply(baseFromVr.quatXyzw, handFromBase, handFromBase);
      quatConjugate(handFromBase, handFromBase);
      return true;
    },
    target(hand, out) {
      quatMultiply(baseFromVr.quatXyzw, hand.quatXyzw, out);
      quatMultiply(out, handFromBase, out);
      quatMultiply(out, baseFromTool, out);
    },
  };
}

export function createAbsoluteTurn(): Turn {
  const unaligned = new Float64Array(4); // rotation in base from the hand's orientation to the tool's
  let lastNs = 0;
  const toolOf = (hand: HandSample, out: Float64Array): void => {
    quatMultiply(baseFromVr.quatXyzw, hand.quatXyzw, out);
    quatMultiply(out, handFromTool, out);
  };
  return {
    engage(hand, baseFromTool) {
      lastNs = hand.takenNs;
      toolOf(hand, unaligned);
      if (!quatNormalise(unaligned, unaligned)) return false;
      quatConjugate(unaligned, unaligned);
      quatMultiply(baseFromTool, unaligned, unaligned);
      return true;
    },
    target(hand, out) {
      const elapsedS = (hand.takenNs - lastNs) / NS_PER_S;
      if (elapsedS > 0 && elapsedS < Infinity) {
        shrinkRotation(unaligned, ALIGN_RAD_S * Math.min(elapsedS, MAX_ALIGN_STEP_S));
        lastNs = hand.takenNs;
      }
      toolOf(hand, out);
      quatMultiply(unaligned, out, out);
    },
  };
}

/** Takes `stepRad` off the angle of the unit quaternion `q`, down to none. */
function shrinkRotation(q: Float64Array, stepRad: number): void {
  const sine = Math.sqrt(q[0]! * q[0]! + q[1]! * q[1]! + q[2]! * q[2]!);
  const sign = q[3]! < 0 ? -1 : 1;
  const halfRad = Math.max(0, Math.atan2(sine, Math.abs(q[3]!)) - stepRad / 2);
  const scale = sine > 0 ? (sign * Math.sin(halfRad)) / sine : 0;
  for (let i = 0; i < 3; i++) q[i]! *= scale;
  q[3] = Math.cos(halfRad);
}
