import { NS_PER_S } from '../core/time/clock.ts';
import { quatConjugate, quatMultiply, type Transform } from '../geometry/frames.ts';
import type { HandPose } from './filters/filter.ts';
import { MAX_APPROACH_STEP_S } from './placement.ts';

/** `absolute`: how fast the orientation the robot had when engaging gives way to the hand's. */
const ALIGN_RAD_S = 0.5;

/** How the tool shall be turned. Hot path: nothing allocates. */
export interface Turn {
  engage(hand: HandPose, baseFromTool: Float64Array): void;
  target(hand: HandPose, outBaseFromTool: Float64Array): void;
}

/** The tool turns in the base frame as the hand has turned since engaging. */
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

/** The tool is turned as the hand is; the difference found when engaging closes slowly. */
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

/** Takes `stepRad` off the angle of the unit quaternion `q`, down to none. */
function shrinkRotation(q: Float64Array, stepRad: number): void {
  const sine = Math.sqrt(q[0]! * q[0]! + q[1]! * q[1]! + q[2]! * q[2]!);
  const sign = q[3]! < 0 ? -1 : 1;
  const halfRad = Math.max(0, Math.atan2(sine, Math.abs(q[3]!)) - stepRad / 2);
  const scale = sine > 0 ? (sign * Math.sin(halfRad)) / sine : 0;
  for (let i = 0; i < 3; i++) q[i]! *= scale;
  q[3] = Math.cos(halfRad);
}
