import {
  DEFAULT_FRAME_RATE,
  DEFAULT_LIMITS,
  JOINT_NAMES,
  radOfCounts,
  radSPerUnit,
} from '../../src/robot/drivers/bento/arm-facts.ts';
import { type BrachioplexusPacket, MOTOR } from '../../src/robot/drivers/bento/brachioplexus-codec.ts';

const JOINTS = JOINT_NAMES.length;
/** Speed limit of every joint, whatever a packet requests. */
const MAX_SPEED_RAD_S = 6;
/** How far a target may run ahead of a blocked joint: bounds the grip force. */
const LEAD_RAD: readonly number[] = [0.15, 0.15, 0.15, 0.15, 0.12];

/**
 * Unity's handling of motor states, speeds and limits: per joint a target that a drive follows. Angles are
 * wire positions. Inside Unity the hand is mirrored (4096 − counts), with its directions and limits, so for
 * all five joints state 1 increases the counts on the wire and state 2 decreases them.
 */
export class Motors {
  readonly targetRad = new Float64Array(JOINTS);
  /** Commanded speeds, 0 when stopped; reported in feedback. */
  readonly speeds = new Uint16Array(JOINTS);
  readonly #direction = new Int8Array(JOINTS);
  readonly #limitsRad = new Float64Array(2 * JOINTS);
  #radSPerUnit = radSPerUnit(DEFAULT_FRAME_RATE);

  constructor() {
    this.reset();
  }

  /** State at scene start: at rest, all joints at zero. */
  reset(): void {
    this.stop();
    this.targetRad.fill(0);
    this.limit(DEFAULT_LIMITS);
  }

  frameRate(framesPerS: number): void {
    this.#radSPerUnit = radSPerUnit(framesPerS === 0 ? DEFAULT_FRAME_RATE : framesPerS);
  }

  get moving(): boolean {
    return this.#direction.some((direction) => direction !== 0);
  }

  control(packet: BrachioplexusPacket): void {
    for (let i = 0; i < JOINTS; i++) {
      const state = packet.states[i]!;
      if (state === MOTOR.keep) continue;
      const direction = state === MOTOR.up ? 1 : state === MOTOR.down ? -1 : 0;
      this.#direction[i] = direction;
      this.speeds[i] = direction === 0 ? 0 : packet.speeds[i]!;
    }
  }

  /** Minimum and maximum per joint in counts. A joint outside moves to the nearer end. */
  limit(counts: ArrayLike<number>): void {
    for (let i = 0; i < JOINTS; i++) {
      const min = radOfCounts(counts[2 * i]!);
      const max = radOfCounts(counts[2 * i + 1]!);
      // An inverted range has zero width.
      this.#limitsRad[2 * i] = Math.min(min, max);
      this.#limitsRad[2 * i + 1] = max;
    }
    for (let i = 0; i < JOINTS; i++) this.targetRad[i] = this.#within(i, this.targetRad[i]!);
  }

  stop(): void {
    this.#direction.fill(0);
    this.speeds.fill(0);
  }

  /** Advances the targets; `actualRad` holds the measured joint angles. */
  step(seconds: number, actualRad: ArrayLike<number>): void {
    for (let i = 0; i < JOINTS; i++) {
      if (this.#direction[i] === 0) continue;
      const speed = Math.min(this.speeds[i]! * this.#radSPerUnit, MAX_SPEED_RAD_S);
      const lead = LEAD_RAD[i]!;
      const wanted = this.targetRad[i]! + this.#direction[i]! * speed * seconds;
      const held = Math.max(actualRad[i]! - lead, Math.min(actualRad[i]! + lead, wanted));
      this.targetRad[i] = this.#within(i, held);
    }
  }

  #within(joint: number, rad: number): number {
    return Math.max(this.#limitsRad[2 * joint]!, Math.min(this.#limitsRad[2 * joint + 1]!, rad));
  }
}
