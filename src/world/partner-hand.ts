import type { ArmFacts } from './arm-facts.ts';
import { ExpertHand } from './expert-hand.ts';
import { OPEN_M } from './gripper-body.ts';
import type { PartnerPort, Physics } from './physics.ts';
import { createReach, type Reach } from './reach.ts';
import { STEP_S } from './scene.ts';
import { Servo } from './servo.ts';
import type { Partner, Seen, WorldView } from './task.ts';

const CYCLE_STEPS = 5;
const LAG_S = 0.04;

/** The world that a second arm is in, as its first arm sees it. */
interface GiverWorld extends WorldView {
  readonly physics: Physics;
  readonly facts: ArmFacts;
}

/** Moves the second arm by its script, at 200 Hz of the world's own steps. */
export class PartnerHand implements WorldView {
  readonly gripM = new Float64Array(3);
  readonly #world: GiverWorld;
  readonly #partner: Partner;
  readonly #port: PartnerPort;
  readonly #yawRad: number;
  readonly #reach: Reach;
  readonly #servo: Servo;
  readonly #readyRad: Float64Array;
  readonly #targetRad: Float64Array;
  #hand: ExpertHand | null = null;
  #steps = 0;

  constructor(world: GiverWorld, partner: Partner, facts: ArmFacts) {
    this.#world = world;
    this.#partner = partner;
    this.#port = world.physics.partner!;
    this.#yawRad = facts.layout.yawRad;
    this.#reach = createReach(partner.model, facts);
    this.#servo = new Servo(partner.model, LAG_S);
    this.#readyRad = this.#reach.ready();
    this.#targetRad = Float64Array.from(this.#readyRad);
  }

  get gripYawRad(): number {
    return this.#port.yawRad(this.#yawRad);
  }

  get openingM(): number {
    return this.#port.openingM;
  }

  see(body: string): Seen {
    this.#port.gripPoint(this.gripM);
    return this.#world.see(body);
  }

  /** To its ready pose, and the script from its beginning. */
  restart(): void {
    this.#port.reset(this.#readyRad);
    this.#targetRad.set(this.#readyRad);
    this.#servo.hold(this.#readyRad, OPEN_M);
    this.#port.gripPoint(this.gripM);
    const script = this.#partner.script(this, this.#world, this.#world.facts.layout);
    this.#hand = new ExpertHand(script, this.gripM, this.gripYawRad);
    this.#steps = 0;
  }

  /** Sets its controls for the next step. */
  step(): void {
    if (this.#steps++ % CYCLE_STEPS === 0 && this.#hand !== null) {
      this.#port.gripPoint(this.gripM);
      this.#hand.tick(CYCLE_STEPS * STEP_S);
      const { pointM, yawRad, openM } = this.#hand;
      this.#reach.follow(pointM, yawRad, this.#targetRad, this.#targetRad);
      this.#servo.target(this.#targetRad, 1 - openM / OPEN_M);
    }
    this.#servo.step(this.#port.ctrl);
  }
}
