import type { WorldState } from '../messages/world-state.ts';
import { POSE_SIZE } from './shape.ts';
import { type Seen, seenAt, type Task, type WorldView } from './task.ts';

/** A world by what its robot reports. */
export class ReportedWorld implements WorldView {
  readonly #state: WorldState;
  readonly #names: readonly string[];

  constructor(state: WorldState, task: Task) {
    this.#state = state;
    this.#names = task.bodies().map(({ name }) => name);
  }

  get gripM(): Float64Array {
    return this.#state.gripM;
  }

  get gripYawRad(): number {
    return this.#state.gripYawRad;
  }

  get openingM(): number {
    return this.#state.openingM;
  }

  see(body: string): Seen {
    return seenAt(this.#state.poses, this.#names.indexOf(body) * POSE_SIZE, 0);
  }
}
