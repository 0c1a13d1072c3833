import { type Chain, createChain } from '../../../geometry/chain.ts';
import type { RobotModel } from '../../../geometry/robot-model.ts';

const AXES = 6;

/**
 * Torque on each joint from outside, by the controller's estimate of force and torque on the tool: Jᵀ F. The tool point is
 * taken to be the flange, where the controller has it unless a tool is set up there. UNVERIFIED ON HARDWARE. Hot path.
 */
export class ToolForce {
  readonly #chain: Chain;
  readonly #minN: number;
  readonly #jacobian: Float64Array;
  readonly #flange = new Float64Array(12);

  constructor(model: RobotModel, minN: number) {
    this.#minN = minN;
    this.#chain = createChain(model);
    this.#jacobian = new Float64Array(AXES * model.joints.length);
  }

  /** `wrench`: force, then torque, in the base frame. */
  jointTorques(positionsRad: Float64Array, wrench: Float64Array, outNm: Float64Array): void {
    // Not `>`: a force that is not a number counts as none.
    if (!(Math.hypot(wrench[0]!, wrench[1]!, wrench[2]!) >= this.#minN)) {
      outNm.fill(0);
      return;
    }
    this.#chain.jacobian(positionsRad, this.#jacobian, this.#flange);
    const joints = this.#chain.joints;
    for (let i = 0; i < joints; i++) {
      let sum = 0;
      for (let axis = 0; axis < AXES; axis++) sum += this.#jacobian[axis * joints + i]! * wrench[axis]!;
      outNm[i] = sum;
    }
  }
}
