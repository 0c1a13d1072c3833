import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { xorshift } from '../../../../test/xorshift.ts';
import { impairmentSchema } from '../../../wire/emulator/impairment.ts';
import { LinkModel } from '../../../wire/emulator/link-model.ts';
import { PROFILES, type ProfileName } from '../../../wire/emulator/profiles.ts';
import { AdaptivePolicy } from '../adaptive.ts';
import { createPolicy } from '../policy.ts';
import { replay } from './replay.ts';
import { scoreOf } from './score.ts';
import type { DelayTrace } from './trace.ts';

const COMMANDS = 12_000;

function emulated(profile: ProfileName, seed: number): DelayTrace {
  const impairment = impairmentSchema.parse(PROFILES[profile].impairment);
  const settings = { label: profile, impairment, events: [], trace: null, tracePhaseNs: 0 };
  const link = new LinkModel(settings, seed, 'forward', 0);
  const sendUs = Float64Array.from({ length: COMMANDS }, (_, i) => (i + 2) * 10_000);
  const delayUs = sendUs.map((us) => {
    const outNs = link.admit(us * 1000, 200);
    return outNs === null ? Number.NaN : outNs / 1000 - us;
  });
  return { name: profile, count: COMMANDS, sendUs, delayUs, clockMs: sendUs.map(() => Number.NaN) };
}

/** Every arrival is up to 0.3 ms later, in the same order: as if the same run were repeated. */
function repeated(trace: DelayTrace, seed: number): DelayTrace {
  const random = xorshift(seed);
  let beforeUs = 0;
  const delayUs = trace.delayUs.map((us, i) => {
    if (Number.isNaN(us)) return us;
    beforeUs = Math.max(beforeUs + 1, trace.sendUs[i]! + us + 300 * random());
    return beforeUs - trace.sendUs[i]!;
  });
  return { ...trace, delayUs };
}

describe('two runs over the same link', () => {
  for (const profile of ['wifi', 'wifi-untuned', '5g', 'bloat'] as const)
    it(`have nearly the same delay: ${profile}`, () => {
      const trace = emulated(profile, 203);
      const means = [1, 2, 3, 4].map(
        (seed) => scoreOf(trace, replay(repeated(trace, seed), createPolicy('adaptive')))!.meanMs,
      );
      const spreadMs = Math.max(...means) - Math.min(...means);
      assert.ok(spreadMs < 1.5, `${means}`);
    });
});

describe('a stall longer than the cap', () => {
  /** Delay half a minute after a single stall on a calm link. */
  const afterMs = (stallMs: number): number => {
    const policy = new AdaptivePolicy();
    const random = xorshift(5);
    let freeNs = 0;
    for (let ns = 0; ns < 130e9; ns += 10e6) {
      const isStalled = ns >= 95e9 && ns < 95e9 + stallMs * 1e6;
      freeNs = Math.max(freeNs + 50e3, (isStalled ? 95e9 + stallMs * 1e6 : ns) + 2e6 + 0.5e6 * random());
      policy.schedule(ns, freeNs);
    }
    return policy.delayNs / 1e6;
  };

  it('leaves no delay behind, however much longer it was', () => {
    for (const stallMs of [165, 180, 200, 210, 220, 300, 600])
      assert.ok(afterMs(stallMs) < 12, `${stallMs} ms: ${afterMs(stallMs)} ms`);
  });

  it('differs from one that a permitted delay covers, which may come again', () => {
    assert.ok(afterMs(120) > 50);
  });
});
