import { wrapRad } from '../../src/geometry/frames.ts';
import { OPEN_M } from '../../src/world/gripper-body.ts';
import type { Move, WorldView } from '../../src/world/task.ts';
import type { TestHand } from '../loops/simulated-rig.ts';

/** What a person sees is this old when the hand reacts. */
const REACTION_S = 0.2;
/** Slow enough for what is seen late: a turn moves the gripper, too, by design of the mapping. */
const PER_S = 1;
const MAX_M_S = 0.15;
const MAX_RAD_S = 0.3;
const NEAR_RAD = 0.06;
/** Seen in place for this long before the next step. */
const SURE_S = 0.25;
const GIVE_UP_S = 12;

interface Seen {
  atS: number;
  gripM: [number, number, number];
  yawRad: number;
}

/**
 * A person with a controller who carries out an expert's plan by eye: pushes the hand towards where the gripper is not yet,
 * and turns it, whatever the mapping does with that.
 */
export class SeeingPerson {
  isDone = false;
  #move: Move | null = null;
  #atS = 0;
  #sinceS = 0;
  #sureS = 0;
  #yawRad = 0;
  readonly #moves: Iterator<Move, void, void>;
  readonly #view: WorldView;
  readonly #hand: TestHand;
  readonly #seen: Seen[] = [];

  constructor(moves: Iterator<Move, void, void>, view: WorldView, hand: TestHand) {
    this.#moves = moves;
    this.#view = view;
    this.#hand = hand;
    this.#next();
  }

  tick(dtS: number): void {
    this.#atS += dtS;
    const { gripM, gripYawRad } = this.#view;
    this.#seen.push({ atS: this.#atS, gripM: [gripM[0]!, gripM[1]!, gripM[2]!], yawRad: gripYawRad });
    while (this.#seen.length > 1 && this.#seen[1]!.atS <= this.#atS - REACTION_S) this.#seen.shift();
    const move = this.#move;
    if (move === null) return;
    if (move.kind === 'go') this.#go(move, dtS);
    else if (this.#atS - this.#sinceS > (move.kind === 'grip' ? move.waitS + 0.3 : 0.3)) this.#next();
  }

  #next(): void {
    const { value, done } = this.#moves.next();
    this.#sinceS = this.#atS;
    this.#sureS = 0;
    this.#move = done === true || value === undefined ? null : value;
    this.isDone = this.#move === null;
    if (this.#move?.kind === 'grip') this.#hand.hand.gripper = 1 - this.#move.openM / OPEN_M;
  }

  #go(move: Extract<Move, { kind: 'go' }>, dtS: number): void {
    const { gripM, yawRad } = this.#seen[0]!;
    const offM = [move.xM - gripM[0], move.yM - gripM[1], move.zM - gripM[2]];
    const farM = Math.hypot(...offM);
    const share = Math.min(PER_S, MAX_M_S / Math.max(1e-9, farM)) * dtS;
    const { positionM, quatXyzw } = this.#hand.hand;
    // From the robot's base to the room: right is −y, up is z, towards the person −x.
    positionM[0]! -= share * offM[1]!;
    positionM[1]! += share * offM[2]!;
    positionM[2]! -= share * offM[0]!;
    const offRad = wrapRad(move.yawRad - yawRad);
    this.#yawRad += Math.max(-MAX_RAD_S, Math.min(MAX_RAD_S, PER_S * offRad)) * dtS;
    quatXyzw.set([0, Math.sin(this.#yawRad / 2), 0, Math.cos(this.#yawRad / 2)]);
    const isThere = farM < move.toleranceM && Math.abs(offRad) < NEAR_RAD;
    this.#sureS = isThere ? this.#sureS + dtS : 0;
    if (this.#sureS > SURE_S || this.#atS - this.#sinceS > GIVE_UP_S) this.#next();
  }
}
