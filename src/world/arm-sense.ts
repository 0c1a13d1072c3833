import type { WorldBody } from './shape.ts';

/** Numbers of the sensor of the net contact on the arm: found, force, torque, position. */
const CONTACT_NUMBERS = 10;
const TOUCH_NUMBERS = 2;

/** The net contact of an arm: the force it exerts, and where. */
export interface ArmContact {
  forceN: Float64Array;
  torqueNm: Float64Array;
  atM: Float64Array;
}

const isMovable = ({ massKg }: WorldBody): boolean => massKg !== undefined;

/** The sensors of one arm, in the order in which `ArmSense` reads them. */
export function sensorsXml(bodies: readonly WorldBody[], prefix: string): string {
  const pads = bodies
    .filter(isMovable)
    .flatMap(({ name }) =>
      ['L', 'R'].map(
        (side) =>
          `<contact name="${prefix}${name}/${side}" geom1="${prefix}pad${side}" body2="${name}" num="1" data="found"/>`,
      ),
    );
  return `<touch name="${prefix}touchL" site="${prefix}touchL"/><touch name="${prefix}touchR" site="${prefix}touchR"/>
<contact name="${prefix}arm" subtree1="${prefix}base" num="1" data="found force torque pos" reduce="netforce"/>
${pads.join('')}`;
}

/** What the sensors of one arm report. Nothing allocates. */
export class ArmSense {
  readonly contact: ArmContact = {
    forceN: new Float64Array(3),
    torqueNm: new Float64Array(3),
    atM: new Float64Array(3),
  };
  readonly #sensors: Float64Array;
  readonly #bodies: readonly WorldBody[];
  readonly #at: number;

  /** `index`: 0 for the first arm of a scene, 1 for the second. */
  constructor(sensors: Float64Array, bodies: readonly WorldBody[], index: number) {
    this.#sensors = sensors;
    this.#bodies = bodies;
    this.#at = index * (TOUCH_NUMBERS + CONTACT_NUMBERS + 2 * bodies.filter(isMovable).length);
  }

  /** What the pads feel: the smaller of the two. */
  get gripForceN(): number {
    return Math.min(this.#sensors[this.#at]!, this.#sensors[this.#at + 1]!);
  }

  /** Fills `contact`; false if nothing touches the arm. */
  readContact(): boolean {
    const at = this.#at + TOUCH_NUMBERS;
    for (let k = 0; k < 3; k++) {
      this.contact.forceN[k] = this.#sensors[at + 1 + k]!;
      this.contact.torqueNm[k] = this.#sensors[at + 4 + k]!;
      this.contact.atM[k] = this.#sensors[at + 7 + k]!;
    }
    return this.#sensors[at]! > 0;
  }

  /** Index of the body that both pads touch; −1: none. */
  heldBody(): number {
    let at = this.#at + TOUCH_NUMBERS + CONTACT_NUMBERS;
    for (let i = 0; i < this.#bodies.length; i++) {
      if (this.#bodies[i]!.massKg === undefined) continue;
      if (this.#sensors[at]! > 0 && this.#sensors[at + 1]! > 0) return i;
      at += 2;
    }
    return -1;
  }
}
