import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { PolicyFacts } from './policy.ts';
import { policyFps } from './rate.ts';

describe('the rate at which a policy is asked', () => {
  const rate = (fps: number | null, chosenHz: number | null) => {
    const warnings: string[] = [];
    const facts = { name: 'cups', fps } as PolicyFacts;
    return { hz: policyFps(facts, chosenHz, (text) => warnings.push(text)), warnings };
  };

  it('is the one it was trained at', () => {
    assert.deepEqual(rate(30, null), { hz: 30, warnings: [] });
    assert.deepEqual(rate(30, 30), { hz: 30, warnings: [] });
    assert.deepEqual(rate(null, 15), { hz: 15, warnings: [] });
  });

  it('is warned about where it is another, or a guess', () => {
    const faster = rate(30, 60);
    assert.equal(faster.hz, 60);
    assert.match(
      faster.warnings.join(),
      /trained at 30 rows per second; at --hz 60 it moves 2.00 times as fast/,
    );
    const guessed = rate(null, null);
    assert.equal(guessed.hz, 10);
    assert.match(guessed.warnings.join(), /--dataset DIR or --hz N/);
  });
});
