import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, it } from 'node:test';
import { gunzipSync } from 'node:zlib';
import { createPolicy } from '../policy.ts';
import { constantOracle, smoothOracle } from './oracle.ts';
import { replay } from './replay.ts';
import { type Score, scoreOf } from './score.ts';
import { type DelayTrace, parseDelayTrace } from './trace.ts';

const FOLDER = path.resolve('test/data/delay-traces');
const traces = new Map<string, DelayTrace>();

function traceOf(name: string): DelayTrace {
  const known = traces.get(name);
  if (known !== undefined) return known;
  const text = gunzipSync(readFileSync(path.join(FOLDER, `${name}.csv.gz`))).toString('utf8');
  const trace = parseDelayTrace(text, name);
  traces.set(name, trace);
  return trace;
}

const scored = (name: string, policy: string, redundancy = 0): Score => {
  const trace = traceOf(name);
  return scoreOf(trace, replay(trace, createPolicy(policy, { redundancy }), redundancy), redundancy > 0)!;
};

/** Largest mean latency allowed, in ms: the reference design's + 2. */
const TARGETS_MS = {
  '5g': 34.0 + 2,
  bloat: 53.1 + 2,
  clock: 5.5 + 2,
  ethernet: 2.8 + 2,
  wan: 52.9 + 2,
  wifi_tuned: 36.1 + 2,
  wifi_untuned: 82.4 + 2,
};

describe('adaptive on the public traces', () => {
  for (const [name, mostMs] of Object.entries(TARGETS_MS))
    it(`has no bad window on ${name}, at ${mostMs.toFixed(1)} ms or less`, () => {
      const { badWindows, meanMs, impossible } = scored(name, 'adaptive');
      assert.deepEqual({ badWindows, impossible }, { badWindows: 0, impossible: 0 });
      assert.ok(meanMs <= mostMs, `${meanMs} ms`);
    });

  it('has at most 3 bad windows on loss2 when each packet repeats 8 commands', () => {
    const { badWindows, impossible } = scored('loss2', 'adaptive', 8);
    assert.ok(badWindows <= 3, `${badWindows}`);
    assert.equal(impossible, 0);
  });

  it('has at most 19 on handover, and adds no delay for the holes', () => {
    const { badWindows, meanMs, impossible } = scored('handover', 'adaptive');
    assert.ok(badWindows <= 19 && meanMs <= 6.3 + 2, `${meanMs}/${badWindows}`);
    assert.equal(impossible, 0);
  });

  it('is smoother or faster according to its preset', () => {
    for (const name of ['5g', 'wifi_untuned']) {
      const [fast, balanced, smooth] = ['adaptive:fast', 'adaptive', 'adaptive:smooth'].map((text) =>
        scored(name, text),
      );
      assert.ok(fast!.meanMs < balanced!.meanMs && balanced!.meanMs < smooth!.meanMs);
      assert.ok(fast!.bad3Windows >= balanced!.bad3Windows && balanced!.bad3Windows >= smooth!.bad3Windows);
      assert.equal(smooth!.badWindows, 0);
    }
  });
});

describe('the score', () => {
  const expected = JSON.parse(readFileSync(path.join(FOLDER, 'expected-scores.json'), 'utf8')) as {
    trace: string;
    policy: string;
    redundancy: number;
    score: Score;
  }[];

  it('equals that of the reference scorer on every trace', () => {
    assert.ok(expected.length >= 27);
    for (const { trace, policy, redundancy, score } of expected)
      assert.deepEqual(scored(trace, policy, redundancy), score, `${policy} on ${trace}, K = ${redundancy}`);
  });
});

describe('the oracles', () => {
  it('match the reference', () => {
    const found = (name: string) => {
      const constant = constantOracle(traceOf(name))!;
      const smooth = smoothOracle(traceOf(name))!;
      return [constant.meanMs, constant.badWindows, smooth.meanMs, smooth.badWindows];
    };
    const near = (name: string, wanted: number[]) => {
      const values = found(name);
      assert.ok(
        values.every((value, i) => Math.abs(value - wanted[i]!) < 0.2),
        `${name}: ${values}`,
      );
    };
    near('5g', [21.1, 0, 13.2, 0]);
    near('wifi_tuned', [35.1, 0, 3.2, 0]);
    near('loss2', [3.0, 38, 2.6, 39]);
  });
});
