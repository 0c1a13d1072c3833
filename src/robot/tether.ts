import type { StateReason, SupervisorState } from '../messages/robot-state.ts';
import type { Supervisor } from './supervisor/supervisor.ts';

/** One arm of two. */
export interface TetheredArm {
  name: string;
  supervisor: Supervisor;
}

/** A hold that a person caused, by the clutch or by taking the hand away, concerns one arm. */
const OWN_HOLDS: readonly StateReason[] = ['person', 'tracking'];

/**
 * Makes two supervisors one robot. A stop of either is a stop of both; an arm in doubt (silence, contact, a stall) holds
 * both; an arm moves only while the other has power. Call `check` after everything that may change a state. Hot path.
 */
export class Tether {
  readonly #arms: readonly TetheredArm[];
  readonly #seen: SupervisorState[];
  readonly #texts: { stopped: string; holds: string; unpowered: string }[];

  constructor(arms: readonly [TetheredArm, TetheredArm]) {
    this.#arms = arms;
    this.#seen = arms.map(({ supervisor }) => supervisor.state);
    this.#texts = arms.map(({ name }) => ({
      stopped: `the ${name} arm is stopped`,
      holds: `the ${name} arm holds`,
      unpowered: `the ${name} arm is not armed`,
    }));
  }

  check(nowNs: number): void {
    this.#pull(0, nowNs);
    this.#pull(1, nowNs);
    // What the second arm did to the first.
    this.#pull(0, nowNs);
  }

  /** Passes on what happened to arm `i` since the last call. */
  #pull(i: number, nowNs: number): void {
    const { supervisor } = this.#arms[i]!;
    const other = this.#arms[1 - i]!.supervisor;
    const texts = this.#texts[i]!;
    const { state } = supervisor;
    const before = this.#seen[i]!;
    this.#seen[i] = state;
    // Only a fresh stop: otherwise the arm that is reset first would be stopped again by the other.
    if (state === 'stopped' && before !== 'stopped' && other.state !== 'stopped')
      other.estop(texts.stopped, nowNs);
    else if (other.state !== 'engaged') return;
    else if (state === 'hold' && before === 'engaged' && !OWN_HOLDS.includes(supervisor.why))
      other.neighbourSilent(nowNs, texts.holds);
    else if (state === 'idle' || state === 'disconnected' || state === 'stopped')
      other.neighbourSilent(nowNs, texts.unpowered);
  }
}
