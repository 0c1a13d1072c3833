import { NS_PER_MS } from '../core/time/clock.ts';
import type { RobotState } from '../messages/robot-state.ts';
import { emptyState } from '../wire/codecs/state.ts';

const FRESH_NS = 200 * NS_PER_MS;

/** The robot as last reported, with how old that report is on the operator's clock. */
export class RobotView {
  state: RobotState;
  /** Decode target, swapped in when it proves valid. */
  spare: RobotState;
  receivedNs = Number.NEGATIVE_INFINITY;

  constructor(joints: number) {
    this.state = emptyState(joints);
    this.spare = emptyState(joints);
  }

  /** The spare was filled and is the newest state. */
  accept(receivedNs: number): void {
    [this.state, this.spare] = [this.spare, this.state];
    this.receivedNs = receivedNs;
  }

  /** Before the robot has read its joints, there is nothing to map a hand to. */
  get hasPose(): boolean {
    return !Number.isNaN(this.state.positionsRad[0]!);
  }

  /** Its pose is known, and of now. */
  isFresh(nowNs: number): boolean {
    return nowNs - this.receivedNs <= FRESH_NS && this.hasPose;
  }
}
