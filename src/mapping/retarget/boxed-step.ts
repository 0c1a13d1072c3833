import type { NormalEquations } from './normal-equations.ts';

const LEAST_PIVOT = 1e-14;
const MOST_STEP_RAD = 0.5;

/**
 * One Gauss–Newton step inside the joints' ranges: a joint at its stop that is pushed outward is held, then a
 * skyline Cholesky solve. Hot path: nothing allocates; one caller at a time.
 */
export class BoxedStep {
  readonly #equations: NormalEquations;
  readonly #joints: Int32Array;
  readonly #minRad: Float64Array;
  readonly #maxRad: Float64Array;
  readonly #held: Uint8Array;
  readonly #factor: Float64Array;
  readonly #step: Float64Array;

  /** `jointOf` gives each link's joint; limits are in the model's order. */
  constructor(
    equations: NormalEquations,
    jointOf: Int32Array,
    limits: readonly { minRad: number; maxRad: number }[],
  ) {
    const { size, links } = equations;
    this.#equations = equations;
    this.#joints = links.map((e) => jointOf[e]!);
    this.#minRad = Float64Array.from(limits, ({ minRad }) => minRad);
    this.#maxRad = Float64Array.from(limits, ({ maxRad }) => maxRad);
    this.#held = new Uint8Array(size);
    this.#factor = new Float64Array(size * size);
    this.#step = new Float64Array(size);
  }

  /** Changes `qRad` in place. `dampingM2`, one number, shortens the step. */
  apply(qRad: Float64Array, dampingM2: Float64Array): void {
    const { size, g } = this.#equations;
    for (let i = 0; i < size; i++) {
      const joint = this.#joints[i]!;
      const atLow = qRad[joint]! <= this.#minRad[joint]! && g[i]! < 0;
      const atHigh = qRad[joint]! >= this.#maxRad[joint]! && g[i]! > 0;
      this.#held[i] = atLow || atHigh ? 1 : 0;
    }
    this.#factorise(dampingM2);
    this.#substitute();
    for (let i = 0; i < size; i++) {
      const joint = this.#joints[i]!;
      const step = Math.min(MOST_STEP_RAD, Math.max(-MOST_STEP_RAD, this.#step[i]!));
      qRad[joint] = Math.min(this.#maxRad[joint]!, Math.max(this.#minRad[joint]!, qRad[joint]! + step));
    }
  }

  /** L Lᵀ = H with held rows replaced by the identity, and L y = g. */
  #factorise(dampingM2: Float64Array): void {
    const { size, h, g, firstColumn } = this.#equations;
    const l = this.#factor;
    const step = this.#step;
    for (let i = 0; i < size; i++) {
      const held = this.#held[i] === 1;
      const first = firstColumn[i]!;
      let rest = held ? 0 : g[i]!;
      for (let j = first; j < i; j++) {
        let sum = held || this.#held[j] === 1 ? 0 : h[i * size + j]!;
        for (let k = Math.max(first, firstColumn[j]!); k < j; k++) sum -= l[i * size + k]! * l[j * size + k]!;
        sum /= l[j * size + j]!;
        l[i * size + j] = sum;
        rest -= sum * step[j]!;
      }
      let pivot = held ? 1 : h[i * size + i]! + dampingM2[0]!;
      for (let k = first; k < i; k++) pivot -= l[i * size + k]! * l[i * size + k]!;
      const root = Math.sqrt(Math.max(LEAST_PIVOT, pivot));
      l[i * size + i] = root;
      step[i] = rest / root;
    }
  }

  /** Lᵀ step = y. */
  #substitute(): void {
    const { size, firstColumn } = this.#equations;
    const l = this.#factor;
    const step = this.#step;
    for (let i = size - 1; i >= 0; i--) {
      step[i]! /= l[i * size + i]!;
      for (let j = firstColumn[i]!; j < i; j++) step[j]! -= l[i * size + j]! * step[i]!;
    }
  }
}
