const FLAT = 1e-12;
/** The direction in which a contact takes off stays this close (cosine) to the contact's own. */
const LEAST_LEAN = 0.6;
/** … and, where it rolls, turns to it within this much motion of the hand: a still hand moves nothing. */
const ROLL_M = 0.02;

/**
 * The direction away from each contact when it began. The motion into a contact is taken off along that direction, so that
 * sliding round something does not lag behind the hand. Hot path: nothing allocates.
 */
export class ContactDirections {
  /** Three numbers each. */
  readonly away: Float64Array;
  /** How long a contact has lasted: 0 none, 1 until the last sample, 2 in this one. */
  readonly #lasts: Uint8Array;

  constructor(contacts: number) {
    this.away = new Float64Array(3 * contacts);
    this.#lasts = new Uint8Array(contacts);
  }

  engage(): void {
    this.#lasts.fill(0);
  }

  /**
   * A contact acts, with this direction at present. Returns how far the kept direction points along it. Round a small thing
   * the kept one turns with it: pushed off sideways, the point would run away.
   */
  touch(contact: number, normals: Float64Array, at: number): number {
    const { away } = this;
    const from = 3 * contact;
    if (this.#lasts[contact] === 0) for (let i = 0; i < 3; i++) away[from + i] = normals[at + i]!;
    this.#lasts[contact] = 2;
    const lean =
      away[from]! * normals[at]! + away[from + 1]! * normals[at + 1]! + away[from + 2]! * normals[at + 2]!;
    if (lean >= LEAST_LEAN) return lean;
    const aside = Math.sqrt((1 - LEAST_LEAN * LEAST_LEAN) / Math.max(FLAT, 1 - lean * lean));
    for (let i = 0; i < 3; i++)
      away[from + i] = LEAST_LEAN * normals[at + i]! + aside * (away[from + i]! - lean * normals[at + i]!);
    return LEAST_LEAN;
  }

  /** Turns the marked contacts to their present directions, as far as the hand has moved. */
  roll(rolls: Uint8Array, normals: Float64Array, movedM: number): void {
    const { away } = this;
    const share = Math.min(1, movedM / ROLL_M);
    for (let k = 0; k < rolls.length; k++) {
      if (rolls[k] === 0 || this.#lasts[k] === 0) continue;
      let square = 0;
      for (let i = 3 * k; i < 3 * k + 3; i++) {
        away[i]! += share * (normals[i]! - away[i]!);
        square += away[i]! ** 2;
      }
      const length = Math.max(FLAT, Math.sqrt(square));
      for (let i = 3 * k; i < 3 * k + 3; i++) away[i]! /= length;
    }
  }

  /** A sample has ended. */
  age(): void {
    for (let k = 0; k < this.#lasts.length; k++) if (this.#lasts[k]! > 0) this.#lasts[k]!--;
  }
}
