import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { percentiles, variation } from '../../core/statistics/percentiles.ts';
import { LinkModel } from './link-model.ts';
import type { ProfileName } from './profiles.ts';
import { resolveLink } from './settings.ts';

interface Reference {
  /** p50, p95, p99 of the delay and of its change from one datagram to the next, ms. */
  delay: [number, number, number];
  change: [number, number, number];
  lostPercent: number;
}

/** The reference traces: 10 minutes at 100 Hz each. */
const REFERENCES: Partial<Record<ProfileName, Reference>> = {
  ethernet: { delay: [1.453, 1.571, 1.657], change: [0.042, 0.153, 0.243], lostPercent: 0 },
  wifi: { delay: [2.17, 4.23, 19.67], change: [0.14, 2.4, 7.65], lostPercent: 0 },
  'wifi-untuned': { delay: [2.739, 6.994, 41.38], change: [0.2, 6.31, 10.43], lostPercent: 0 },
  '5g': { delay: [11.64, 19.43, 26.13], change: [0.205, 8.17, 9.89], lostPercent: 0.055 },
  wan: { delay: [41.59, 49.78, 52.53], change: [0.281, 0.967, 9.19], lostPercent: 0.097 },
  loss2: { delay: [2.141, 2.567, 4.39], change: [0.129, 0.571, 3.33], lostPercent: 1.91 },
  bloat: { delay: [2.571, 115.4, 135.2], change: [0.15, 0.78, 4.27], lostPercent: 0.075 },
  handover: { delay: [2.144, 2.584, 5.21], change: [0.128, 0.696, 4.24], lostPercent: 0.28 },
};
/** Bloat's median lies where a quiet link turns into a full one: anything from 2 to 25 ms in ten minutes. */
const TOLERANCE = { p50: 0.06, p95: 0.1, p99: 0.15, change: 0.25, bloatP50Ms: 8 };

const SEEDS = 8;
const COUNT = 60_000;

/** Delays at 100 Hz with 0.1 ms of sender jitter; NaN where lost. */
function delaysMs(profile: ProfileName): Float64Array {
  const delays = new Float64Array(SEEDS * COUNT);
  const [settings] = resolveLink({ profile });
  for (let seed = 0; seed < SEEDS; seed++) {
    const link = new LinkModel(settings, seed + 1, 'forward', 0);
    for (let i = 0; i < COUNT; i++) {
      const sentNs = 20e6 + i * 10e6 + ((i * 7919) % 100) * 1e3;
      delays[seed * COUNT + i] = ((link.admit(sentNs, 200) ?? Number.NaN) - sentNs) / 1e6;
    }
  }
  return delays;
}

describe('profiles resemble the reference traces', () => {
  for (const [name, reference] of Object.entries(REFERENCES) as [ProfileName, Reference][])
    it(name, (context) => {
      const delays = delaysMs(name);
      const delay = percentiles(delays)!;
      const change = percentiles(variation(delays))!;
      const lostPercent = (100 * delays.filter(Number.isNaN).length) / delays.length;
      const reported = [delay.p50, delay.p95, delay.p99, change.p50, change.p95, change.p99, lostPercent];
      context.diagnostic(reported.map((value) => value.toFixed(3)).join(' '));
      const near = (what: string, got: number, wanted: number, share: number) =>
        assert.ok(Math.abs(got - wanted) <= share * wanted, `${name} ${what}: ${got}, trace ${wanted}`);
      if (name === 'bloat') assert.ok(Math.abs(delay.p50 - reference.delay[0]) < TOLERANCE.bloatP50Ms);
      else near('p50', delay.p50, reference.delay[0], TOLERANCE.p50);
      near('p95', delay.p95, reference.delay[1], TOLERANCE.p95);
      near('p99', delay.p99, reference.delay[2], TOLERANCE.p99);
      near('change p50', change.p50, reference.change[0], TOLERANCE.change);
      near('change p95', change.p95, reference.change[1], TOLERANCE.change);
      near('change p99', change.p99, reference.change[2], TOLERANCE.change);
      assert.ok(Math.abs(lostPercent - reference.lostPercent) < 0.15, `${name} lost ${lostPercent} %`);
    });
});
