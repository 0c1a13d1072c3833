import { type Chain, createChain } from '../../src/geometry/chain.ts';
import type { RobotModel } from '../../src/geometry/robot-model.ts';
import type { CanFrame } from '../../src/robot/buses/can-frame.ts';
import { int32 } from '../../src/robot/drivers/piper/feedback.ts';
import { CAN_CONTROL, ID, MILLIDEG_PER_RAD, MOVE, UM_PER_M } from '../../src/robot/drivers/piper/frames.ts';
import type { Plant } from '../plant.ts';
import { JointMotion } from './joint-motion.ts';
import { solvePose } from './kinematics.ts';

export const ARM_STATUS = { ok: 0, stopped: 1, noSolution: 2, overLimit: 4, commLost: 5 } as const;
export const STROKE_M = 0.07;
const GRIPPER_M_S = 0.15;
const LEADER = 0xfa;
const FOLLOWER = 0xfc;

export interface PiperArmOptions {
  model: RobotModel;
  /** For example `S-V1.8-2`. */
  firmware: string;
  startRad: readonly number[];
  /** Follows the arm's set-points; without one they are the positions. */
  plant?: Plant | null;
  /** Starts in the leader role, which sends no feedback. */
  leader?: boolean;
  /** Called on visible events: stopped, dropped, enabled. */
  onEvent?(what: string): void;
}

/** The arm itself: its reaction to commands, and its motion. Time and bus are passed in. */
export class PiperArm {
  /** The set-point; also where the joints are, unless a plant follows it. */
  readonly motion: JointMotion;
  readonly plant: Plant | null;
  readonly chain: Chain;
  readonly firmware: string;
  readonly #model: RobotModel;
  readonly #onEvent: (what: string) => void;
  readonly #pose = new Float64Array(6);
  readonly #poseSeen = [false, false, false];
  controlMode = 0;
  moveMode = 0;
  status: number = ARM_STATUS.ok;
  limitBits = 0;
  commBits = 0;
  leader: boolean;
  #fingersM = 0;
  gripperEnabled = false;
  gripperTargetM = 0;
  gripperNm = 0;
  /** Commands ignored because of the arm's state. */
  ignored = 0;

  constructor({
    model,
    firmware,
    startRad,
    plant = null,
    leader = false,
    onEvent = () => {},
  }: PiperArmOptions) {
    this.plant = plant;
    this.#model = model;
    this.firmware = firmware;
    this.leader = leader;
    this.#onEvent = onEvent;
    this.chain = createChain(model);
    this.motion = new JointMotion(model, this.chain, startRad, () =>
      onEvent('dropped: joints sag without power'),
    );
  }

  step(dtS: number): void {
    this.motion.step(dtS);
    if (this.gripperEnabled && !this.motion.stopped) {
      const most = GRIPPER_M_S * dtS;
      this.#fingersM += Math.max(-most, Math.min(most, this.gripperTargetM - this.#fingersM));
    }
    this.plant?.step(dtS, this.motion.positionsRad, 1 - this.#fingersM / STROKE_M);
  }

  get positionsRad(): Float64Array {
    return this.plant?.positionsRad ?? this.motion.positionsRad;
  }

  get velocitiesRadS(): Float64Array {
    return this.plant?.velocitiesRadS ?? this.motion.velocitiesRadS;
  }

  get gripperM(): number {
    return this.plant === null ? this.#fingersM : STROKE_M * (1 - this.plant.gripper);
  }

  /** A command from the bus. The caller replies to queries. */
  take({ id, data }: CanFrame): void {
    if (id === ID.stop) this.#takeStop(data[0]!);
    else if (id === ID.enable) this.#takeEnable(data[0]!, data[1]!);
    else if (id === ID.role) this.#takeRole(data[0]!);
    else if (id === ID.mode) this.#takeMode(data);
    else if (id >= ID.joints && id < ID.joints + 3) this.#takeJoints(id - ID.joints, data);
    else if (id >= ID.pose && id < ID.pose + 3) this.#takePose(id - ID.pose, data);
    else if (id === ID.gripper) this.#takeGripper(data);
    else if (id >= ID.mit && id < ID.mit + 6) this.ignored++;
  }

  limits(joint: number): RobotModel['joints'][number] | null {
    return this.#model.joints[joint] ?? null;
  }

  /** Cuts one joint off, as a broken cable would. */
  loseJoint(joint: number): void {
    this.commBits |= 1 << joint;
    this.status = ARM_STATUS.commLost;
    this.motion.halt();
  }

  #takeStop(action: number): void {
    if (action === 1) {
      if (!this.motion.stopped) this.#onEvent('stopped');
      this.motion.halt();
      this.status = ARM_STATUS.stopped;
    } else if (action === 2) {
      this.motion.cutPower();
      this.motion.stopped = false;
      this.gripperEnabled = false;
      this.status = this.commBits === 0 ? ARM_STATUS.ok : ARM_STATUS.commLost;
      this.limitBits = 0;
      this.controlMode = 0;
      this.#onEvent('resumed: power cut, flags cleared');
    }
  }

  #takeEnable(motor: number, action: number): void {
    if (this.status === ARM_STATUS.stopped) {
      this.ignored++;
      return;
    }
    const all = motor === 7 || motor === 0xff;
    if (!all && (motor < 1 || motor > 6)) return;
    const was = this.motion.allPowered;
    for (let i = all ? 0 : motor - 1; i < (all ? 6 : motor); i++) this.motion.power(i, action === 2);
    if (!was && this.motion.allPowered) this.#onEvent('enabled');
  }

  #takeRole(role: number): void {
    if (role === LEADER) this.leader = true;
    else if (role === FOLLOWER) this.leader = false;
  }

  #takeMode(data: Uint8Array): void {
    this.controlMode = data[0]!;
    this.moveMode = data[1]!;
    // Speed 0 in "high-follow" mode means full speed.
    this.motion.speedShare = data[3] === 0xad ? 1 : Math.min(100, data[2]!) / 100;
  }

  #mayMove(move: number): boolean {
    const may =
      this.controlMode === CAN_CONTROL &&
      this.moveMode === move &&
      this.motion.allPowered &&
      !this.motion.stopped;
    if (!may) this.ignored++;
    return may && this.commBits === 0;
  }

  #takeJoints(pair: number, data: Uint8Array): void {
    if (!this.#mayMove(MOVE.joint)) return;
    this.#aim(2 * pair, [int32(data, 0) / MILLIDEG_PER_RAD, int32(data, 4) / MILLIDEG_PER_RAD]);
  }

  /** Targets beyond the limits are rejected; the status shows the joints. */
  #aim(first: number, targetsRad: ArrayLike<number>): void {
    for (let i = 0; i < targetsRad.length; i++) {
      const joint = first + i;
      const { minRad, maxRad } = this.#model.joints[joint]!;
      const inside = targetsRad[i]! >= minRad - 1e-4 && targetsRad[i]! <= maxRad + 1e-4;
      if (inside) {
        this.motion.targetsRad[joint] = targetsRad[i]!;
        this.limitBits &= ~(1 << joint);
      } else this.limitBits |= 1 << joint;
    }
    this.status = this.limitBits === 0 ? ARM_STATUS.ok : ARM_STATUS.overLimit;
  }

  #takePose(third: number, data: Uint8Array): void {
    if (!this.#mayMove(MOVE.pose) && !(this.moveMode === MOVE.line && this.#mayMove(MOVE.line))) return;
    for (let i = 0; i < 2; i++) {
      const axis = 2 * third + i;
      this.#pose[axis] = int32(data, 4 * i) / (axis < 3 ? UM_PER_M : MILLIDEG_PER_RAD);
    }
    this.#poseSeen[third] = true;
    if (!this.#poseSeen.every(Boolean)) return;
    this.#poseSeen.fill(false);
    const [positionM, rpyRad] = [[...this.#pose.subarray(0, 3)], [...this.#pose.subarray(3)]];
    const found = solvePose(this.chain, this.motion.targetsRad, positionM, rpyRad);
    if (found === null) this.status = ARM_STATUS.noSolution;
    else this.#aim(0, found);
  }

  #takeGripper(data: Uint8Array): void {
    if (data[7] === 0xae) return;
    const action = data[6]!;
    this.gripperEnabled = action === 1 || action === 3;
    this.gripperNm = ((data[4]! << 8) | data[5]!) / 1000;
    if (this.gripperEnabled) this.gripperTargetM = Math.max(0, Math.min(STROKE_M, int32(data, 0) / UM_PER_M));
  }
}
