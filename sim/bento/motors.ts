import {
  DEFAULT_FRAME_RATE,
  DEFAULT_LIMITS,
  JOINT_NAMES,
  radOfCounts,
  radSPerUnit,
} from '../../src/robot/drivers/bento/arm-facts.ts';
import { type BrachioplexusPacket, MOTOR } from '../../src/robot/drivers/bento/brachioplexus-codec.ts';

const JOINTS = JOINT_NAMES.length;
/** No joint of the arm is faster than this, whatever a packet asks for. */
const MAX_SPEED_RAD_S = 6;
/** How far a target may run ahead of a joint that something holds up: it bounds the force of the grip. */
const LEAD_RAD: readonly number[] = [0.15, 0.15, 0.15, 0.15, 0.12];

/**
 * What Unity does with motor states, speeds and limits: per joint a target that a drive follows. Angles are those of
 * the wire. Inside Unity the hand turns the other way round (4096 − counts) and so do its directions and limits, so
 * for all five joints state 1 makes the counts on the wire grow and state 2 makes them fall.
 */
export class Motors {
  readonly targetRad = new Float64Array(JOINTS);
  /** As commanded, 0 when stopped: what feedback tells. */
  readonly speeds = new Uint16Array(JOINTS);
  readonly #direction = new Int8Array(JOINTS);
  readonly #limitsRad = new Float64Array(2 * JOINTS);
  #radSPerUnit = radSPerUnit(DEFAULT_FRAME_RATE);

  constructor() {
    this.reset();
  }

  /** As a scene begins: at rest, all joints at zero. */
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

  /** Minimum and maximum per joint in counts. A joint outside is brought to the nearer end. */
  limit(counts: ArrayLike<number>): void {
    for (let i = 0; i < JOINTS; i++) {
      const min = radOfCounts(counts[2 * i]!);
      const max = radOfCounts(counts[2 * i + 1]!);
      // A range the wrong way round is one of no width.
      this.#limitsRad[2 * i] = Math.min(min, max);
      this.#limitsRad[2 * i + 1] = max;
    }
    for (let i = 0; i < JOINTS; i++) this.targetRad[i] = this.#within(i, this.targetRad[i]!);
  }

  stop(): void {
    this.#direction.fill(0);
    this.speeds.fill(0);
  }

  /** Moves the targets on; `actualRad` is where the joints are. */
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
