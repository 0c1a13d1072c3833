import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { FigureMeter } from './figures.ts';
import { findOutliers, type ScoredEpisode } from './outliers.ts';

describe('figures of an episode', () => {
  it('knows peak velocity, standing still and a constant offset', () => {
    const meter = new FigureMeter();
    // Two seconds at 1.5 rad/s, then two seconds still with a constant offset of 0.3 rad.
    for (let i = 0; i <= 400; i++) {
      const timeS = i / 100;
      const at = 1.5 * Math.min(2, timeS);
      meter.row(timeS, [at, 0], [at - 0.3, 0]);
    }
    const { peakVelocityRadS, stillShare, offsetRad, endRad, motion } = meter.result();
    assert.ok(Math.abs(peakVelocityRadS - 1.5) < 1e-6, String(peakVelocityRadS));
    assert.ok(Math.abs(stillShare - 0.5) < 0.03, String(stillShare));
    assert.ok(Math.abs(offsetRad! - 0.3) < 1e-9, String(offsetRad));
    assert.deepEqual(endRad, [2.7, 0]);
    assert.ok(motion.length === 32 && motion[3] === 1.5 && motion[30] === 0, motion.join());
  });

  it('counts a takeover once, however long it lasts', () => {
    const meter = new FigureMeter();
    for (let i = 0; i < 100; i++) meter.row(i / 100, [0], [0], (i > 10 && i < 30) || i > 60);
    assert.equal(meter.result().interventions, 2);
  });

  it('has no offset without a pause, and survives an empty episode', () => {
    const meter = new FigureMeter();
    for (let i = 0; i < 100; i++) meter.row(i / 100, [i / 50], [i / 50]);
    assert.equal(meter.result().offsetRad, null);
    assert.deepEqual(new FigureMeter().result().endRad, []);
  });
});

describe('outliers', () => {
  const episode = (change: Partial<ScoredEpisode> = {}, i = 0): ScoredEpisode => ({
    jerkP95RadS3: 40 + (i % 5),
    peakVelocityRadS: 1 + (i % 7) / 10,
    stillShare: 0.1 + (i % 3) / 100,
    offsetRad: 0.01 + (i % 4) / 1000,
    oneWayP95Ms: 20 + (i % 6),
    badWindows: 0,
    staleShare: 0,
    durationS: 8 + (i % 5) / 10,
    endRad: [0.1 + (i % 4) / 100, 0.5],
    ...change,
  });

  it('marks what differs and nothing else', () => {
    const all = Array.from({ length: 40 }, (_, i) => episode({}, i));
    all[7] = episode({ offsetRad: 0.3 }, 7);
    all[9] = episode({ endRad: [2, 0.5], durationS: 1 }, 9);
    const { marks } = findOutliers(all);
    assert.deepEqual(
      marks.flatMap((own, i) => (own.length > 0 ? [[i, ...own]] : [])),
      [
        [7, 'leader–follower offset'],
        [9, 'length', 'end pose'],
      ],
    );
  });

  it('marks nothing among a few episodes, and ignores unknown figures', () => {
    assert.deepEqual(findOutliers([episode(), episode({ jerkP95RadS3: 900 })]).marks, [[], []]);
    const unknown = Array.from({ length: 20 }, () => episode({ oneWayP95Ms: null, endRad: [] }));
    assert.deepEqual(
      findOutliers(unknown).marks.flat().concat(findOutliers(unknown).endDistanceRad.map(String)),
      new Array<string>(20).fill('null'),
    );
  });
});
