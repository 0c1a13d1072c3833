const JOINTS = 6;
/** Emergency deceleration. */
const HALT_RAD_S2 = 50;
const SERVO_RAD_S2 = 25;
/** Joint speed limits of a UR3. */
const MAX_RAD_S = [Math.PI, Math.PI, Math.PI, 2 * Math.PI, 2 * Math.PI, 2 * Math.PI];

export interface Servo {
  targetRad: readonly number[];
  lookaheadS: number;
  gain: number;
}

/**
 * Joints that follow a servoj target: each moves as if to arrive after the lookahead time, within its speed
 * limit and an acceleration that grows with the gain. No gravity, no inertia between joints: an approximation.
 */
export class Arm {
  readonly positionsRad: number[];
  readonly velocitiesRadS = new Array<number>(JOINTS).fill(0);
  #servo: Servo | null = null;
  #stopRadS2 = HALT_RAD_S2;

  constructor(startRad: readonly number[]) {
    this.positionsRad = [...startRad];
  }

  /** Lead of the target over the most lagging joint, relative to its travel at top speed in the lookahead. */
  get strain(): number {
    const servo = this.#servo;
    if (servo === null) return 0;
    const lag = (i: number) => Math.abs(servo.targetRad[i]! - this.positionsRad[i]!);
    return Math.max(...MAX_RAD_S.map((speed, i) => lag(i) / (speed * servo.lookaheadS)));
  }

  get moving(): boolean {
    return this.velocitiesRadS.some((velocity) => velocity !== 0);
  }

  servo(servo: Servo): void {
    this.#servo = servo;
  }

  stop(radS2: number): void {
    this.#servo = null;
    this.#stopRadS2 = radS2;
  }

  halt(): void {
    this.stop(HALT_RAD_S2);
  }

  step(dtS: number): void {
    const servo = this.#servo;
    for (let i = 0; i < JOINTS; i++) {
      const limit = servo === null ? this.#stopRadS2 : SERVO_RAD_S2 * Math.sqrt(servo.gain / 300);
      const change = this.#wanted(i, limit, dtS) - this.velocitiesRadS[i]!;
      this.velocitiesRadS[i]! += Math.max(-limit * dtS, Math.min(limit * dtS, change));
      this.positionsRad[i]! += this.velocitiesRadS[i]! * dtS;
    }
  }

  #wanted(i: number, limitRadS2: number, dtS: number): number {
    const servo = this.#servo;
    if (servo === null) return 0;
    const error = servo.targetRad[i]! - this.positionsRad[i]!;
    const speed = Math.min(
      Math.abs(error) / Math.max(servo.lookaheadS, dtS),
      Math.sqrt(2 * limitRadS2 * Math.abs(error)),
      MAX_RAD_S[i]!,
    );
    return Math.sign(error) * speed;
  }
}
