import type { Chain } from '../../../geometry/chain.ts';
import type { RobotModel } from '../../../geometry/robot-model.ts';
import type { CanFrame } from '../../buses/can-frame.ts';
import type { PiperConfig } from './config.ts';
import {
  GRIPPER,
  ID,
  MOVE,
  modeFrame,
  PIPER_JOINTS,
  piperFrame,
  rpyFromQuat,
  setGripper,
  setJoints,
  setPose,
  tripleFrames,
} from './frames.ts';
import { flangeChain } from './geometry.ts';

/**
 * The frames of one cycle: mode, target, gripper. Kept so that they can be resent. Hot path: no allocation.
 */
export class PiperCommands {
  readonly #config: PiperConfig;
  readonly #model: RobotModel;
  readonly #chain: Chain;
  readonly #joints = tripleFrames(ID.joints);
  readonly #pose = tripleFrames(ID.pose);
  readonly #gripper = piperFrame(ID.gripper);
  readonly #jointCycle: readonly CanFrame[];
  readonly #poseCycle: readonly CanFrame[];
  readonly #clamped = new Float64Array(PIPER_JOINTS);
  readonly #positionM = new Float64Array(3);
  readonly #quat = new Float64Array(4);
  readonly #rpy = new Float64Array(3);
  /** Frames to send in this cycle. */
  frames: readonly CanFrame[];

  constructor(config: PiperConfig, model: RobotModel) {
    this.#config = config;
    this.#model = model;
    this.#chain = flangeChain(model);
    const { speedPercent } = config;
    this.#jointCycle = [modeFrame(MOVE.joint, speedPercent), ...this.#joints, this.#gripper];
    this.#poseCycle = [modeFrame(MOVE.pose, speedPercent), ...this.#pose, this.#gripper];
    this.frames = this.#jointCycle;
  }

  /**
   * Holds the measured pose, as joint angles in either mode: the arm's solver might pick another elbow pose.
   */
  hold(positionsRad: Float64Array, strokeM: number): void {
    setJoints(this.#joints, positionsRad);
    setGripper(this.#gripper, strokeM, this.#config.gripperTorqueNm, GRIPPER.enable);
    this.frames = this.#jointCycle;
  }

  /** Clamps the target to the model's range; false if it is not a valid target. */
  aim(positionsRad: Float64Array, gripper: number): boolean {
    for (let i = 0; i < PIPER_JOINTS; i++) {
      const { minRad, maxRad } = this.#model.joints[i]!;
      const rad = positionsRad[i]!;
      if (!Number.isFinite(rad)) return false;
      this.#clamped[i] = Math.max(minRad, Math.min(maxRad, rad));
    }
    if (!(gripper >= 0 && gripper <= 1)) return false;
    const strokeM = (1 - gripper) * this.#config.gripperStrokeM;
    setGripper(this.#gripper, strokeM, this.#config.gripperTorqueNm, GRIPPER.enable);
    if (this.#config.control === 'joint') {
      setJoints(this.#joints, this.#clamped);
      this.frames = this.#jointCycle;
    } else {
      this.#chain.frame(this.#clamped, PIPER_JOINTS, this.#positionM, this.#quat);
      rpyFromQuat(this.#quat, this.#rpy);
      setPose(this.#pose, this.#positionM, this.#rpy);
      this.frames = this.#poseCycle;
    }
    return true;
  }
}
