import assert from 'node:assert/strict';
import { test } from 'node:test';
import { handOvers } from './take-over-trial.ts';

test('1,000 random hand-overs: no step at any of them, every limit kept', async () => {
  let takeOvers = 0;
  for (let seed = 1; seed <= 10; seed++) {
    const done = await handOvers(100, seed);
    assert.equal(done.largestStepRad, 0);
    takeOvers += done.takeOvers;
  }
  assert.equal(takeOvers, 1000);
});
