import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { VideoRate } from './video-rate.ts';

const MS = 1e6;
const FRAME_NS = 1e9 / 30;

interface Path {
  kbitS(atNs: number): number;
  delayNs(atNs: number): number;
}

/** Pictures at 30 Hz over a path with a bottleneck; what the receiver saw of them. */
function drive(rate: VideoRate, path: Path, seconds: number) {
  const answers: { t0: number; atNs: number }[] = [];
  const ages: { atNs: number; ageNs: number; kbitS: number }[] = [];
  let freeNs = 0;
  let skipped = 0;
  for (let nowNs = 0; nowNs < seconds * 1e9; nowNs += FRAME_NS) {
    while (answers.length > 0 && answers[0]!.atNs <= nowNs) {
      const { t0, atNs } = answers.shift()!;
      rate.answered(t0, atNs);
    }
    if (!rate.mayEncode(nowNs)) {
      skipped++;
      continue;
    }
    const bits = (rate.kbitS * 1000) / 30;
    freeNs = Math.max(nowNs, freeNs) + (bits / (path.kbitS(nowNs) * 1000)) * 1e9;
    const arrivedNs = freeNs + path.delayNs(nowNs);
    rate.sent(nowNs);
    answers.push({ t0: nowNs, atNs: arrivedNs + path.delayNs(nowNs) });
    ages.push({ atNs: nowNs, ageNs: arrivedNs - nowNs, kbitS: rate.kbitS });
  }
  return { ages, skipped };
}

const steady = (kbitS: number, delayMs: number): Path => ({
  kbitS: () => kbitS,
  delayNs: () => delayMs * MS,
});
const worstMs = (ages: readonly { ageNs: number }[]) => Math.max(...ages.map(({ ageNs }) => ageNs)) / MS;

describe('the rate of a video', () => {
  it('stays at its most on a path that carries it', () => {
    const rate = new VideoRate(2000);
    const { skipped } = drive(rate, steady(20_000, 40), 60);
    assert.equal(rate.kbitS, 2000);
    assert.equal(skipped, 0);
  });

  it('ignores jitter and short stalls', () => {
    const rate = new VideoRate(2000);
    const jitter = (atNs: number) => (12 + ((atNs / MS) % 1000 < 70 ? 60 : 0) + ((atNs / 1e5) % 9)) * MS;
    drive(rate, { kbitS: () => 50_000, delayNs: jitter }, 60);
    assert.equal(rate.kbitS, 2000);
  });

  it('falls below a narrow path, and pictures stay young', () => {
    const rate = new VideoRate(2000);
    const { ages } = drive(rate, steady(700, 20), 60);
    assert.ok(rate.kbitS < 1300, `${rate.kbitS}`);
    const late = ages.filter(({ atNs }) => atNs > 5e9);
    const meanMs = late.reduce((sum, { ageNs }) => sum + ageNs, 0) / late.length / MS;
    assert.ok(meanMs < 100, `${meanMs}`);
    assert.ok(worstMs(ages) < 500, `${worstMs(ages)}`);
  });

  it('follows a route that becomes longer for good within seconds', () => {
    const rate = new VideoRate(2000);
    drive(rate, { kbitS: () => 20_000, delayNs: (atNs) => (atNs < 20e9 ? 12 : 45) * MS }, 35);
    assert.equal(rate.kbitS, 2000);
  });

  it('rises again when the path recovers', () => {
    const rate = new VideoRate(2000);
    drive(rate, { kbitS: (atNs) => (atNs < 20e9 ? 500 : 20_000), delayNs: () => 20 * MS }, 120);
    assert.equal(rate.kbitS, 2000);
  });

  it('falls when many packets are lost, not below its least', () => {
    const rate = new VideoRate(2000);
    for (let i = 0; i < 40; i++) rate.lost(0.2, i * 1e9);
    assert.equal(rate.kbitS, 150);
    rate.lost(0.01, 50e9);
    assert.equal(rate.kbitS, 150);
  });

  it('goes on after a second without any answer', () => {
    const rate = new VideoRate(2000);
    rate.sent(0);
    assert.equal(rate.mayEncode(1.2e9), true);
    assert.ok(rate.kbitS < 2000);
  });
});
