import { runSteps } from './stepper.ts';

const STEP_S = 0.002;

/** Two fingers that close at a limited speed: 0 is open, 1 is closed. Something held ends their motion. */
export class Fingers {
  position = 0;
  target = 0;
  /** Share of the way a second; 0 keeps them where they are. */
  speed = 2;
  /** Where they meet what they hold; 1: nothing. */
  heldAt = 1;
  /** Where physics has them, if something else moves them. */
  sensed: number | null = null;

  get isMoving(): boolean {
    return Math.abs(this.#goal - this.position) > 1e-9 && this.speed > 0;
  }

  /** They touch something and press on. */
  get isHolding(): boolean {
    return this.heldAt < 1 && this.position >= this.heldAt - 1e-9 && this.target > this.heldAt;
  }

  get #goal(): number {
    return Math.max(0, Math.min(this.heldAt, this.target));
  }

  step(dtS: number): void {
    const room = this.speed * dtS;
    this.position += Math.max(-room, Math.min(room, this.#goal - this.position));
  }

  /** Returns what ends it. */
  run(): () => void {
    return runSteps(STEP_S, () => this.step(STEP_S));
  }
}
