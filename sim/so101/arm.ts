import type { Pty } from '../../src/robot/buses/pty.ts';
import { HeldJoint } from '../held-joint.ts';
import { SimServo } from './servo.ts';

/** Steps of the calibrated ranges: those of the model's joints, then the gripper's. */
const RANGES: readonly (readonly [number, number])[] = [
  [796, 3300],
  [910, 3186],
  [946, 3150],
  [967, 3129],
  [260, 3902],
  [2000, 3400],
];
/** 16.5 kg·cm with a gear of 345:1, the others of a leader by their ratio. Estimates. */
const LEADER_STALL_NM = [0.9, 1.6, 0.9, 0.68, 0.68];
const BROADCAST = 0xfe;

/**
 * Six servos on a pseudo-terminal. Written from Feetech's protocol manual, independent of our codec. Instructions that
 * arrive together are answered together, as on the wire.
 */
export class SimArm {
  readonly servos: readonly SimServo[];
  silent = false;
  #hands: HeldJoint[] = [];
  #aimRad: readonly number[] = [];
  readonly #pty: Pty;
  readonly #in = new Uint8Array(4096);
  #held: Buffer = Buffer.alloc(0);

  constructor(pty: Pty) {
    this.#pty = pty;
    this.servos = RANGES.map((range, i) => new SimServo(i + 1, range, (range[0] + range[1]) / 2));
  }

  /** Radians of the five joints; zero is the middle of a joint's range. */
  get positionsRad(): number[] {
    return this.servos.slice(0, 5).map(({ position }, i) => ((position - middle(i)) * 2 * Math.PI) / 4096);
  }

  /** 1 is closed. */
  get gripper(): number {
    const [min, max] = RANGES[5]!;
    return 1 - (this.servos[5]!.position - min) / (max - min);
  }

  /** Torques of the joints' motors. */
  get torquesNm(): number[] {
    return LEADER_STALL_NM.map((nm, i) => nm * this.servos[i]!.pull);
  }

  /** From now on a hand holds the joints: with torque it is a spring to where `lead` puts it. */
  hold(): void {
    this.#hands = this.positionsRad.map((rad) => new HeldJoint(rad));
    this.#aimRad = this.positionsRad;
  }

  /** Moves it as a person would. */
  lead(jointsRad: readonly number[]): void {
    this.#aimRad = jointsRad;
    jointsRad.forEach((rad, i) => {
      this.servos[i]!.turnTo(middle(i) + (rad * 4096) / (2 * Math.PI));
    });
  }

  step(dtS: number): void {
    this.servos.forEach((servo, i) => {
      const held = this.#hands[i];
      if (held === undefined || !servo.isPowered) {
        held?.place(this.positionsRad[i]!);
        servo.step(dtS);
        return;
      }
      held.step(dtS, this.#aimRad[i]!, this.torquesNm[i]!);
      servo.carry(middle(i) + (held.rad * 4096) / (2 * Math.PI));
    });
  }

  /** Answers what has arrived. */
  answer(): void {
    const bytes = this.#pty.read(this.#in);
    if (bytes === 0) return;
    this.#held = Buffer.concat([this.#held, this.#in.subarray(0, bytes)]);
    for (;;) {
      const at = this.#held.indexOf(Uint8Array.of(0xff, 0xff));
      if (at < 0) return;
      const end = at + 4 + (this.#held[at + 3] ?? Number.NaN);
      if (!(end <= this.#held.length)) return;
      this.#take(this.#held.subarray(at + 2, end));
      this.#held = this.#held.subarray(end);
    }
  }

  /** `id | length | instruction | parameters | checksum` */
  #take(body: Buffer): void {
    if ((body.reduce((sum, byte) => sum + byte, 0) & 0xff) !== 0xff || this.silent) return;
    const [id = 0, , instruction = 0, address = 0, size = 0] = body;
    const params = body.subarray(3, -1);
    if (instruction === 0x82) for (const each of params.subarray(2)) this.#read(each, address, size);
    else if (instruction === 0x83)
      for (let at = 2; at + size < params.length; at += size + 1)
        this.#servo(params[at]!)?.write(address, params.subarray(at + 1, at + 1 + size));
    else if (instruction === 1) for (const each of this.#named(id)) this.#status(each.id, []);
    else if (instruction === 2) this.#read(id, address, size);
    else if (instruction === 3) {
      for (const servo of this.#named(id)) servo.write(address, params.subarray(1));
      if (this.#servo(id)) this.#status(id, []);
    }
  }

  #named(id: number): readonly SimServo[] {
    return id === BROADCAST ? this.servos : this.servos.filter((servo) => servo.id === id);
  }

  #servo(id: number): SimServo | undefined {
    return this.servos.find((servo) => servo.id === id);
  }

  #read(id: number, address: number, size: number): void {
    const servo = this.#servo(id);
    if (servo !== undefined) this.#status(id, servo.table.subarray(address, address + size));
  }

  #status(id: number, data: Iterable<number>): void {
    const values = [...data];
    const body = [id, values.length + 2, 0, ...values];
    const sum = body.reduce((total, byte) => total + byte, 0) & 0xff;
    const bytes = Uint8Array.of(0xff, 0xff, ...body, 0xff - sum);
    this.#pty.write(bytes, bytes.length);
  }
}

const middle = (i: number): number => (RANGES[i]![0] + RANGES[i]![1]) / 2;
