import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { MotionCorrelator } from './motion-latency.ts';

const MS = 1e6;

/** Deterministic numbers in [0, 1). */
function seeded(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 32;
  };
}

/** A motion that never repeats: sums of sines with unrelated periods. */
const wander = (ns: number, joint: number): number => {
  const s = ns / 1e9;
  return 0.2 * Math.sin(2.1 * s + joint) + 0.1 * Math.sin(5.3 * s + 2 * joint) + 0.03 * Math.sin(13.7 * s);
};

interface Feed {
  delayMs: number;
  noiseRad?: number;
  ticksRad?: number;
  jitterMs?: number;
  path?: (ns: number, joint: number) => number;
}

function estimateOf({ delayMs, noiseRad = 0, ticksRad = 0, jitterMs = 0, path = wander }: Feed) {
  const correlator = new MotionCorrelator(2);
  const random = seeded(7);
  const measure = (rad: number) => {
    const noisy = rad + noiseRad * (random() + random() + random() - 1.5);
    return ticksRad === 0 ? noisy : Math.round(noisy / ticksRad) * ticksRad;
  };
  for (let i = 0; i < 500; i++) {
    const commandNs = 1e9 + i * 10 * MS + random() * jitterMs * MS;
    correlator.command(commandNs, [path(commandNs, 0), path(commandNs, 1)]);
    const stateNs = 1e9 + i * 10 * MS + 3.7 * MS + random() * jitterMs * MS;
    const sourceNs = stateNs - delayMs * MS;
    correlator.state(stateNs, [measure(path(sourceNs, 0)), measure(path(sourceNs, 1))]);
  }
  return correlator.estimate();
}

describe('MotionCorrelator', () => {
  for (const delayMs of [0, 2.5, 17, 37.3, 61.8, 148.6, 412.1])
    it(`estimates a delay of ${delayMs} ms between samples`, () => {
      const found = estimateOf({ delayMs });
      assert.ok(found !== null);
      assert.ok(Math.abs(found.latencyNs / MS - delayMs) < 0.5, `${found.latencyNs / MS}`);
      assert.ok(found.confidence > 0.99);
    });

  it('tolerates noise, coarse encoders and uneven sampling', () => {
    const found = estimateOf({ delayMs: 61.8, noiseRad: 0.001, ticksRad: 0.0015, jitterMs: 4 });
    assert.ok(found !== null);
    assert.ok(Math.abs(found.latencyNs / MS - 61.8) < 2, `${found.latencyNs / MS}`);
    assert.ok(found.confidence > 0.9 && found.confidence < 1);
  });

  it('returns null at rest, at constant speed, for pure noise and for lags out of range', () => {
    assert.equal(estimateOf({ delayMs: 40, path: () => 0.3 }), null);
    assert.equal(estimateOf({ delayMs: 40, path: (ns) => ns * 1e-10 }), null);
    assert.equal(estimateOf({ delayMs: 40, path: () => 0, noiseRad: 0.01 }), null);
    assert.equal(estimateOf({ delayMs: 900 }), null);
  });

  it('returns null when the motion repeats so fast that two lags fit', () => {
    assert.equal(estimateOf({ delayMs: 40, path: (ns) => 0.1 * Math.sin((2 * Math.PI * ns) / 200e6) }), null);
  });

  it('forgets everything on clear and waits for enough samples', () => {
    const correlator = new MotionCorrelator(1);
    for (let i = 0; i < 500; i++) {
      correlator.command(i * 10 * MS, [wander(i * 10 * MS, 0)]);
      correlator.state(i * 10 * MS, [wander((i - 5) * 10 * MS, 0)]);
    }
    assert.ok(correlator.estimate() !== null);
    correlator.clear();
    assert.equal(correlator.estimate(), null);
    correlator.command(5001 * MS, [0]);
    correlator.state(Number.NaN, [0]);
    assert.equal(correlator.estimate(), null);
  });
});
