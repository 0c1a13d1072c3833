import { NS_PER_S } from '../core/time/clock.ts';
import { quatConjugate, quatMultiply, type Transform } from '../geometry/frames.ts';
import type { HandPose } from './filters/filter.ts';
import { MAX_APPROACH_STEP_S } from './placement.ts';

/** `absolute`: speed from the robot's orientation when engaging to the hand's. */
const ALIGN_RAD_S = 0.5;

/** Target orientation of the tool. Hot path: nothing allocates. */
export interface Turn {
  engage(hand: HandPose, baseFromTool: Float64Array): void;
  target(hand: HandPose, outBaseFromTool: Float64Array): void;
}

/** Applies the hand's rotation since engaging to the tool, in the base frame. */
export function createRelativeTurn(baseFromVr: Transform<'base', 'vr'>): Turn {
  const handFromBase = new Float64Array(4); // hand at engagement
  const baseFromTool = new Float64Array(4);
  return {
    engage(hand, reference) {
      baseFromTool.set(reference);
      quatMultiply(baseFromVr.quatXyzw, hand.quatXyzw, handFromBase);
      quatConjugate(handFromBase, handFromBase);
    },
    target(hand, out) {
      quatMultiply(baseFromVr.quatXyzw, hand.quatXyzw, out);
      quatMultiply(out, handFromBase, out);
      quatMultiply(out, baseFromTool, out);
    },
  };
}

/** Aligns the tool with the hand; the initial difference closes slowly. */
export function createAbsoluteTurn(baseFromVr: Transform<'base', 'vr'>, handFromTool: Float64Array): Turn {
  const unaligned = new Float64Array(4); // rotation in base from the hand's orientation to the tool's
  let lastNs = 0;
  const toolOf = (hand: HandPose, out: Float64Array): void => {
    quatMultiply(baseFromVr.quatXyzw, hand.quatXyzw, out);
    quatMultiply(out, handFromTool, out);
  };
  return {
    engage(hand, baseFromTool) {
      lastNs = hand.takenNs;
      toolOf(hand, unaligned);
      quatConjugate(unaligned, unaligned);
      quatMultiply(baseFromTool, unaligned, unaligned);
    },
    target(hand, out) {
      const elapsedS = Math.min((hand.takenNs - lastNs) / NS_PER_S, MAX_APPROACH_STEP_S);
      if (elapsedS > 0) {
        shrinkRotation(unaligned, ALIGN_RAD_S * elapsedS);
        lastNs = hand.takenNs;
      }
      toolOf(hand, out);
      quatMultiply(unaligned, out, out);
    },
  };
}

/** Reduces the angle of the unit quaternion `q` by `stepRad`, down to zero. */
function shrinkRotation(q: Float64Array, stepRad: number): void {
  const sine = Math.sqrt(q[0]! * q[0]! + q[1]! * q[1]! + q[2]! * q[2]!);
  const sign = q[3]! < 0 ? -1 : 1;
  const halfRad = Math.max(0, Math.atan2(sine, Math.abs(q[3]!)) - stepRad / 2);
  const scale = sine > 0 ? (sign * Math.sin(halfRad)) / sine : 0;
  for (let i = 0; i < 3; i++) q[i]! *= scale;
  q[3] = Math.cos(halfRad);
}
