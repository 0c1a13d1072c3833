import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { sixJoints } from './arm.test.bench.ts';
import { createClearanceField } from './collision.ts';
import { Bench, HostileDriver } from './supervisor.test.bench.ts';
import { supervisorConfig } from './supervisor-config.ts';

const STOP_M = 0.01;
const OPTIONS = {
  groundZM: 0,
  stopM: STOP_M,
  obstacles: [{ name: 'shelf', minM: [0.25, -0.5, 0.52], maxM: [0.6, 0.5, 0.56] }],
  workspace: { minM: [-0.4, -0.35, 0.02], maxM: [0.38, 0.35, 0.7] },
};
const { groundZM, obstacles, workspace } = supervisorConfig.parse(OPTIONS);
const field = createClearanceField(sixJoints, { groundZM, obstacles, workspace: workspace ?? null });

function clearances(qRad: ArrayLike<number>): Float64Array {
  const outM = new Float64Array(field.size);
  field.measure(qRad, outM);
  return outM;
}

const stopOf = (k: number) => (k < field.touching ? STOP_M : 0);

function engaged(fromRad: readonly number[] = sixJoints.homeRad, options: object = OPTIONS): Bench {
  return new Bench(new HostileDriver(fromRad), sixJoints, options).bring('engaged');
}

/**
 * Asserts that every write keeps the stopping clearance, or does not reduce one that was already below it.
 */
function watch(bench: Bench, fromRad: readonly number[]): void {
  let before = clearances(fromRad);
  bench.driver.onWrite = ({ positions }) => {
    const now = clearances(positions);
    now.forEach((clearanceM, k) => {
      // A micrometre of tolerance for what is already too close: the path is checked at a few poses only.
      const least = Math.min(stopOf(k), before[k]! - 1e-6);
      assert.ok(clearanceM >= least, `${field.names[k]}: ${clearanceM} m after ${before[k]} m`);
    });
    before = now;
  };
}

describe('an arm among obstacles', () => {
  it('keeps clear of everything for any command', () => {
    const goal = fc.tuple(
      ...sixJoints.homeRad.map((home) => fc.double({ min: home - 2.5, max: home + 2.5, noNaN: true })),
    );
    const leg = fc.record({ goal, cycles: fc.integer({ min: 5, max: 120 }), hold: fc.boolean() });
    let limited = 0;
    fc.assert(
      fc.property(fc.array(leg, { minLength: 2, maxLength: 8 }), (legs) => {
        const bench = engaged();
        watch(bench, sixJoints.homeRad);
        let engagement = 1;
        for (const { goal: to, cycles, hold } of legs) {
          if (hold) {
            bench.send({ engagement: 0 }, to);
            for (let i = 0; i < 40; i++) bench.tick(5);
            bench.send({ engagement: ++engagement });
          }
          for (let i = 0; i < cycles; i++) {
            bench.tick(5);
            if (i % 2 === 0) bench.send({ engagement }, to);
          }
        }
        limited += bench.counters.get('slowed-collision') + bench.counters.get('clamped-workspace');
      }),
      { numRuns: 150 },
    );
    assert.ok(limited > 2000, `only ${limited} steps were held back`);
  });

  it('slows down towards the table and stops above it', () => {
    const bench = engaged(sixJoints.homeRad, { ...OPTIONS, workspace: undefined });
    const goal = [...sixJoints.homeRad];
    let last = clearances(goal)[field.names.indexOf('gripper ↔ ground')]!;
    let fastest = 0;
    let fastestNear = 0;
    for (let i = 0; i < 600; i++) {
      bench.tick(5);
      // Lift leans forward, wrist 1 keeps the gripper upright.
      goal[1] = sixJoints.homeRad[1]! + 0.002 * i;
      goal[3] = sixJoints.homeRad[3]! - 0.002 * i;
      bench.send({}, goal);
      const now = clearances(bench.supervisor.targetRad)[field.names.indexOf('gripper ↔ ground')]!;
      const speed = (last - now) / 0.005;
      fastest = Math.max(fastest, speed);
      if (now < 0.02) fastestNear = Math.max(fastestNear, speed);
      last = now;
    }
    assert.ok(fastest > 0.08, `${fastest} m/s`);
    assert.ok(fastestNear < 0.07, `${fastestNear} m/s near the table`);
    assert.ok(last >= STOP_M && last < STOP_M + 0.004, `${last} m`);
    assert.equal(bench.supervisor.limitedBy, 'collision');
    assert.equal(bench.supervisor.nearest, 'gripper ↔ ground');
    // It is measured where the target will be once it is smoothed.
    assert.ok(Math.abs(bench.supervisor.clearanceM - last) < 1e-3);
    // It can move away again immediately.
    for (let i = 0; i < 100; i++) {
      bench.tick(5);
      bench.send({}, sixJoints.homeRad);
    }
    assert.ok(clearances(bench.supervisor.targetRad)[field.names.indexOf('gripper ↔ ground')]! > 0.05);
  });

  it('may move away from an obstacle it starts too close to, but not closer', () => {
    const block = { name: 'block', minM: [0.15, 0.02, 0], maxM: [0.35, 0.25, 0.1665] };
    const options = { ...OPTIONS, obstacles: [block], workspace: undefined };
    const raised = createClearanceField(sixJoints, { groundZM, obstacles: [block], workspace: null });
    const k = raised.names.indexOf('gripper ↔ block');
    const heightOf = (q: ArrayLike<number>) => {
      const outM = new Float64Array(raised.size);
      raised.measure(q, outM);
      return outM[k]!;
    };
    const startM = heightOf(sixJoints.homeRad);
    assert.ok(startM < STOP_M, `${startM} m`);
    for (const [change, leaves] of [
      [0.3, false],
      [-0.3, true],
    ] as const) {
      const bench = engaged(sixJoints.homeRad, options);
      const goal = [...sixJoints.homeRad];
      goal[1]! += change;
      goal[3]! -= change;
      for (let i = 0; i < 200; i++) {
        bench.tick(5);
        bench.send({}, goal);
        assert.ok(heightOf(bench.supervisor.targetRad) >= startM - 1e-6);
      }
      const movedRad = Math.abs(bench.supervisor.targetRad[1]! - sixJoints.homeRad[1]!);
      assert.ok(leaves ? movedRad > 0.25 : movedRad < 0.01, `${movedRad} rad by ${change}`);
    }
  });

  it('may move back into its workspace, but not further out', () => {
    const box = {
      minM: [-1, -1, -1] as [number, number, number],
      maxM: [0.2, 1, 1] as [number, number, number],
    };
    const around = { groundZM: null, obstacles: [], workspace: box };
    const walls = createClearanceField({ ...sixJoints, capsules: [] }, around);
    const flangeX = (q: ArrayLike<number>) => {
      const outM = new Float64Array(walls.size);
      walls.measure(q, outM);
      return 0.2 - outM[walls.names.indexOf('workspace +x')]!;
    };
    const startX = flangeX(sixJoints.homeRad);
    assert.ok(startX > 0.2, `${startX} m`);
    const bench = engaged(sixJoints.homeRad, { workspace: box });
    const out = [...sixJoints.homeRad];
    out[2]! -= 0.5;
    for (let i = 0; i < 100; i++) {
      bench.tick(5);
      bench.send({}, out);
      assert.ok(flangeX(bench.supervisor.targetRad) <= startX + 1e-6);
    }
    assert.equal(bench.supervisor.limitedBy, 'workspace');
    const inside = [...sixJoints.homeRad];
    inside[2]! += 0.9;
    for (let i = 0; i < 300; i++) {
      bench.tick(5);
      bench.send({}, inside);
    }
    assert.ok(flangeX(bench.supervisor.targetRad) < 0.2);
    for (let i = 0; i < 300; i++) {
      bench.tick(5);
      bench.send({}, out);
      if (i > 5) assert.ok(flangeX(bench.supervisor.targetRad) <= 0.2);
    }
  });
});
