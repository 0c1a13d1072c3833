/** One joint of a leader in a person's hand, while its motor has torque. */
export interface HeldJointOptions {
  /** Stiffness, damping and mass of the hand, about the joint. */
  nmPerRad: number;
  nmSPerRad: number;
  inertia: number;
}

/** A hand that holds a small leader with the fingers; the leader's own joint adds 0.0025 kg·m². Estimates. */
export const FINGERS: HeldJointOptions = { nmPerRad: 0.6, nmSPerRad: 0.03, inertia: 0.0045 };

const STEP_S = 1e-3;

/** A spring and a damper to where the person wants the joint, and the motor's torque against it. */
export class HeldJoint {
  readonly #hand: HeldJointOptions;
  rad: number;
  #radS = 0;

  constructor(startRad: number, hand = FINGERS) {
    this.rad = startRad;
    this.#hand = hand;
  }

  /** Moved from outside: at rest there. */
  place(rad: number): void {
    this.rad = rad;
    this.#radS = 0;
  }

  step(dtS: number, aimRad: number, torqueNm: number): void {
    const { nmPerRad, nmSPerRad, inertia } = this.#hand;
    for (let leftS = dtS; leftS > 1e-9; leftS -= STEP_S) {
      const stepS = Math.min(STEP_S, leftS);
      const nm = torqueNm + nmPerRad * (aimRad - this.rad) - nmSPerRad * this.#radS;
      this.#radS += (nm / inertia) * stepS;
      this.rad += this.#radS * stepS;
    }
  }
}
