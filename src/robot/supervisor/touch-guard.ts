import { NS_PER_MS } from '../../core/time/clock.ts';
import type { RobotModel } from '../../geometry/robot-model.ts';
import type { JointReading } from '../driver.ts';

/** Smooths over the spike of a landing; a person cannot feel one this short. */
const SMOOTHING_NS = 15 * NS_PER_MS;
/** An arm that already presses may be engaged to take it away: it may press this much harder, no more. */
const MARGIN = 1.2;

/** Whether something outside presses on the arm harder than it may. Hot path: nothing allocates. */
export class TouchGuard {
  readonly #maxNm: number;
  readonly #names: readonly string[];
  readonly #smoothNm: Float64Array;
  #noteNs = Number.NaN;
  #mostNm = 0;
  #joint = 0;
  #allowedNm = 0;

  /** `maxNm` null: nothing is too hard. */
  constructor(model: RobotModel, maxNm: number | null) {
    this.#maxNm = maxNm ?? Number.POSITIVE_INFINITY;
    this.#allowedNm = this.#maxNm;
    this.#names = model.joints.map(({ name }) => name);
    this.#smoothNm = new Float64Array(model.joints.length);
  }

  /** A reading with its stamp; a joint whose torque is unknown counts as untouched. */
  note({ robotNs, externalNm }: Pick<JointReading, 'robotNs' | 'externalNm'>): void {
    const gapNs = robotNs - this.#noteNs;
    if (gapNs <= 0) return;
    const share = gapNs > 0 ? Math.min(1, gapNs / SMOOTHING_NS) : 1;
    this.#noteNs = robotNs;
    this.#mostNm = 0;
    for (let i = 0; i < this.#smoothNm.length; i++) {
      const nm = externalNm[i]!;
      this.#smoothNm[i]! += share * ((Number.isFinite(nm) ? nm : 0) - this.#smoothNm[i]!);
      const size = Math.abs(this.#smoothNm[i]!);
      if (size <= this.#mostNm) continue;
      this.#mostNm = size;
      this.#joint = i;
    }
    // Once it presses less, it may not press harder again.
    this.#allowedNm = Math.max(this.#maxNm, Math.min(this.#allowedNm, MARGIN * this.#mostNm));
  }

  /** An engagement begins, perhaps with the arm still pressing. */
  engage(): void {
    this.#allowedNm = Math.max(this.#maxNm, MARGIN * this.#mostNm);
  }

  get isTooHard(): boolean {
    return this.#mostNm > this.#allowedNm;
  }

  /** For the operator. */
  get cause(): string {
    return `contact: ${this.#mostNm.toFixed(1)} N·m from outside on ${this.#names[this.#joint]}`;
  }
}
