/** Nearer than this, the person's gripper has reached the held one. */
const NEAR = 0.08;

/**
 * After a take-over the gripper stays as the policy left it until the person's own has reached or passed that value: what
 * it holds is not dropped because a trigger is not pulled yet.
 */
export class GripPickUp {
  #held = Number.NaN;
  /** On which side of the held value the person began. */
  #isBelow = false;
  #isFresh = false;

  hold(gripper: number): void {
    this.#held = gripper;
    this.#isFresh = true;
  }

  free(): void {
    this.#held = Number.NaN;
  }

  /** Hot path. */
  follow(gripper: number): number {
    const held = this.#held;
    if (Number.isNaN(held)) return gripper;
    if (this.#isFresh) this.#isBelow = gripper < held;
    this.#isFresh = false;
    if (Math.abs(gripper - held) > NEAR && gripper < held === this.#isBelow) return held;
    this.free();
    return gripper;
  }
}
