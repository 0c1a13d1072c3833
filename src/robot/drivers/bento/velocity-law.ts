import { type BrachioplexusPacket, MOTOR } from './brachioplexus-codec.ts';

export interface VelocityLawOptions {
  /** Joint speed per radian of error, in 1/s. */
  gainPerS: number;
  /** A joint starts moving beyond this error and rests within half of it. */
  deadBandRad: number;
  /** Joint speed of one wire unit. */
  radSPerUnit: number;
  /** Per joint, in wire units. */
  maxSpeeds: readonly number[];
  /** One joint at a time: the one with the largest error, until it has arrived. */
  sequential: boolean;
}

/** Position targets to the motor states and speeds of a control packet. Hot path: allocates nothing. */
export class VelocityLaw {
  readonly #options: VelocityLawOptions;
  readonly #moving: Uint8Array;
  #turn = -1;

  constructor(options: VelocityLawOptions) {
    this.#options = options;
    this.#moving = new Uint8Array(options.maxSpeeds.length);
  }

  /** All joints stop; the next `apply` starts afresh. */
  rest(out: BrachioplexusPacket): void {
    this.#moving.fill(0);
    this.#turn = -1;
    out.states.fill(MOTOR.stop);
    out.speeds.fill(0);
  }

  apply(targetRad: Float64Array, measuredRad: Float64Array, out: BrachioplexusPacket): void {
    const { gainPerS, deadBandRad, radSPerUnit, maxSpeeds, sequential } = this.#options;
    for (let i = 0; i < this.#moving.length; i++) {
      const away = Math.abs(targetRad[i]! - measuredRad[i]!);
      this.#moving[i] = away > (this.#moving[i] === 1 ? deadBandRad / 2 : deadBandRad) ? 1 : 0;
    }
    if (sequential) this.#chooseTurn(targetRad, measuredRad);
    for (let i = 0; i < this.#moving.length; i++) {
      const errorRad = targetRad[i]! - measuredRad[i]!;
      const rests = this.#moving[i] === 0 || (sequential && i !== this.#turn);
      const speed = Math.round((gainPerS * Math.abs(errorRad)) / radSPerUnit);
      out.states[i] = rests ? MOTOR.stop : errorRad > 0 ? MOTOR.up : MOTOR.down;
      out.speeds[i] = rests ? 0 : Math.max(1, Math.min(maxSpeeds[i]!, speed));
    }
  }

  #chooseTurn(targetRad: Float64Array, measuredRad: Float64Array): void {
    if (this.#turn >= 0 && this.#moving[this.#turn] === 1) return;
    this.#turn = -1;
    let farthest = 0;
    for (let i = 0; i < this.#moving.length; i++) {
      const away = Math.abs(targetRad[i]! - measuredRad[i]!);
      if (this.#moving[i] === 0 || away <= farthest) continue;
      farthest = away;
      this.#turn = i;
    }
  }
}
