import type { ObservedState } from './observation.ts';

/** More than the oldest usable picture needs, at 125 states per second. */
const KEPT = 150;

/**
 * The robot's last states. A picture shows the robot some time ago: a policy that saw it beside a newer state would take
 * the motion in between for its own delay.
 */
export class StateHistory {
  #states: ObservedState[] = [];

  /** Ignores one that is not newer than the last. */
  add(state: ObservedState | null): void {
    const last = this.#states.at(-1);
    if (state === null || (last !== undefined && state.measuredNs <= last.measuredNs)) return;
    this.#states.push(state);
    if (this.#states.length > KEPT) this.#states.shift();
  }

  /** Null without any. */
  get newest(): ObservedState | null {
    return this.#states.at(-1) ?? null;
  }

  /** Between its neighbours by a straight line; the oldest or newest one outside the history. Null without any. */
  at(instantNs: number): ObservedState | null {
    const after = this.#states.findIndex(({ measuredNs }) => measuredNs > instantNs);
    if (after < 1) return (after === 0 ? this.#states[0] : this.#states.at(-1)) ?? null;
    const [from, to] = [this.#states[after - 1]!, this.#states[after]!];
    const share = (instantNs - from.measuredNs) / (to.measuredNs - from.measuredNs);
    const between = (a: number, b: number) => a + share * (b - a);
    return {
      ...from,
      positionsRad: from.positionsRad.map((rad, i) => between(rad, to.positionsRad[i]!)),
      gripper: between(from.gripper, to.gripper),
      measuredNs: instantNs,
    };
  }
}
