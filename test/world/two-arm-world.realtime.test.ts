import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { baseFromVr, quatConjugate, quatRotate } from '../../src/geometry/frames.ts';
import { WORLD_STATE } from '../../src/messages/world-state.ts';
import { loadModel } from '../../src/rig/robot-models.ts';
import { type Driver, emptyReading } from '../../src/robot/driver.ts';
import world from '../../src/robot/drivers/world/index.ts';
import { ExpertHand } from '../../src/world/expert-hand.ts';
import { OPEN_M } from '../../src/world/gripper-body.ts';
import { ReportedWorld } from '../../src/world/reported-world.ts';
import { go, grip } from '../../src/world/skills.ts';
import { type Move, seenAt } from '../../src/world/task.ts';
import { GRASP_M, KNOB_M, pass } from '../../src/world/tasks/pass.ts';
import { TwoArmRig } from '../loops/two-arm-rig.ts';
import { needsPackage } from '../needs.ts';

const missing = await needsPackage('@mujoco/mujoco');
const MS = 1e6;
const LEFT = 0;
const RIGHT = 1;
const TICK_MS = 5;
/** Where the bar's middle is passed on, and how high it is carried. */
const GIVE_M = [0.31, 0] as const;
const HIGH_M = 0.1;
const vrFromBase = new Float64Array(4);
quatConjugate(baseFromVr.quatXyzw, vrFromBase);

const openBoth = async (): Promise<Driver[]> => {
  const drivers: Driver[] = [];
  for (const arm of ['left', 'right'])
    drivers.push(
      await world.open(world.config.parse({ task: 'pass', seed: 3, arm }), loadModel('ur3'), {
        nowNs: () => 100e9,
      }),
    );
  return drivers;
};

/** One person, who moves one arm at a time, as from a keyboard: through both operators, links, queues and supervisors. */
class Person {
  readonly rig: TwoArmRig;
  readonly drivers: readonly Driver[];
  readonly seen = [WORLD_STATE.create(), WORLD_STATE.create()];

  constructor(rig: TwoArmRig, drivers: readonly Driver[]) {
    this.rig = rig;
    this.drivers = drivers;
    this.look();
  }

  look(): void {
    this.drivers.forEach((driver, i) => void driver.world!.read(this.seen[i]!));
  }

  /** The bar's middle, in the world. */
  get bar() {
    return seenAt(this.seen[0]!.poses, 7, 0);
  }

  do(arm: number, moves: readonly Move[]): void {
    const { hand } = this.rig.arms[arm]!.hand;
    const state = this.seen[arm]!;
    const view = new ReportedWorld(state, pass);
    const mover = new ExpertHand(moves[Symbol.iterator](), state.gripM, state.gripYawRad, view);
    mover.openM = OPEN_M * (1 - hand.gripper);
    const place = () => {
      quatRotate(vrFromBase, mover.pointM, hand.positionM);
      hand.quatXyzw.set(vrFromBase);
      hand.gripper = 1 - mover.openM / OPEN_M;
    };
    place();
    this.rig.ask({ kind: 'drive', side: arm === LEFT ? 'left' : 'right' });
    this.rig.runFor(100);
    hand.clutch = true;
    this.rig.runFor(200);
    assert.equal(this.rig.states[arm], 'engaged');
    while (!mover.isDone) {
      mover.tick(TICK_MS / 1000);
      place();
      this.rig.runFor(TICK_MS);
      this.look();
    }
    this.rig.runFor(400);
    hand.clutch = false;
    this.rig.runFor(300);
    this.look();
  }
}

describe('two arms in one world', { skip: missing, timeout: 240_000 }, () => {
  it('one person passes the bar from the right arm to the left, and lays it down', async () => {
    const drivers = await openBoth();
    const rig = await TwoArmRig.create({ rig: 'world-two', wrapDriver: (_, i) => drivers[i]! });
    const person = new Person(rig, drivers);
    rig.arm();
    person.look();
    const at = (side: number, zM: number, speedMS = 0.2): Move => {
      const { xM, yM } = person.bar;
      return go([xM, yM + side * KNOB_M, zM], 0, speedMS, 0.2, 0.003);
    };
    const lying = person.bar.zM + GRASP_M;
    person.do(RIGHT, [grip(OPEN_M, 0), at(-1, HIGH_M), at(-1, lying, 0.1), grip(0, 0.5)]);
    assert.equal(person.seen[RIGHT]!.held, 1, 'the right arm holds the bar');
    assert.equal(person.seen[LEFT]!.held, -1);
    const give = [GIVE_M[0], GIVE_M[1] - KNOB_M] as const;
    person.do(RIGHT, [at(-1, HIGH_M, 0.1), go([...give, HIGH_M], 0, 0.15, 0.3, 0.003)]);
    const taken = person.bar.zM + GRASP_M;
    person.do(LEFT, [grip(OPEN_M, 0), at(1, taken + 0.09), at(1, taken, 0.08), grip(0, 0.5)]);
    assert.deepEqual([person.seen[LEFT]!.held, person.seen[RIGHT]!.held], [1, 1], 'both hold it');
    const { gripM } = person.seen[RIGHT]!;
    person.do(RIGHT, [grip(OPEN_M, 0.5), go([gripM[0]!, gripM[1]!, gripM[2]! + 0.09], 0, 0.1, 0.2, 0.005)]);
    assert.deepEqual([person.seen[LEFT]!.held, person.seen[RIGHT]!.held], [1, -1], 'the left arm alone');
    const [goalX, goalY] = [person.seen[LEFT]!.poses[0]!, person.seen[LEFT]!.poses[1]!];
    const own = person.seen[LEFT]!.gripM;
    const lift = own[2]! - person.bar.zM + 0.012;
    person.do(LEFT, [
      go([goalX, goalY + KNOB_M, own[2]!], 0, 0.15, 0.3, 0.005),
      go([goalX, goalY + KNOB_M, lift], 0, 0.06, 0.3, 0.003),
      grip(OPEN_M, 0.5),
    ]);
    rig.runFor(2500);
    person.look();
    assert.deepEqual([person.seen[LEFT]!.outcome, person.seen[LEFT]!.score], ['done', 1]);
    assert.equal(person.seen[RIGHT]!.outcome, 'done', 'one world');
    for (const driver of drivers) driver.dispose();
  });

  it('two experts pass the bar, each at its own arm', async () => {
    const drivers = await openBoth();
    const rig = await TwoArmRig.create({
      rig: 'world-two',
      overrides: ['operator.input=expert'],
      ownInputs: true,
      wrapDriver: (_, i) => drivers[i]!,
    });
    const state = WORLD_STATE.create();
    for (let s = 0; s < 60 && state.outcome === 'running'; s++) {
      rig.runFor(1000);
      drivers[LEFT]!.world!.read(state);
      assert.deepEqual(rig.states, ['engaged', 'engaged'], `after ${s + 1} s`);
    }
    assert.deepEqual([state.outcome, state.score], ['done', 1], `after ${state.elapsedS} s`);
    for (const driver of drivers) driver.dispose();
  });

  it('each arm reads its own joints, and both end with the world', async () => {
    const [left, right] = (await openBoth()) as [Driver, Driver];
    const [a, b] = [emptyReading(6), emptyReading(6)];
    const startNs = 100e9;
    right.enable(startNs);
    right.read(startNs, b);
    const target = b.positionsRad.map((rad, i) => rad + (i === 0 ? 0.3 : 0));
    const before = Float64Array.from(b.positionsRad);
    left.read(startNs, a);
    const leftBefore = Float64Array.from(a.positionsRad);
    for (let ms = 5; ms <= 1500; ms += 5) {
      right.write(startNs + ms * MS, target, 0.5);
      assert.equal(right.read(startNs + ms * MS, b), 'ok');
      assert.equal(left.read(startNs + ms * MS, a), 'ok');
      assert.ok(
        [...a.externalNm, ...b.externalNm].every((nm) => nm === 0),
        'free motion',
      );
    }
    assert.ok(Math.abs(b.positionsRad[0]! - before[0]! - 0.3) < 0.01, 'the one that was moved');
    assert.ok(Math.abs(b.gripper - 0.5) < 0.05);
    assert.ok(
      a.positionsRad.every((rad, i) => Math.abs(rad - leftBefore[i]!) < 1e-3),
      'the other held still',
    );
    left.dispose();
    assert.equal(right.read(startNs + 2e9, b), 'fault');
    assert.notEqual(right.fault, '');
    right.stop(startNs + 2e9);
    right.dispose();
  });

  it('a right arm without a left one gets a remedy', async () => {
    const options = world.config.parse({ task: 'pass', arm: 'right' });
    await assert.rejects(async () => world.open(options, loadModel('ur3'), { nowNs: () => 0 }), {
      code: 'bad-config',
    });
  });
});
