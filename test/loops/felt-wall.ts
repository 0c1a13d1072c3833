import type { Clock } from '../../src/core/time/clock.ts';
import type { TickStatus } from '../../src/messages/robot-state.ts';
import type { Driver, JointReading } from '../../src/robot/driver.ts';

const STEP_S = 1e-3;
const STEP_NS = 1e6;

/** A DK1's first joint: stiffness and damping of its drive, inertia as in the simulated motors. */
const DRIVE = { nmPerRad: 80, nmSPerRad: 5, inertia: 0.08 };
/** A stiff table edge: passive, a spring and a damper that only push. */
const WALL = { nmPerRad: 400, nmSPerRad: 1 };

/** A follower whose first joint meets a wall and reports the torque from it; the others follow at once. */
export class WallDriver implements Driver {
  readonly fault = '';
  readonly wallRad: number;
  externalNm = 0;
  #rad: Float64Array;
  #target: Float64Array;
  #speed = 0;
  #atNs: number;

  constructor(clock: Clock, startRad: readonly number[], wallRad: number) {
    this.#rad = Float64Array.from(startRad);
    this.#target = this.#rad.slice();
    this.wallRad = wallRad;
    this.#atNs = clock.nowNs();
  }

  get firstRad(): number {
    return this.#rad[0]!;
  }

  enable(): TickStatus {
    return 'ok';
  }

  read(nowNs: number, out: JointReading): TickStatus {
    this.#advance(nowNs);
    out.robotNs = nowNs;
    out.positionsRad.set(this.#rad);
    out.velocitiesRadS.fill(0);
    out.velocitiesRadS[0] = this.#speed;
    out.externalNm.fill(0);
    out.externalNm[0] = this.externalNm;
    return 'ok';
  }

  write(nowNs: number, positionsRad: Float64Array): TickStatus {
    this.#advance(nowNs);
    this.#target.set(positionsRad);
    this.#rad.set(positionsRad.subarray(1), 1);
    return 'ok';
  }

  stop(): void {
    this.#target.set(this.#rad);
  }

  dispose(): void {}

  #advance(nowNs: number): void {
    for (; this.#atNs + STEP_NS <= nowNs; this.#atNs += STEP_NS) {
      const inside = this.#rad[0]! - this.wallRad;
      const push = inside > 0 ? WALL.nmPerRad * inside + WALL.nmSPerRad * this.#speed : 0;
      this.externalNm = -Math.max(0, push);
      const { nmPerRad, nmSPerRad, inertia } = DRIVE;
      const drive = nmPerRad * (this.#target[0]! - this.#rad[0]!) - nmSPerRad * this.#speed;
      this.#speed += ((drive + this.externalNm) / inertia) * STEP_S;
      this.#rad[0]! += this.#speed * STEP_S;
    }
  }
}

/** A hand on the leader: a spring and a damper to where the person wants it, and a mass. */
export interface Hand {
  nmPerRad: number;
  nmSPerRad: number;
  inertia: number;
}

/** A leader's joint itself. */
export interface LeaderJoint {
  inertia: number;
  nmSPerRad: number;
}

/** One joint of a leader, held by a hand. */
export class HeldLeader {
  rad: number;
  speed = 0;
  /** Where the person wants the joint. */
  aimRad: number;
  torqueNm = 0;
  /** Work that the motor has done on the person and the leader, from the motion itself. */
  givenJ = 0;
  mostGivenJ = 0;
  readonly #nmPerRad: number;
  readonly #nmSPerRad: number;
  readonly #inertia: number;

  constructor(joint: LeaderJoint, hand: Hand, startRad: number) {
    this.#nmPerRad = hand.nmPerRad;
    this.#nmSPerRad = joint.nmSPerRad + hand.nmSPerRad;
    this.#inertia = joint.inertia + hand.inertia;
    this.rad = this.aimRad = startRad;
  }

  step(): void {
    const hand = this.#nmPerRad * (this.aimRad - this.rad) - this.#nmSPerRad * this.speed;
    this.speed += ((hand + this.torqueNm) / this.#inertia) * STEP_S;
    const turn = this.speed * STEP_S;
    this.rad += turn;
    this.givenJ += this.torqueNm * turn;
    this.mostGivenJ = Math.max(this.mostGivenJ, this.givenJ);
  }
}
