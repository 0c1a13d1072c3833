import { NS_PER_MS } from '../core/time/clock.ts';
import type { RobotState, SupervisorState } from '../messages/robot-state.ts';
import { emptyState } from '../wire/codecs/state.ts';

const FRESH_NS = 200 * NS_PER_MS;

/** The robot's last reported state, and its age on the operator's clock. */
export class RobotView {
  state: RobotState;
  /** Decode target, swapped in if valid. */
  spare: RobotState;
  receivedNs = Number.NEGATIVE_INFINITY;
  /** The other arm of two that are one robot. */
  partner: RobotView | null = null;

  constructor(joints: number, otherJoints = 0) {
    this.state = emptyState(joints, otherJoints);
    this.spare = emptyState(joints, otherJoints);
    // Few messages report the motors; what they report stays.
    this.spare.motors = this.state.motors;
  }

  /** The spare holds the newest state. */
  accept(receivedNs: number): void {
    const previous = this.state;
    this.state = this.spare;
    this.spare = previous;
    this.receivedNs = receivedNs;
  }

  /** Until the robot has read its joints, a hand cannot be mapped. */
  get hasPose(): boolean {
    return !Number.isNaN(this.state.positionsRad[0]!);
  }

  /** Its pose is known and current, and so is that of the other arm. */
  isFresh(nowNs: number): boolean {
    return this.isFreshAlone(nowNs) && (this.partner === null || this.partner.isFreshAlone(nowNs));
  }

  isFreshAlone(nowNs: number): boolean {
    return nowNs - this.receivedNs <= FRESH_NS && this.hasPose;
  }

  /** An arm does not move while the other one has no power. */
  get isPartnerPowered(): boolean {
    return this.partner === null || isPowered(this.partner.state.state);
  }
}

export const isPowered = (state: SupervisorState): boolean =>
  state === 'armed' || state === 'engaged' || state === 'hold';
