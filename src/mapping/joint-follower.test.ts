import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { RobotModel } from '../geometry/robot-model.ts';
import { emptyHandSample, type HandSample } from '../messages/hand-sample.ts';
import { withJointTargets } from './joint-follower.ts';
import type { Mapper } from './mapper.ts';

const joint = { maxVelocityRadS: 2, maxAccelerationRadS2: 10, maxJerkRadS3: 100 };
const MODEL = { joints: [joint, joint] } as unknown as RobotModel;
const LIMITS = { speedRadS: 0.4, speedFraction: 1 };
const TICK_NS = 10e6;

class Hands implements Mapper {
  readonly calls: string[] = [];
  readonly filterDelayNs = 7;
  engage(): 'ok' {
    this.calls.push('engage');
    return 'ok';
  }
  map(): 'ok' {
    this.calls.push('map');
    return 'ok';
  }
  release(): void {
    this.calls.push('release');
  }
}

function bench() {
  const hands = new Hands();
  let leaps = 0;
  const mapper = withJointTargets(hands, MODEL, LIMITS, () => leaps++);
  const sample: HandSample = emptyHandSample();
  sample.joints = 2;
  sample.takenNs = 1e9;
  const out = new Float64Array(2);
  const to = (...rad: number[]) => sample.jointsRad.set(rad);
  const tick = () => {
    sample.takenNs += TICK_NS;
    return mapper.map(sample, out);
  };
  return { hands, mapper, sample, out, to, tick, leaps: () => leaps };
}

describe('joint targets', () => {
  it('are approached slowly before they are followed, without a step', () => {
    const { mapper, out, to, tick, sample } = bench();
    to(1, -0.5);
    assert.equal(mapper.engage(sample, [0, 0]), 'ok');
    out.set([0, 0]);
    let [ticks, before] = [0, 0];
    let status = '';
    for (; status !== 'ok'; ticks++) {
      assert.ok(ticks < 1000, 'it arrives');
      status = tick();
      assert.ok(Math.abs(out[0]! - before) <= 1.001 * 0.4 * 0.01, `${out[0]! - before} rad in a tick`);
      before = out[0]!;
    }
    assert.ok(ticks > 1 / 0.4 / 0.01, 'no faster than homing');
    assert.ok(Math.abs(out[0]! - 1) < 1e-3 && Math.abs(out[1]! + 0.5) < 1e-3, `${[...out]}`);
    to(1.01, -0.49);
    assert.equal(tick(), 'ok');
    for (let i = 0; i < 60; i++) tick();
    assert.ok(Math.abs(out[0]! - 1.01) < 1e-4 && Math.abs(out[1]! + 0.49) < 1e-4, `${[...out]}`);
  });

  it('that jitter by encoder steps leave the arm nearly still', () => {
    const { mapper, out, to, tick, sample } = bench();
    const step = (2 * Math.PI) / 4096;
    to(0, 0);
    mapper.engage(sample, [0, 0]);
    let [least, most] = [1, -1];
    for (let i = 0; i < 400; i++) {
      to(i % 3 === 0 ? step : 0, 0);
      tick();
      if (i < 100) continue;
      [least, most] = [Math.min(least, out[0]!), Math.max(most, out[0]!)];
    }
    assert.ok(most - least < step / 10, `${most - least} rad`);
  });

  it('that moved meanwhile are approached once more', () => {
    const { mapper, out, to, tick, sample } = bench();
    to(0.3, 0);
    mapper.engage(sample, [0, 0]);
    for (let i = 0; i < 20; i++) tick();
    to(0.6, 0);
    let [before, status] = [out[0]!, ''];
    for (let i = 0; i < 1000 && status !== 'ok'; i++) {
      status = tick();
      assert.ok(Math.abs(out[0]! - before) <= 1.001 * 0.4 * 0.01);
      before = out[0]!;
    }
    assert.equal(status, 'ok');
    assert.ok(Math.abs(out[0]! - 0.6) < 1e-3, `${out[0]}`);
  });

  it('close to the robot are blended in', () => {
    const { mapper, out, to, tick, sample } = bench();
    to(0.04, 0);
    mapper.engage(sample, [0, 0]);
    assert.equal(tick(), 'clamped');
    assert.ok(out[0]! < 0.001);
    for (let i = 0; i < 100; i++) tick();
    assert.ok(Math.abs(out[0]! - 0.04) < 1e-4, `${out[0]}`);
  });

  it('that leap end the engagement and are counted', () => {
    const { mapper, to, tick, sample, leaps, out } = bench();
    to(0, 0);
    mapper.engage(sample, [0, 0]);
    for (let i = 0; i < 60; i++) tick();
    to(0.02, 0);
    assert.equal(tick(), 'ok');
    const was = [...out];
    to(0.1, 0);
    assert.equal(tick(), 'bad-input');
    assert.deepEqual([leaps(), ...out], [1, ...was]);
  });

  it('with another joint count or NaN are rejected', () => {
    const { mapper, to, tick, sample } = bench();
    sample.joints = 3;
    assert.equal(mapper.engage(sample, [0, 0]), 'bad-input');
    sample.joints = 2;
    assert.equal(mapper.engage(sample, [0, Number.NaN]), 'bad-input');
    assert.equal(mapper.engage(sample, [0, 0]), 'ok');
    to(Number.NaN, 0);
    assert.equal(tick(), 'bad-input');
  });

  it('leave hands to their mapper and never mix with them', () => {
    const { mapper, hands, sample, out, tick } = bench();
    sample.joints = 0;
    mapper.engage(sample, [0, 0]);
    assert.equal(mapper.map(sample, out), 'ok');
    assert.equal(mapper.filterDelayNs, 7);
    sample.joints = 2;
    assert.equal(tick(), 'disengaged');
    mapper.engage(sample, [0, 0]);
    assert.equal(mapper.filterDelayNs, 0);
    sample.joints = 0;
    assert.equal(tick(), 'bad-input');
    assert.deepEqual(hands.calls, ['engage', 'map', 'release']);
  });
});
