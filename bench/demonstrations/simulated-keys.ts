import { restingHand, stepHand } from '../../src/desk/page-hand.ts';
import type { InputDevice } from '../../src/input/device.ts';
import type { HandSample, SampleStatus } from '../../src/messages/hand-sample.ts';
import { WORLD_STATE } from '../../src/messages/world-state.ts';
import type { Task } from '../../src/world/task.ts';
import type { Sight } from '../tasks/person.ts';
import type { Hands } from '../tasks/trial.ts';
import { KeyPerson } from './key-person.ts';

/** As in the page. */
const PERIOD_NS = 20e6;

/** The person at the keyboard and the page's hand, without a page: on the clock of a simulation. */
export function simulatedKeys(task: Task, seed: number, sight: Sight): Hands {
  const person = new KeyPerson(task, seed);
  return { device: new KeyInput(person, sight), isClosed: () => person.isClosed };
}

class KeyInput implements InputDevice {
  readonly #person: KeyPerson;
  readonly #sight: Sight;
  readonly #acts;
  readonly #held = new Set<string>();
  readonly #hand = restingHand();
  readonly #world = WORLD_STATE.create();
  #startNs = Number.NaN;
  #steppedNs = 0;
  #actNs = 0;

  constructor(person: KeyPerson, sight: Sight) {
    this.#person = person;
    this.#sight = sight;
    this.#acts = person.acts();
  }

  ingest(): 'unknown-source' {
    return 'unknown-source';
  }

  sample(nowNs: number, out: HandSample): SampleStatus {
    if (Number.isNaN(this.#startNs)) this.#startNs = this.#steppedNs = this.#actNs = nowNs;
    while (this.#actNs <= nowNs) this.#act();
    while (this.#steppedNs + PERIOD_NS <= nowNs) {
      this.#steppedNs += PERIOD_NS;
      stepHand(this.#hand, this.#held, PERIOD_NS / 1e9);
    }
    out.takenNs = this.#steppedNs;
    out.positionM.set(this.#hand.positionM);
    out.quatXyzw.set(this.#hand.quatXyzw);
    out.gripper = this.#hand.gripper;
    Object.assign(out, { clutch: true, tracking: true, estop: false, points: 0, isLeft: false });
    return 'ok';
  }

  #act(): void {
    const { value } = this.#acts.next();
    if (value === undefined) this.#actNs = Number.POSITIVE_INFINITY;
    else if (value.kind === 'wait') this.#actNs += value.s * 1e9;
    else if (value.kind === 'look') this.#look();
    else if (value.kind === 'up') this.#held.delete(value.code);
    else {
      this.#held.add(value.code);
      if (value.code === 'KeyG') this.#hand.gripperTarget = this.#hand.gripperTarget === 0 ? 1 : 0;
    }
  }

  #look(): void {
    this.#sight.look(this.#world);
    const { gripM, gripYawRad, openingM, poses } = this.#world;
    const { seen } = this.#person;
    seen.gripM.set(gripM);
    seen.poses.set(poses.subarray(0, seen.poses.length));
    Object.assign(seen, { gripYawRad, openingM });
  }
}
