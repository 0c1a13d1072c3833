import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { spreadPose } from '../../geometry/pairings.ts';
import { robotModelSchema } from '../../geometry/robot-model.ts';
import { sixJoints } from './arm.test.bench.ts';
import { createManipulability, watchManipulability } from './singularity.ts';
import { Bench, HostileDriver } from './supervisor.test.bench.ts';

const HALF = Math.PI / 2;
const MARGIN = 0.02;
const free = robotModelSchema.parse({ ...sixJoints, capsules: [], mayTouch: [] });

/** The arm stretched out in front, with the elbow bent by `bendRad`. */
const stretched = (bendRad: number) => [0, -HALF / 2, bendRad, -HALF, -HALF, 0];

describe('manipulability', () => {
  it('is zero in a singularity and grows away from it', () => {
    const of = createManipulability(free);
    assert.ok(of(stretched(0)) < 1e-6);
    assert.ok(of([0, -1, 1, -1, 0, 0]) < 1e-6, 'wrist');
    let last = 0;
    for (const bend of [0.05, 0.1, 0.3, 0.6]) {
      const now = of(stretched(bend));
      assert.ok(now > last);
      last = now;
    }
    assert.ok(of(sixJoints.homeRad) > 0.1, 'the resting pose is not slowed');
  });

  it('that is watched is never above the margin where it is below', () => {
    const [of, watched] = [createManipulability(sixJoints), watchManipulability(sixJoints, MARGIN)];
    let below = 0;
    let computed = 0;
    for (let n = 1; n <= 40; n++) {
      const [from, to] = [spreadPose(sixJoints, n), spreadPose(sixJoints, n + 1)];
      for (let step = 0; step < 400; step++) {
        const q = from.map((rad, i) => rad + (step / 400) * (to[i]! - rad));
        const [found, seen] = [of(q), watched(q)];
        if (found < MARGIN) below++;
        if (found === seen) computed++;
        assert.ok(seen === found || (seen > MARGIN && found > MARGIN), `${seen} instead of ${found}`);
      }
    }
    assert.ok(below > 500, `${below} poses below`);
    assert.ok(computed < 12_000, `computed ${computed} of 16 000 times`);
  });

  it('works for arms with fewer and with more than six joints', () => {
    for (const count of [2, 4, 7]) {
      const origins = [
        [0.1, 0, 0.1],
        [0, 0.2, 0.1],
      ];
      const joints = Array.from({ length: count }, (_, i) => ({
        name: `j${i}`,
        minRad: -2,
        maxRad: 2,
        maxVelocityRadS: 1,
        maxAccelerationRadS2: 5,
        origin: { xyzM: origins[i % 2], rpyRad: [i % 2 === 0 ? HALF : 0, 0.3, 0] },
      }));
      const homeRad = joints.map(() => 0.5);
      const of = createManipulability(
        robotModelSchema.parse({ name: 'n', title: 'n', family: 'serial', joints, homeRad }),
      );
      const value = of(homeRad);
      assert.ok(value > 0 && value < 5, `${count} joints: ${value}`);
    }
  });
});

describe('an arm near a singularity', () => {
  /** Time to turn the elbow from one bend to the other, for a hand at 1 rad/s. */
  function takes(from: number, to: number, options: object): { ms: number; slowed: number } {
    const own = { engageSpeedPercent: 100, speedPercent: 30, ...options };
    const bench = new Bench(new HostileDriver(stretched(from)), free, own).bring('engaged');
    let ms = 0;
    for (; Math.abs(bench.supervisor.targetRad[2]! - to) > 0.02 && ms < 10_000; ms += 5) {
      bench.tick(5);
      const turned = Math.min(Math.abs(to - from), ms / 1000);
      bench.send({}, stretched(from + Math.sign(to - from) * turned));
    }
    return { ms, slowed: bench.counters.get('slowed-singularity') };
  }

  it('slows down on the way in, still gets there, and leaves at full speed', () => {
    const options = { singularityMargin: 0.5, singularitySpeedPercent: 10 };
    const unwatched = takes(0.5, 0.02, { singularityMargin: 0 });
    const inwards = takes(0.5, 0.02, options);
    const outwards = takes(0.02, 0.5, options);
    assert.equal(unwatched.slowed, 0);
    assert.ok(inwards.slowed > 20 && inwards.ms > 1.3 * unwatched.ms, `${inwards.ms} and ${unwatched.ms} ms`);
    assert.ok(inwards.ms < 8000);
    assert.deepEqual(outwards, takes(0.02, 0.5, { singularityMargin: 0 }));
  });
});
