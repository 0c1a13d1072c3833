import { HandChains } from './hand-chains.ts';
import { measurePalm } from './hand-palm.ts';
import type { RobotModel } from './robot-model.ts';

/** x, y, z of 21 points, ordered as a tracked hand's. */
const HAND_NUMBERS = 63;
const FINGER_NAMES = ['thumb', 'index', 'middle', 'ring', 'pinky'];
/** Where a last link without a DIP joint is drawn with one. */
const DIP_SHARE = 0.5;

/** A robot hand as 21 points, for drawings. */
export interface RobotHandPoints {
  /** Pairs of points to connect. */
  readonly bones: readonly (readonly [number, number])[];
  /**
   * Points in the palm's frame: x toward the thumb of a right hand, y along the fingers, z out of the palm; the
   * wrist is the origin, and so are fingers that the hand does not have. The wrist joint has no effect.
   */
  fill(qRad: ArrayLike<number>, outM: Float64Array): void;
}

/** Null for a robot without finger geometry. */
export function createRobotHandPoints(model: RobotModel): RobotHandPoints | null {
  if (model.hand === undefined) return null;
  const chains = new HandChains(model);
  const { axes } = measurePalm(chains);
  const mirror = model.mirrored ? -1 : 1;
  const bases = model.hand.fingers.map(({ name }) => 1 + 4 * FINGER_NAMES.indexOf(name));
  return {
    bones: bases.flatMap((base, f) => [
      [0, base],
      ...[0, 1, 2].map((bone): [number, number] => [base + bone, base + bone + 1]),
      // Across the knuckles.
      ...(f > 1 ? [[bases[f - 1]!, base] as const] : []),
    ]),
    fill(qRad, outM) {
      chains.place(qRad);
      for (let i = 0; i < HAND_NUMBERS; i++) outM[i] = chains.hand.wristM[i % 3]!;
      for (let f = 0; f < chains.fingers; f++) placeFinger(chains, f, outM);
      for (let i = 0; i < HAND_NUMBERS; i += 3) {
        const [x, y, z] = chains.hand.wristM.map((value, k) => outM[i + k]! - value) as [
          number,
          number,
          number,
        ];
        for (let k = 0; k < 3; k++)
          outM[i + k] =
            (k === 0 ? mirror : 1) * (axes[3 * k]! * x + axes[3 * k + 1]! * y + axes[3 * k + 2]! * z);
      }
    },
  };
}

/** The last four points of the finger: joints, a bend in the last link if there are too few, and the tip. */
function placeFinger({ start, originsM, tipsM, hand }: HandChains, f: number, outM: Float64Array): void {
  const at = 3 * (1 + 4 * FINGER_NAMES.indexOf(hand.fingers[f]!.name));
  const [end, tip] = [start[f + 1]!, tipsM.subarray(3 * f, 3 * f + 3)];
  const origin = (e: number) => originsM.subarray(3 * e, 3 * e + 3);
  outM.set(tip, at + 9);
  // A thumb starts at its first joint; a finger of three links bends at its last two.
  if (end - start[f]! >= 4) {
    outM.set(origin(f === 0 ? start[0]! : end - 3), at);
    outM.set(origin(end - 2), at + 3);
    outM.set(origin(end - 1), at + 6);
    return;
  }
  outM.set(origin(end - 2), at);
  outM.set(origin(end - 1), at + 3);
  for (let k = 0; k < 3; k++)
    outM[at + 6 + k] = originsM[3 * (end - 1) + k]! * (1 - DIP_SHARE) + tip[k]! * DIP_SHARE;
}
