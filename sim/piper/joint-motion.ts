import type { Chain } from '../../src/geometry/chain.ts';
import type { RobotModel } from '../../src/geometry/robot-model.ts';

const JOINTS = 6;
const ACCELERATION_RAD_S2 = 8;
const HALT_RAD_S2 = 20;
/** The joints that carry weight; friction holds the others. */
const HEAVY = [1, 2];
const SAG_RAD_S = 0.15;
const TABLE_M = 0.02;

/** Six joints: to their targets with limited speed and acceleration, to rest when halted, downwards without power. */
export class JointMotion {
  readonly positionsRad: Float64Array;
  readonly velocitiesRadS = new Float64Array(JOINTS);
  readonly targetsRad: Float64Array;
  readonly powered = new Uint8Array(JOINTS);
  readonly #model: RobotModel;
  readonly #chain: Chain;
  readonly #onDrop: () => void;
  readonly #jacobian = new Float64Array(6 * JOINTS);
  readonly #flange = new Float64Array(12);
  stopped = false;
  /** Gravity acts on an unpowered joint only after it has been powered once; before, it rests in place. */
  #lifted = false;
  #dropping = false;
  speedShare = 0;

  constructor(model: RobotModel, chain: Chain, startRad: readonly number[], onDrop: () => void) {
    this.#model = model;
    this.#chain = chain;
    this.#onDrop = onDrop;
    this.positionsRad = Float64Array.from(startRad);
    this.targetsRad = Float64Array.from(startRad);
  }

  get allPowered(): boolean {
    return this.powered.every((on) => on === 1);
  }

  power(joint: number, on: boolean): void {
    if (on && this.powered[joint] === 0) this.targetsRad[joint] = this.positionsRad[joint]!;
    this.powered[joint] = on ? 1 : 0;
    if (on) this.#lifted = true;
  }

  cutPower(): void {
    this.powered.fill(0);
  }

  halt(): void {
    this.stopped = true;
  }

  step(dtS: number): void {
    const limp = this.#lifted && !this.allPowered;
    if (limp) this.#chain.jacobian(this.positionsRad, this.#jacobian, this.#flange);
    let sagging = false;
    for (let i = 0; i < JOINTS; i++) {
      if (this.powered[i] === 1) this.#drive(i, dtS);
      else if (limp && HEAVY.includes(i)) sagging = this.#sag(i, dtS) || sagging;
      else this.velocitiesRadS[i] = 0;
    }
    if (sagging && !this.#dropping) this.#onDrop();
    this.#dropping = sagging;
  }

  #drive(i: number, dtS: number): void {
    const error = this.targetsRad[i]! - this.positionsRad[i]!;
    const top = this.#model.joints[i]!.maxVelocityRadS * this.speedShare;
    const braking = Math.sqrt(2 * ACCELERATION_RAD_S2 * Math.abs(error));
    const wanted = this.stopped ? 0 : Math.sign(error) * Math.min(top, braking, Math.abs(error) / dtS);
    const most = (this.stopped ? HALT_RAD_S2 : ACCELERATION_RAD_S2) * dtS;
    const change = wanted - this.velocitiesRadS[i]!;
    this.velocitiesRadS[i] = this.velocitiesRadS[i]! + Math.max(-most, Math.min(most, change));
    this.positionsRad[i] = this.positionsRad[i]! + this.velocitiesRadS[i]! * dtS;
    if (this.stopped) this.targetsRad[i] = this.positionsRad[i]!;
  }

  /** Turns in the direction that lowers the flange, until the joint's limit or the table. */
  #sag(i: number, dtS: number): boolean {
    const { minRad, maxRad } = this.#model.joints[i]!;
    const lift = this.#jacobian[2 * JOINTS + i]!;
    const onTable = this.#flange[11]! < TABLE_M;
    const to = this.positionsRad[i]! - Math.sign(lift) * SAG_RAD_S * dtS;
    const next = onTable ? this.positionsRad[i]! : Math.max(minRad, Math.min(maxRad, to));
    const moved = next !== this.positionsRad[i];
    this.velocitiesRadS[i] = (next - this.positionsRad[i]!) / dtS;
    this.positionsRad[i] = next;
    this.targetsRad[i] = next;
    return moved;
  }
}
