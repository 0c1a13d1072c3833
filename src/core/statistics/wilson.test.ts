import assert from 'node:assert/strict';
import { it } from 'node:test';
import { wilson } from './wilson.ts';

it('gives the published intervals', () => {
  // Newcombe 1998, table I, method 3.
  for (const [r, n, low, high] of [
    [81, 263, 0.2553, 0.3662],
    [15, 148, 0.0624, 0.1605],
    [0, 20, 0, 0.1611],
    [1, 29, 0.0061, 0.1718],
  ] as const) {
    const found = wilson(r, n);
    assert.ok(Math.abs(found.low - low) < 1e-4 && Math.abs(found.high - high) < 1e-4, `${r} of ${n}`);
  }
});
