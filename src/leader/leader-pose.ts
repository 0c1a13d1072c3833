import { createChain } from '../geometry/chain.ts';
import { baseFromVr, quatConjugate, quatMultiply, quatRotate } from '../geometry/frames.ts';
import type { RobotModel } from '../geometry/robot-model.ts';
import type { RctpPacket } from '../input/codecs/rctp-codec.ts';
import { RAD_PER_TICK } from '../robot/buses/dynamixel/control-table.ts';

/** Ticks of the leader's gripper, from the vendor's code. */
export interface LeaderGripper {
  openTicks: number;
  closedTicks: number;
}

/** rad = tick · 2π/4096 − π: the middle of a turn is zero. */
export const leaderRad = (ticks: number): number => ticks * RAD_PER_TICK - Math.PI;

/** 1 open, 0 closed. */
export const leaderOpen = (ticks: number, { openTicks, closedTicks }: LeaderGripper): number =>
  Math.max(0, Math.min(1, (ticks - closedTicks) / (openTicks - closedTicks)));

/**
 * Converts the leader's joints to the pose of a hand: that of the follower's flange in the leader's pose. The
 * leader is a scaled-down follower, joint by joint, so its hand moves as the follower's would.
 */
export class LeaderPose {
  readonly #chain;
  readonly #vrFromBase = new Float64Array(4);
  readonly #positionM = new Float64Array(3);
  readonly #quat = new Float64Array(4);

  constructor(model: RobotModel) {
    this.#chain = createChain(model);
    quatConjugate(baseFromVr.quatXyzw, this.#vrFromBase);
  }

  into(jointsRad: Float64Array, open: number, out: RctpPacket): void {
    this.#chain.frame(jointsRad, this.#chain.joints, this.#positionM, this.#quat);
    quatRotate(this.#vrFromBase, this.#positionM, out.positionM);
    quatMultiply(this.#vrFromBase, this.#quat, out.quatXyzw);
    out.gripper = open;
  }
}
