import { SimulatedHand } from '../ros2-hand/hand.ts';

export type Side = 'left' | 'right';
export const JOINT_NAMES = Array.from({ length: 7 }, (_, i) => `xarm_joint${i + 1}`);
const SPEED_RAD_S = 2;

/** Two arms that move to their targets, like the vendor's node: the left one comes first in a command. */
export class DualArm {
  readonly arms = {
    left: new SimulatedHand([0, -0.25, 0, 0.6, 0, 0, 0], SPEED_RAD_S),
    right: new SimulatedHand([0, 0.25, 0, 0.6, 0, 0, 0], SPEED_RAD_S),
  } as const;
  readonly grippers = [0, 0];
  readonly chassis: string[] = [];
  homed = 0;
  /** Unrecognised messages. */
  rejected = 0;

  joints(data: unknown): void {
    const targets = numbers(data, 14);
    if (targets === null || !this.arms.left.command(targets.slice(0, 7))) this.rejected++;
    else this.arms.right.command(targets.slice(7));
  }

  gripper(data: unknown): void {
    const values = numbers(data, 2);
    if (values === null) this.rejected++;
    else this.grippers.splice(0, 2, ...values);
  }

  /** A service of the node that ignores our limits, so our drivers never call it. */
  goHome(): void {
    this.homed++;
    for (const arm of [this.arms.left, this.arms.right]) arm.command([0, 0, 0, Math.PI / 5, 0, 0, 0]);
  }

  advance(seconds: number): void {
    this.arms.left.advance(seconds);
    this.arms.right.advance(seconds);
  }
}

function numbers(data: unknown, count: number): number[] | null {
  if (data instanceof Float64Array) return data.length === count ? [...data] : null;
  if (!Array.isArray(data) || data.length !== count) return null;
  return data.every((value) => typeof value === 'number' && Number.isFinite(value)) ? data : null;
}
