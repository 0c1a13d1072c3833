import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Random, TimeNoise } from '../../core/random.ts';
import type { Bloat, Blocks, Storms } from './impairment.ts';
import { BloatWeather, BlockWeather, StormWeather } from './weather.ts';

const MS = 1e6;
const S = 1e9;
const BLOCKS: Blocks = { perS: 2, lengthMs: [10, 50], spread: 0.4, lostShare: 0.4 };
const STORMS: Storms = {
  perS: 0.2,
  lengthS: [1, 3],
  floorMs: 2,
  floorSpread: 0,
  pauseMs: 300,
  heightMs: [20, 40],
  plateauMs: [50, 100],
  riseMs: 30,
  noiseMs: 0,
  stallShare: 0.2,
};
const BLOAT: Bloat = {
  onS: [5, 10],
  offS: [5, 10],
  peakMs: [60, 150],
  riseS: [2, 3],
  backOff: 0.5,
  againS: [1, 2],
  drainS: 1,
};

/** [from, to) of the blocks, found by sampling every `stepNs`. */
function blocksSeen(weather: BlockWeather, stepNs: number, untilNs: number): [number, number][] {
  const seen: [number, number][] = [];
  for (let timeNs = 0; timeNs < untilNs; timeNs += stepNs) {
    weather.moveTo(timeNs);
    const endNs = weather.heldUntil(timeNs);
    if (endNs > timeNs && seen.at(-1)?.[1] !== endNs) seen.push([timeNs, endNs]);
  }
  return seen;
}

describe('BlockWeather', () => {
  it('has the configured rate and length', () => {
    const seen = blocksSeen(new BlockWeather(BLOCKS, new Random(1, 'b')), 0.1 * MS, 200 * S);
    assert.ok(Math.abs(seen.length / 200 - 2 / 1.06) < 0.2, `${seen.length} in 200 s`);
    for (const [fromNs, endNs] of seen) {
      const lengthMs = (endNs - fromNs) / MS;
      assert.ok(lengthMs > 9.8 && lengthMs <= 50.1, `${lengthMs} ms`);
    }
  });

  it('does not depend on how often it is read', () => {
    const ends = (stepNs: number) =>
      blocksSeen(new BlockWeather(BLOCKS, new Random(4, 'b')), stepNs, 20 * S).map(([, endNs]) => endNs);
    const often = new Set(ends(1 * MS));
    const rarely = ends(17 * MS);
    assert.ok(rarely.length > 10);
    assert.ok(rarely.every((endNs) => often.has(endNs)));
  });

  it('loses the first part of a block and holds the rest', () => {
    const weather = new BlockWeather(BLOCKS, new Random(2, 'b'));
    const [[fromNs, endNs] = [0, 0]] = blocksSeen(new BlockWeather(BLOCKS, new Random(2, 'b')), 1000, 2 * S);
    const at = (part: number) => {
      weather.moveTo(fromNs + part * (endNs - fromNs));
      return weather.isLost(fromNs + part * (endNs - fromNs));
    };
    assert.deepEqual([at(0.01), at(0.38), at(0.42), at(0.99), at(1.01)], [true, true, false, false, false]);
  });
});

describe('StormWeather', () => {
  it('is calm outside storms, raised inside, and queues up to its height', () => {
    const weather = new StormWeather(STORMS, new Random(3, 's'), new TimeNoise(3, 's', 5 * MS));
    let stormyMs = 0;
    let queueMs = 0;
    let stalls = 0;
    for (let timeNs = 0; timeNs < 600 * S; timeNs += MS) {
      weather.moveTo(timeNs);
      const extraMs = weather.extraNs(timeNs) / MS;
      assert.ok(extraMs === 0 || (extraMs >= 2 && extraMs <= 42.001), `${extraMs}`);
      if (extraMs > 0) stormyMs++;
      if (extraMs > 20) queueMs++;
      const heldMs = (weather.heldUntil(timeNs) - timeNs) / MS;
      assert.ok(heldMs <= 40);
      if (heldMs > 19) stalls++;
    }
    const share = stormyMs / 600e3;
    assert.ok(Math.abs(share - 2 / 7) < 0.08, `stormy ${share} of the time`);
    assert.ok(queueMs > 0.04 * stormyMs && queueMs < 0.4 * stormyMs);
    assert.ok(stalls > 10);
  });
});

describe('BloatWeather', () => {
  it('rises, backs off, drains and rests; never jumps up', () => {
    const weather = new BloatWeather(BLOAT, new Random(3, 'l'));
    let lastMs = 0;
    let quiet = 0;
    let peakMs = 0;
    for (let timeNs = 0; timeNs < 600 * S; timeNs += 10 * MS) {
      weather.moveTo(timeNs);
      const extraMs = weather.extraNs(timeNs) / MS;
      assert.ok(extraMs >= 0 && extraMs <= 150);
      assert.ok(extraMs - lastMs < 1.5, 'a buffer fills at a rate');
      assert.ok(extraMs >= 0.45 * lastMs || extraMs < 1.6, 'a back-off leaves half of it');
      if (extraMs === 0) quiet++;
      peakMs = Math.max(peakMs, extraMs);
      lastMs = extraMs;
    }
    assert.ok(peakMs > 100);
    assert.ok(Math.abs(quiet / 60_000 - 7.5 / 16) < 0.12, `quiet ${quiet / 600} %`);
  });
});
