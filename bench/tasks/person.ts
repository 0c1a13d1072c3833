import { Random } from '../../src/core/random.ts';
import { wrapRad } from '../../src/geometry/frames.ts';
import { WORLD_POSE_SIZE, WORLD_STATE, type WorldState } from '../../src/messages/world-state.ts';
import { OPEN_M } from '../../src/world/gripper-body.ts';
import { ReportedWorld } from '../../src/world/reported-world.ts';
import type { Move, Task } from '../../src/world/task.ts';

/**
 * A person by published figures. Moves in minimum-jerk submovements (Flash & Hogan 1985, Meyer et al. 1988) whose time
 * follows Fitts' law in Shannon's form (MacKenzie & Buxton 1992); the end error grows with the distance (Harris & Wolpert
 * 1998); over a delay, moves and waits (Ferrell 1965).
 */
export const PERSON = {
  reactionS: 0.25,
  /** From the picture to the hand. */
  visuomotorS: 0.12,
  fittsAS: 0.23,
  fittsBS: 0.17,
  alongShare: 0.05,
  acrossShare: 0.03,
  yawRad: 0.02,
  sightM: 0.001,
  tremorM: 0.0003,
  tremorHz: 9,
  refractoryS: 0.15,
  /** 1: waits until it has seen what the last movement did. 0: corrects at once. */
  patience: 1,
  corrections: 6,
} as const;

type Go = Extract<Move, { kind: 'go' }>;

/** What a person needs to know about the delays, besides the pictures. */
export interface Sight {
  /** Fills the world as it was when the picture now on the screen was taken. */
  look(out: WorldState): void;
  /** From a movement of the hand to its picture, as experience teaches. */
  loopDelayS(): number;
}

export class Person {
  readonly pointM = new Float64Array(3);
  yawRad = 0;
  openM = OPEN_M;
  readonly #task: Task;
  readonly #sight: Sight;
  readonly #random: Random;
  readonly #seen = WORLD_STATE.create();
  readonly #view: ReportedWorld;
  readonly #ticks: Iterator<void, void, void>;
  readonly #atM = new Float64Array(3);
  #dtS = 0;
  #atS = 0;

  constructor(task: Task, seed: number, sight: Sight) {
    this.#task = task;
    this.#sight = sight;
    this.#random = new Random(seed, `person ${task.name}`);
    this.#view = new ReportedWorld(this.#seen, task);
    this.#ticks = this.#live();
  }

  /** The hand after `dtS` more seconds. */
  tick(dtS: number): void {
    this.#dtS = dtS;
    this.#atS += dtS;
    this.#ticks.next();
    const tremor = PERSON.tremorM * Math.SQRT2 * Math.sin(2 * Math.PI * PERSON.tremorHz * this.#atS);
    this.pointM.set(this.#atM);
    this.pointM[0]! += tremor;
    this.pointM[2]! += tremor / 2;
  }

  /** Does the task; looks what is left when it believes it is done. */
  *#live(): Generator<void, void, void> {
    yield* this.#wait(PERSON.reactionS);
    for (;;) {
      this.#glance();
      const moves = this.#task.expert(this.#view);
      for (let next = moves.next(); next.done !== true; ) {
        const move = next.value;
        if (move.kind === 'go') yield* this.#reach(move);
        else if (move.kind === 'grip') yield* this.#grip(move.openM, move.waitS);
        else yield* this.#wait(move.waitS);
        this.#glance();
        next = moves.next();
      }
      yield* this.#wait(1);
    }
  }

  *#grip(openM: number, waitS: number): Generator<void, void, void> {
    if (openM === this.openM) return;
    yield* this.#wait(PERSON.reactionS);
    this.openM = openM;
    yield* this.#wait(waitS);
    yield* this.#settle();
  }

  /** Submovements until what it sees is close enough. */
  *#reach(goal: Go): Generator<void, void, void> {
    for (let k = 0; k <= PERSON.corrections; k++) {
      this.#glance();
      const { gripM, gripYawRad } = this.#view;
      const errorM = [goal.xM - gripM[0]!, goal.yM - gripM[1]!, goal.zM - gripM[2]!];
      const errorRad = wrapRad(goal.yawRad - gripYawRad);
      if (k > 0 && Math.hypot(...errorM) < goal.toleranceM && Math.abs(errorRad) < 0.06) return;
      yield* this.#move(errorM, errorRad, goal.toleranceM);
      yield* this.#settle();
    }
  }

  *#move(aimM: readonly number[], turnRad: number, toleranceM: number): Generator<void, void, void> {
    const farM = Math.hypot(...aimM);
    const width = Math.max(toleranceM, 0.15 * farM);
    const lengthS = PERSON.fittsAS + PERSON.fittsBS * Math.log2(1 + farM / width);
    const along = PERSON.alongShare * this.#random.normal();
    const endM = aimM.map((m) => m * (1 + along) + PERSON.acrossShare * farM * this.#random.normal());
    const endRad = turnRad + (Math.abs(turnRad) > 0.05 ? PERSON.yawRad * this.#random.normal() : 0);
    const from = Float64Array.from(this.#atM);
    const fromRad = this.yawRad;
    for (let s = this.#dtS; ; s += this.#dtS) {
      const u = Math.min(1, s / lengthS);
      const share = u * u * u * (10 - 15 * u + 6 * u * u);
      for (let i = 0; i < 3; i++) this.#atM[i] = from[i]! + share * endM[i]!;
      this.yawRad = fromRad + share * endRad;
      yield;
      if (u === 1) return;
    }
  }

  *#settle(): Generator<void, void, void> {
    yield* this.#wait(PERSON.refractoryS + PERSON.patience * (this.#sight.loopDelayS() + PERSON.visuomotorS));
  }

  *#wait(seconds: number): Generator<void, void, void> {
    for (let s = 0; s < seconds; s += this.#dtS) yield;
  }

  /** What it sees now, with the error of its eyes. */
  #glance(): void {
    this.#sight.look(this.#seen);
    const blur = () => PERSON.sightM * this.#random.normal();
    for (let i = 0; i < 3; i++) this.#seen.gripM[i]! += blur();
    for (let body = 0; body < this.#seen.bodies; body++)
      for (let i = 0; i < 3; i++) this.#seen.poses[body * WORLD_POSE_SIZE + i]! += blur();
  }
}
