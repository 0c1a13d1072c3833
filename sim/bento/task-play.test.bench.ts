import { DEFAULT_FRAME_RATE, MAX_SPEEDS, radSPerUnit } from '../../src/robot/drivers/bento/arm-facts.ts';
import { emptyBrachioplexus, MOTOR } from '../../src/robot/drivers/bento/brachioplexus-codec.ts';
import { type Body, POSE_SIZE } from './bento-view.ts';
import { Motors } from './motors.ts';
import type { World } from './world.ts';

/** One joint at a time, at the speeds of brachIOplexus: plays a scene like a person, in simulated time. */
export class TaskPlay {
  readonly motors = new Motors();
  readonly #world: World;
  readonly #bodies: readonly Body[];
  readonly #control = emptyBrachioplexus();

  constructor(world: World, bodies: readonly Body[]) {
    this.#world = world;
    this.#bodies = bodies;
  }

  /** Runs until a joint's target is reached, or it was blocked for long enough; then half a second more. */
  move(joint: number, toDeg: number, slower = 1): void {
    const to = (toDeg * Math.PI) / 180;
    const speed = Math.max(1, Math.round(MAX_SPEEDS[joint]! * slower));
    const travelRad = to - this.#world.jointsRad[joint]!;
    this.#control.states.fill(MOTOR.stop);
    this.#control.states[joint] = travelRad > 0 ? MOTOR.up : MOTOR.down;
    this.#control.speeds[joint] = speed;
    this.motors.control(this.#control);
    const fullS = Math.abs(travelRad) / (speed * radSPerUnit(DEFAULT_FRAME_RATE));
    for (let t = 0; t < fullS + 0.3; t += this.#world.stepS) {
      if ((to - this.motors.targetRad[joint]!) * Math.sign(travelRad) <= 0) break;
      this.#step();
    }
    this.motors.stop();
    this.wait(0.5);
  }

  wait(seconds: number): void {
    for (let t = 0; t < seconds; t += this.#world.stepS) this.#step();
  }

  placeOf(name: string): [number, number, number] {
    this.#world.look();
    const at = this.#bodies.findIndex((body) => body.name === name) * POSE_SIZE;
    const [x = 0, y = 0, z = 0] = this.#world.poses.subarray(at, at + 3);
    return [x, y, z];
  }

  #step(): void {
    this.motors.step(this.#world.stepS, this.#world.jointsRad);
    this.#world.step(this.motors.targetRad);
  }
}
