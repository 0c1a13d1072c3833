import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Telemetry } from '../messages/telemetry.ts';
import { placeHint } from './place-hint.ts';

const REST = [1, 0, 0, 0];

/** A gripper that does what the hint says, and a cube that follows it while held. */
class Follower {
  readonly gripM: number[];
  readonly cubeM = [0.3, -0.07, 0.02];
  gripper = 0.5;
  held = -1;
  score = 0;

  constructor(gripM: number[]) {
    this.gripM = gripM;
  }

  get seen(): Telemetry {
    const poses = [0.3, 0.17, 0, ...REST, ...this.cubeM, ...REST];
    const world = { task: 'cube', held: this.held, score: this.score, gripM: this.gripM, poses };
    return { world, robot: { gripper: this.gripper } } as unknown as Telemetry;
  }

  /** Returns what it did; null when nothing is left. */
  follow(): string | null {
    const hint = placeHint(this.seen);
    if (hint === null) return null;
    const [axis, sign] = {
      ...{ forward: [0, 1], back: [0, -1], left: [1, 1], right: [1, -1], up: [2, 1], down: [2, -1] },
      gripper: [-1, 0],
    }[hint.kind] as [number, number];
    if (axis < 0) this.#toggle();
    else this.gripM[axis]! += sign * hint.distanceM;
    if (this.held >= 0) this.cubeM.splice(0, 3, ...this.gripM);
    return hint.kind;
  }

  #toggle(): void {
    const isNear = Math.hypot(...this.cubeM.map((value, i) => value - this.gripM[i]!)) < 0.02;
    if (this.held >= 0) [this.held, this.gripper, this.score] = [-1, 0, 1];
    else if (this.gripper > 0.25) this.gripper = 0;
    else [this.held, this.gripper] = isNear ? [1, 0.5] : [-1, 1];
  }
}

describe('the hint for a first cube', () => {
  for (const start of [
    [0.2, 0.1, 0.3],
    [0.35, -0.2, 0.02],
    [0.3, -0.07, 0.02],
  ])
    it(`leads from ${start.join(', ')} to the cube in the tray`, () => {
      const follower = new Follower(start);
      const done: string[] = [];
      for (let kind = follower.follow(); kind !== null && done.length < 30; kind = follower.follow())
        done.push(kind);
      assert.equal(follower.score, 1, done.join(' '));
      assert.ok(Math.abs(follower.cubeM[0]! - 0.3) < 0.05 && Math.abs(follower.cubeM[1]! - 0.17) < 0.05);
    });

  it('never goes sideways below the height of the cube and the walls', () => {
    const follower = new Follower([0.2, 0.1, 0.03]);
    assert.equal(placeHint(follower.seen)?.kind, 'up');
  });

  it('is silent in another task and without a robot', () => {
    const { seen } = new Follower([0, 0, 0.3]);
    assert.equal(placeHint({ ...seen, robot: null }), null);
    assert.equal(placeHint({ ...seen, world: { ...seen.world!, task: 'sort' } }), null);
  });
});
