import { HAND_JOINTS, handReady } from './hand-bodies.ts';
import type { Move } from './task.ts';

/** Carries out an expert's moves of fingers in time, from an open hand: where each joint should be. */
export class FingerHand {
  readonly jointsRad = handReady();
  isDone = false;
  readonly #moves: Iterator<Move, void, void>;
  readonly #fromRad = handReady();
  readonly #toRad = handReady();
  #atS = 0;
  #movingS = 1;
  #lengthS = 0;

  constructor(moves: Iterator<Move, void, void>) {
    this.#moves = moves;
  }

  tick(dtS: number): void {
    this.#atS += dtS;
    while (!this.isDone && this.#atS >= this.#lengthS) this.#begin();
    const u = Math.min(1, this.#atS / this.#movingS);
    const share = u * u * u * (10 - 15 * u + 6 * u * u);
    for (let i = 0; i < this.jointsRad.length; i++)
      this.jointsRad[i] = this.#fromRad[i]! + share * (this.#toRad[i]! - this.#fromRad[i]!);
  }

  #begin(): void {
    this.#atS -= this.#lengthS;
    this.#fromRad.set(this.#toRad);
    const { value, done } = this.#moves.next();
    this.isDone = done === true || value === undefined;
    if (done === true || value === undefined) return;
    this.#lengthS = value.kind === 'go' ? value.restS : value.waitS;
    if (value.kind !== 'fingers') return;
    this.#movingS = value.moveS;
    HAND_JOINTS.forEach((name, i) => {
      this.#toRad[i] = value.jointsRad[name] ?? this.#toRad[i]!;
    });
  }
}
