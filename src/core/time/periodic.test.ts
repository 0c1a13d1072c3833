import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { Periodic } from './periodic.ts';

describe('periodic', () => {
  it('is due at its instants and not before', () => {
    const ticks = new Periodic(100, 5e9);
    assert.equal(ticks.due(5e9 - 1), false);
    assert.equal(ticks.due(5e9), true);
    assert.equal(ticks.due(5e9), false);
    assert.equal(ticks.due(5.01e9 - 1), false);
    assert.equal(ticks.due(5.01e9), true);
    assert.equal(ticks.missed, 0);
  });

  it('does not drift, however late it is polled', () => {
    const hz = fc.constantFrom(1, 3, 7, 60, 90, 100, 333, 1000);
    const lateness = fc.array(fc.double({ min: 0, max: 0.999, noNaN: true }), {
      minLength: 50,
      maxLength: 200,
    });
    fc.assert(
      fc.property(hz, lateness, fc.integer({ min: 0, max: 1e12 }), (rate, late, startNs) => {
        const ticks = new Periodic(rate, startNs);
        late.forEach((fraction, i) => {
          assert.ok(ticks.due(ticks.nextNs + fraction * ticks.periodNs));
          assert.ok(Math.abs(ticks.nextNs - (startNs + ((i + 1) * 1e9) / rate)) < 1);
        });
        assert.equal(ticks.missed, 0);
      }),
    );
  });

  it('skips and counts missed instants and stays on its grid', () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 0, max: 50_000_000 })), (pausesNs) => {
        const ticks = new Periodic(1000, 0);
        let nowNs = 0;
        let taken = 0;
        for (const pauseNs of pausesNs) {
          nowNs += pauseNs;
          if (ticks.due(nowNs)) taken++;
          assert.ok(ticks.nextNs > nowNs, 'missed instants are not caught up in a burst');
          assert.equal(ticks.nextNs % 1e6, 0);
        }
        // Every instant up to now was taken or counted as missed.
        assert.equal(taken + ticks.missed, pausesNs.length === 0 ? 0 : Math.floor(nowNs / 1e6) + 1);
      }),
    );
  });
});
