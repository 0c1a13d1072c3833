import { Random } from '../../src/core/random.ts';
import { holdForM, holdForRad } from '../../src/desk/page-hand.ts';
import { wrapRad } from '../../src/geometry/frames.ts';
import { type Move, type Seen, seenAt, type Task, type WorldView } from '../../src/world/task.ts';
import { PERSON } from '../tasks/person.ts';

/** What the person does next. Whoever carries it out fills `seen` before it goes on after a look. */
export type KeyAct = { kind: 'look' } | { kind: 'wait'; s: number } | { kind: 'down' | 'up'; code: string };

/** What can be seen of a world: as in `WorldState`. */
export interface SeenWorld {
  gripM: Float64Array;
  gripYawRad: number;
  openingM: number;
  /** Seven numbers per body. */
  poses: Float64Array;
}

type Acts = Generator<KeyAct, void, void>;
type Go = Extract<Move, { kind: 'go' }>;

const POSE_SIZE = 7;
/** Base frame: x forward, y left, z up, rotation about z. */
const KEYS = [
  ['KeyW', 'KeyS'],
  ['KeyA', 'KeyD'],
  ['KeyE', 'KeyQ'],
  ['KeyR', 'KeyF'],
] as const;
/** Nearer than this, no finger taps so short. */
const NEAR_M = 0.003;
const NEAR_RAD = 0.05;
const TOLERANCE_M = 0.006;
const TOLERANCE_RAD = 0.08;
/** From the key to the arm at rest: playout, the arm's own lag, the page's telemetry. */
const FOLLOWING_S = 0.25;
/** The page closes its gripper in 0.4 s. */
const GRIP_S = 0.55;
/** Standard deviation of when a finger releases a key. */
const RELEASE_S = 0.012;
const CORRECTIONS = 8;
const ABOVE_M = 0.012;
const ABOVE_RAD = 0.12;
const LIFT_M = 0.02;
/** Rather a step more than into the table. */
const DOWN_SHARE = 0.93;

/**
 * The person of `bench tasks`, at the keyboard of the Operate page: looks, holds keys for as long as the distance takes,
 * waits until the arm has followed, looks again. Reaction time and eyes are that person's; what to do next comes from the
 * task's expert.
 */
export class KeyPerson {
  readonly seen: SeenWorld;
  /** As the page shows it; G changes it. */
  isClosed = false;
  readonly #random: Random;
  readonly #task: Task;
  readonly #view: WorldView;

  constructor(task: Task, seed: number) {
    const names = task.bodies().map(({ name }) => name);
    const seen: SeenWorld = {
      gripM: new Float64Array(3),
      gripYawRad: 0,
      openingM: 0,
      poses: new Float64Array(names.length * POSE_SIZE),
    };
    this.seen = seen;
    this.#task = task;
    this.#random = new Random(seed, `keys ${task.name}`);
    this.#view = {
      get gripM() {
        return seen.gripM;
      },
      get gripYawRad() {
        return seen.gripYawRad;
      },
      get openingM() {
        return seen.openingM;
      },
      see: (body: string): Seen => seenAt(seen.poses, names.indexOf(body) * POSE_SIZE, 0),
    };
  }

  /** Does the task; looks what is left when it believes that it is done. Endless. */
  *acts(): Acts {
    yield { kind: 'wait', s: PERSON.reactionS };
    for (;;) {
      yield* this.#look();
      const moves = this.#task.expert(this.#view);
      for (let next = moves.next(); next.done !== true; next = moves.next()) {
        const move = next.value;
        if (move.kind === 'go') yield* this.#reach(move);
        else if (move.kind === 'grip') yield* this.#grip(move.openM === 0);
        else yield { kind: 'wait', s: move.waitS };
        yield* this.#look();
      }
      yield { kind: 'wait', s: 1 };
    }
  }

  *#look(): Acts {
    yield { kind: 'look' };
    const blur = () => PERSON.sightM * this.#random.normal();
    const { gripM, poses } = this.seen;
    for (let i = 0; i < 3; i++) gripM[i]! += blur();
    for (let at = 0; at < poses.length; at += POSE_SIZE) for (let i = 0; i < 3; i++) poses[at + i]! += blur();
  }

  *#grip(closed: boolean): Acts {
    if (closed === this.isClosed) return;
    yield { kind: 'wait', s: PERSON.reactionS };
    this.isClosed = closed;
    yield* this.#tap('KeyG');
    yield { kind: 'wait', s: GRIP_S };
  }

  *#tap(code: string): Acts {
    yield { kind: 'down', code };
    yield { kind: 'wait', s: 0.06 };
    yield { kind: 'up', code };
  }

  *#reach(goal: Go): Acts {
    for (let k = 0; k < CORRECTIONS; k++) {
      if (k > 0) yield* this.#look();
      const { gripM, gripYawRad } = this.seen;
      const errorM = [goal.xM - gripM[0]!, goal.yM - gripM[1]!, goal.zM - gripM[2]!];
      const errorRad = wrapRad(goal.yawRad - gripYawRad);
      const tolerance = Math.max(TOLERANCE_M, goal.toleranceM);
      if (Math.hypot(...errorM) < tolerance && Math.abs(errorRad) < TOLERANCE_RAD) return;
      yield { kind: 'wait', s: PERSON.refractoryS };
      yield* this.#hold(nextKeys(errorM, errorRad));
      yield { kind: 'wait', s: FOLLOWING_S };
    }
  }

  /** Presses all keys at once and releases each in its time. */
  *#hold(keys: readonly Hold[]): Acts {
    for (const { code } of keys) yield { kind: 'down', code };
    let atS = 0;
    const timed = keys.map(({ code, s }) => ({
      code,
      s: Math.max(0.03, s + RELEASE_S * this.#random.normal()),
    }));
    for (const { code, s } of timed.sort((a, b) => a.s - b.s)) {
      if (s > atS) yield { kind: 'wait', s: s - atS };
      atS = Math.max(atS, s);
      yield { kind: 'up', code };
    }
  }
}

/** Lifts before it moves aside, and comes down only once it is above: not to push what stands there. */
function nextKeys(errorM: readonly number[], errorRad: number): Hold[] {
  const [x = 0, y = 0, z = 0] = errorM;
  const isAbove = Math.hypot(x, y) < ABOVE_M && Math.abs(errorRad) < ABOVE_RAD;
  if (z < 0) return isAbove ? holds([x, y, DOWN_SHARE * z], errorRad) : holds([x, y, 0], errorRad);
  return z > LIFT_M && !isAbove ? holds([0, 0, z], 0) : holds(errorM, errorRad);
}

interface Hold {
  code: string;
  s: number;
}

/**
 * How long to hold which keys. Keys held together share the hand's speed, so the path has a stretch for each number of
 * keys, from all of them to the last one.
 */
function holds(errorM: readonly number[], errorRad: number): Hold[] {
  const far = errorM
    .map((m, axis) => ({ code: KEYS[axis]![m > 0 ? 0 : 1], m: Math.abs(m) }))
    .filter(({ m }) => m > NEAR_M)
    .sort((a, b) => a.m - b.m);
  let [pathM, doneM] = [0, 0];
  const keys: Hold[] = far.map(({ code, m }, i) => {
    pathM += Math.sqrt(far.length - i) * (m - doneM);
    doneM = m;
    return { code, s: holdForM(pathM) };
  });
  if (Math.abs(errorRad) > NEAR_RAD)
    keys.push({ code: KEYS[3][errorRad > 0 ? 0 : 1], s: holdForRad(Math.abs(errorRad)) });
  return keys;
}
