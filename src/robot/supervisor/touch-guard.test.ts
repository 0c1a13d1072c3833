import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { TickStatus } from '../../messages/robot-state.ts';
import type { JointReading } from '../driver.ts';
import { Bench, HostileDriver, model } from './supervisor.test.bench.ts';
import { TouchGuard } from './touch-guard.ts';

class PressedDriver extends HostileDriver {
  externalNm = Number.NaN;

  override read(nowNs: number, out: JointReading): TickStatus {
    out.externalNm.fill(0);
    out.externalNm[1] = this.externalNm;
    return super.read(nowNs, out);
  }
}

function engaged(options: object): { bench: Bench; driver: PressedDriver; run(ms: number): void } {
  const driver = new PressedDriver();
  const bench = new Bench(driver, model, options).bring('engaged');
  let engagement = 1;
  const run = (ms: number) => {
    for (let t = 0; t < ms; t += 5) {
      if (bench.state !== 'engaged') engagement = bench.supervisor.endedEngagement + 1;
      bench.send({ engagement });
      bench.tick();
    }
  };
  return { bench, driver, run };
}

describe('a limit on contact', () => {
  it('holds with the joint as the cause, and not for a spike of one cycle', () => {
    const { bench, driver, run } = engaged({ maxExternalEffortNm: 5 });
    driver.externalNm = 12;
    run(5);
    driver.externalNm = 0;
    run(50);
    assert.equal(bench.state, 'engaged', 'a spike passes');
    driver.externalNm = -8;
    for (let t = 0; t < 60 && bench.state === 'engaged'; t += 5) run(5);
    assert.equal(bench.state, 'hold');
    assert.match(bench.supervisor.cause, /^contact: \d+\.\d N·m from outside on b$/);
    assert.equal(bench.counters.get('hard-contact'), 1);
  });

  it('lets an operator take a pressing arm away, but never press harder', () => {
    const { bench, driver, run } = engaged({ maxExternalEffortNm: 5 });
    driver.externalNm = 8;
    while (bench.state === 'engaged') run(5);
    run(100);
    assert.equal(bench.state, 'engaged', 'still pressing as before');
    driver.externalNm = 6;
    run(100);
    assert.equal(bench.state, 'engaged');
    driver.externalNm = 8;
    for (let t = 0; t < 100 && bench.state === 'engaged'; t += 5) run(5);
    assert.equal(bench.state, 'hold', 'harder again');
  });

  it('is off by default, and unknown torques are no contact', () => {
    const off = engaged({});
    off.driver.externalNm = 400;
    off.run(200);
    assert.equal(off.bench.state, 'engaged');
    const unknown = engaged({ maxExternalEffortNm: 1 });
    unknown.driver.externalNm = Number.NaN;
    unknown.run(200);
    assert.equal(unknown.bench.state, 'engaged');
  });

  it('does not count a reading twice', () => {
    const guard = new TouchGuard(model, 5);
    for (let i = 0; i < 10; i++) guard.note({ robotNs: 1e9, externalNm: Float64Array.of(0, 0) });
    for (let i = 0; i < 10; i++) guard.note({ robotNs: 1e9 + 1e6, externalNm: Float64Array.of(0, 6) });
    assert.equal(guard.isTooHard, false);
  });
});
