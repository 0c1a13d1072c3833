import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { PairLink } from '../../src/app/pair-link.ts';
import { createRoleMemory } from '../../src/app/role-memory.ts';
import { SnapshotBoard } from '../../src/core/memory/snapshot.ts';
import { neighbourOf } from '../../src/geometry/neighbour.ts';
import type { RobotModel } from '../../src/geometry/robot-model.ts';
import { ROBOT_BOARD, writeRobotBoard } from '../../src/messages/robot-board.ts';
import { loadModel } from '../../src/rig/robot-models.ts';
import { PAIR_BOARD, type PairBoard, PairWatch, pairBoard } from '../../src/robot/pair-watch.ts';
import { createClearanceField } from '../../src/robot/supervisor/collision.ts';
import { Bench, HostileDriver, MS } from '../../src/robot/supervisor/supervisor.test.bench.ts';
import { supervisorConfig } from '../../src/robot/supervisor/supervisor-config.ts';
import { freeUdpPorts } from '../../src/wire/transports/free-ports.ts';

const right = loadModel('openarm');
const left = loadModel('openarm-left');
const pairOf = (other: RobotModel, more: object = {}) =>
  supervisorConfig.parse({
    pair: { model: other.name, port: 4791, otherPort: 4792, sharedBase: true, ...more },
  }).pair!;

/** One arm of a pair, with the board that holds the other arm's report. */
class Side {
  readonly bench: Bench;
  readonly board: PairBoard;
  readonly watch: PairWatch;
  deaf = false;

  constructor(own: RobotModel, other: RobotModel, more: object = {}) {
    const joints = other.joints.length;
    const pair = pairOf(other, more);
    this.bench = new Bench(new HostileDriver(own.homeRad), own, {}, neighbourOf(pair, other));
    const { buffer } = SnapshotBoard.create(PAIR_BOARD.size(joints));
    this.board = pairBoard(buffer, joints);
    this.watch = new PairWatch(buffer, joints, pair.silenceMs);
  }

  receive({ bench }: Side): void {
    if (this.deaf) return;
    this.board.value.measuredNs = bench.nowNs;
    this.board.value.isStopped = bench.state === 'stopped';
    this.board.value.positionsRad.set(bench.driver.measured);
    this.board.write();
  }

  tick(): void {
    this.watch.tick(this.bench.nowNs, this.bench.supervisor);
    this.bench.tick();
  }
}

class Two {
  readonly right: Side;
  readonly left: Side;
  constructor(more: object = {}) {
    this.right = new Side(right, left, more);
    this.left = new Side(left, right, more);
  }

  /** Runs cycles in which each arm first receives the other's report. */
  run(ms: number, each: () => void = () => {}): void {
    for (let t = 0; t < ms; t += 5) {
      this.right.receive(this.left);
      this.left.receive(this.right);
      each();
      this.right.tick();
      this.left.tick();
    }
  }
}

const between = createClearanceField(right, {
  groundZM: null,
  obstacles: [],
  workspace: null,
  neighbour: { ...neighbourOf(pairOf(left), left)!, marginM: 0 },
});
const clearancesM = new Float64Array(between.size);

/** The smallest clearance between the two arms, without margin. */
function betweenM(rightRad: ArrayLike<number>, leftRad: ArrayLike<number>): number {
  between.placeNeighbour(leftRad);
  between.measure(rightRad, clearancesM);
  return Math.min(...[...clearancesM].filter((_, k) => between.names[k]!.includes('other arm')));
}

/** Mirrored goals at which both forearms would collide. */
const inward = (sign: number) => [0, 0.05, sign * 1.4, 1.5707963, 0, 0, 0];
const mirrored = (qRad: readonly number[]) => qRad.map((rad, i) => (i === 3 ? rad : -rad));
const goal = [1, -1].map(inward).find((rad) => betweenM(rad, mirrored(rad)) < 0);

describe('two arms side by side', () => {
  it('mirror each other, and can collide', () => {
    assert.ok(goal !== undefined, 'some goals collide');
    assert.ok(betweenM(right.homeRad, left.homeRad) > 0.1);
  });

  it('do not collide, even if both are commanded to', () => {
    const two = new Two();
    two.run(20);
    two.right.bench.bring('engaged');
    two.left.bench.bring('engaged');
    let leastM = Number.POSITIVE_INFINITY;
    two.run(2500, () => {
      two.right.bench.send({}, goal!);
      two.left.bench.send({}, mirrored(goal!));
      leastM = Math.min(leastM, betweenM(two.right.bench.driver.measured, two.left.bench.driver.measured));
    });
    assert.ok(leastM > 0.03, `${leastM} m`);
    assert.ok(leastM < 0.15, `came close: ${leastM} m`);
    assert.match(two.right.bench.supervisor.nearest, /other arm/);
    assert.equal(two.right.bench.state, 'engaged');
  });

  it('stop both when one is stopped, and neither can be armed until both are reset', () => {
    const two = new Two();
    two.run(20);
    two.right.bench.bring('engaged');
    two.left.bench.bring('armed');
    two.left.bench.supervisor.estop('button', two.left.bench.nowNs);
    two.run(10);
    assert.equal(two.right.bench.state, 'stopped');
    assert.match(two.right.bench.supervisor.cause, /other arm is stopped/);
    const { supervisor } = two.right.bench;
    assert.ok(supervisor.reset(supervisor.epoch, two.right.bench.nowNs));
    supervisor.arm(two.right.bench.nowNs);
    two.run(10);
    assert.equal(two.right.bench.state, 'stopped', 'the other arm is still stopped');
    for (const { bench } of [two.right, two.left])
      bench.supervisor.reset(bench.supervisor.epoch, bench.nowNs);
    two.run(10);
    for (const { bench } of [two.right, two.left]) bench.supervisor.arm(bench.nowNs);
    two.run(10);
    assert.deepEqual([two.right.bench.state, two.left.bench.state], ['armed', 'armed']);
  });

  it('hold when the other goes silent, and engage only when its pose is known', () => {
    const two = new Two();
    two.right.deaf = true;
    two.run(20);
    two.right.bench.bring('armed');
    two.left.bench.rest();
    assert.equal(two.right.bench.send({}), 'not-ready', 'no pose received yet');
    two.right.deaf = false;
    two.run(20);
    assert.equal(two.right.bench.send({ engagement: 2 }), null);
    two.right.deaf = true;
    two.run(90, () => two.right.bench.send({ engagement: 2 }));
    assert.equal(two.right.bench.state, 'engaged', 'not yet');
    two.run(30, () => two.right.bench.send({ engagement: 2 }));
    assert.equal(two.right.bench.state, 'hold');
    assert.match(two.right.bench.supervisor.cause, /other arm is silent/);
    assert.equal(two.right.bench.send({ engagement: 3 }), 'not-ready');
    two.right.deaf = false;
    two.run(20);
    assert.equal(two.right.bench.send({ engagement: 4 }), null);
  });

  it('place each other according to their bases', () => {
    const apart = { ...neighbourOf(pairOf(left, { baseXyzM: [5, 0, 0] }), left)!, marginM: 0 };
    const field = createClearanceField(right, {
      groundZM: null,
      obstacles: [],
      workspace: null,
      neighbour: apart,
    });
    const outM = new Float64Array(field.size);
    field.measure(right.homeRad, outM);
    const others = [...outM].filter((_, k) => field.names[k]!.includes('other arm'));
    assert.ok(others.length > 10 && others.every((m) => m > 3 && m < 6));
  });
});

describe('the link of two arms', () => {
  it('sends pose and stop over loopback, and accepts nothing else', async () => {
    const [port = 0, otherPort = 0, stranger = 0] = await freeUdpPorts(3);
    const open = async (own: RobotModel, other: RobotModel, ports: [number, number]) => {
      const memory = createRoleMemory('robot', own.joints.length, 200, other.joints.length);
      const pair = pairOf(other, { port: ports[0], otherPort: ports[1] });
      const bench = new Bench(new HostileDriver(own.homeRad), own, {}, neighbourOf(pair, other));
      const send = () => {
        const out = ROBOT_BOARD.create(own.joints.length);
        writeRobotBoard(new SnapshotBoard(memory.board), out, bench.nowNs, bench.supervisor, 0, 0);
      };
      const watch = new PairWatch(memory.pair, other.joints.length, 100);
      return { link: await PairLink.open(pair, memory, own, other), bench, send, watch };
    };
    const a = await open(right, left, [port, otherPort]);
    const b = await open(left, right, [otherPort, port]);
    const c = await open(right, left, [stranger, otherPort]);
    try {
      a.bench.bring('stopped');
      b.bench.bring('armed');
      for (let i = 0; i < 200 && (b.bench.state !== 'stopped' || b.link.refused === 0); i++) {
        a.send();
        c.send();
        await sleep(5);
        b.watch.tick(b.bench.nowNs, b.bench.supervisor);
      }
      assert.equal(b.bench.state, 'stopped');
      assert.ok(b.link.refused > 0, 'the unknown sender was rejected');
      b.bench.nowNs += 200 * MS;
      b.watch.tick(b.bench.nowNs, b.bench.supervisor);
      assert.equal(b.bench.supervisor.cause, 'the other arm is stopped');
    } finally {
      for (const { link } of [a, b, c]) link.close();
    }
  });
});
