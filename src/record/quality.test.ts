import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { refusals } from './limits.ts';
import { QualityMeter } from './quality.ts';
import { received, rowOf, START_NS } from './test-episode.ts';

/** `delayMs`: delay from sampling the hand to the robot acting on the i-th command. */
function measured(count: number, delayMs: (i: number) => number, skip = (_: number) => false): QualityMeter {
  const meter = new QualityMeter(100);
  for (let i = 0; i < count; i++) {
    const sampledNs = START_NS + i * 10e6;
    if (!skip(i))
      meter.row(rowOf(i, 2, new Map([['front', received('front', Math.floor(i / 3), 0)]]), sampledNs));
    meter.trace({ seq: i + 1, sampledNs, appliedNs: sampledNs + 7e6 + delayMs(i) * 1e6, offsetNs: 7e6 });
  }
  return meter;
}

describe('QualityMeter', () => {
  it('counts the seconds in which the robot followed unsteadily', () => {
    assert.equal(measured(1000, () => 5).result(0).badWindows, 0);
    // The next command makes up for a single late one, but not for a run of late ones.
    const spiky = (i: number) => (i >= 500 && i < 600 && i % 8 === 0 ? 45 : 5);
    assert.equal(measured(1000, spiky).result(0).badWindows, 0);
    const bursts = (i: number) => (i >= 500 && i < 600 && i % 25 < 8 ? 45 : 5);
    assert.ok(measured(1000, bursts).result(0).badWindows >= 1);
  });

  it('includes the commands of skipped rows', () => {
    const late = (i: number) => (i >= 500 && i < 600 ? 60 : 5);
    const all = measured(1000, late).result(0).badWindows;
    assert.equal(measured(1000, late, (i) => i % 50 === 7).result(20).badWindows, all);
  });

  it('computes the jerk of a known motion, and none across a gap', () => {
    const meter = new QualityMeter(100);
    const [amplitudeRad, omega] = [0.5, 4];
    for (let i = 0; i < 600; i++) {
      const timeNs = i * 10e6;
      const stateRad = [amplitudeRad * Math.sin((omega * timeNs) / 1e9)];
      meter.row({ ...rowOf(i, 1, new Map(), START_NS + timeNs), stateRad });
    }
    const { jerkP95RadS3 } = meter.result(0);
    const peak = amplitudeRad * omega ** 3;
    assert.ok(jerkP95RadS3! > 0.95 * peak && jerkP95RadS3! <= peak, `${jerkP95RadS3} of ${peak}`);
    const torn = new QualityMeter(100);
    for (let i = 0; i < 30; i++)
      torn.row({
        ...rowOf(i, 1, new Map(), START_NS + i * 10e6 + (i > 14 ? 5e9 : 0)),
        stateRad: [i > 14 ? 3 : 0],
      });
    assert.ok((torn.result(0).jerkP95RadS3 ?? 0) < 1e-6);
  });

  it('reports shares, ages and latency, and null for what was not measured', () => {
    const result = measured(300, () => 5).result(100);
    assert.equal(result.skippedShare, 0.25);
    assert.ok(Math.abs(result.oneWayP95Ms! - 3.2) < 1e-9);
    assert.ok(result.frameAgeP95Ms! >= 10 && result.frameAgeP95Ms! <= 30);
    const empty = new QualityMeter(100).result(0);
    assert.deepEqual([empty.frameAgeP95Ms, empty.jerkP95RadS3, empty.skippedShare], [null, null, 0]);
  });

  it('rejects by each limit, including when a figure is unknown', () => {
    const quality = new QualityMeter(100).result(0);
    assert.deepEqual(refusals(quality, 10, {}), []);
    assert.deepEqual(refusals(quality, 10, { maxSkippedShare: 0, maxBadWindows: 0 }), []);
    assert.deepEqual(refusals({ ...quality, badWindows: 3 }, 10, { maxBadWindows: 2 }), [
      'bad windows 3, more than 2',
    ]);
    assert.equal(refusals(quality, 10, { minRows: 100, maxOneWayP95Ms: 50 }).length, 2);
  });
});
