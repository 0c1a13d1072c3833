import type { OptionSpec } from '../src/cli/arguments.ts';
import { monotonicClock } from '../src/core/time/clock.ts';

export const JSON_OPTION: OptionSpec = {
  type: 'boolean',
  about: 'report what the arm does, as JSON lines with this machine’s monotonic clock (atNs)',
};

const EVERY_NS = 20e6;

/** One line of `--json`. */
export type SimLine =
  | {
      kind: 'arm';
      atNs: number;
      positionsRad: number[];
      /** Top speed of each joint since the previous line. */
      topRadS: number[];
      /** 1 is closed. */
      gripper: number;
    }
  | { kind: 'event'; atNs: number; what: string };

/** Reports what a simulated arm does: 50 lines per second for its joints, and one per event at once. */
export class Narrator {
  readonly #on: boolean;
  #topRadS: number[] = [];
  #reportedNs = Number.NEGATIVE_INFINITY;

  constructor(on: boolean) {
    this.#on = on;
  }

  event(what: string): void {
    if (this.#on) this.#print({ kind: 'event', atNs: monotonicClock.nowNs(), what });
  }

  /** Call after every step of the arm. */
  arm(positionsRad: ArrayLike<number>, velocitiesRadS: ArrayLike<number>, gripper: number): void {
    if (!this.#on) return;
    for (let i = 0; i < velocitiesRadS.length; i++)
      this.#topRadS[i] = Math.max(this.#topRadS[i] ?? 0, Math.abs(velocitiesRadS[i]!));
    const atNs = monotonicClock.nowNs();
    if (atNs - this.#reportedNs < EVERY_NS) return;
    this.#reportedNs = atNs;
    const topRadS = this.#topRadS;
    this.#topRadS = [];
    this.#print({ kind: 'arm', atNs, positionsRad: Array.from(positionsRad), topRadS, gripper });
  }

  #print(line: SimLine): void {
    console.log(JSON.stringify(line));
  }
}
