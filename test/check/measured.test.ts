import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { followAdvice, slowAdvice, wireVerdict } from '../../src/check/advice.ts';
import { atTick, measured, probes, records } from './records.ts';

describe('figures of a check', () => {
  it('splits the one-way time into segments across two unrelated clocks', () => {
    const { summary, transitMs, softwareMs } = measured(records(300));
    assert.equal(summary.oneWayMs?.p50, 3.4);
    assert.ok(Math.abs(transitMs!.p50 - 1.4) < 1e-6, 'without playout');
    assert.ok(Math.abs(softwareMs!.p99 - 0.4) < 1e-6, 'without wire and playout');
  });

  it('counts the seconds in which more than 5 % of commands took over 10 ms on the wire', () => {
    const second = (i: number) => Math.floor(i / 100);
    const slow = (share: number) =>
      measured(records(500, (i) => ({ wireMs: second(i) === 2 && i % 100 < share ? 11 : 1 })));
    assert.equal(slow(5).wireBadWindows, 0);
    assert.equal(slow(6).wireBadWindows, 1);
    assert.equal(measured(records(500, () => ({ wireMs: 10.5 }))).wireBadWindows, 5);
    const lost = records(500, (i) => (second(i) === 1 && i % 10 === 0 ? { outcome: 'lost' } : {}));
    assert.equal(measured(lost).wireBadWindows, 1, 'a lost command counts as slow');
  });

  it('judges the feel only after ten seconds, settling included', () => {
    assert.equal(measured(records(1000)).felt, null);
    assert.equal(measured(records(1300)).felt?.badWindows, 0);
    const shaky = records(2000, (i) => ({ wireMs: i >= 1500 && i < 1560 && i % 20 < 8 ? 60 : 1 }));
    const { felt, summary } = measured(shaky, null, atTick(1400));
    assert.ok(
      felt!.badWindows >= 1 && felt!.badWindows <= 2,
      `${felt!.badWindows}: one window, or two that share the disturbance`,
    );
    assert.equal(summary.commands, 600, 'earlier commands only warm up the score');
  });

  it('distinguishes a slow wire from slow software by the probes', () => {
    const spike = (i: number) => i % 50 < 3;
    const run = records(600, (i) => ({ wireMs: spike(i) ? 30 : 1 }));
    const wire = measured(
      run,
      probes(600, (i) => (spike(i) ? 20 : 1)),
    );
    assert.deepEqual(wire.spikes, { commands: 36, shared: 36 });
    assert.match(wireVerdict(wire), /slow in 36 of 36 spikes too: the time is spent on the wire/);
    const software = measured(
      run,
      probes(600, () => 1),
    );
    assert.deepEqual(software.spikes, { commands: 36, shared: 0 });
    assert.match(wireVerdict(software), /0 of 36 spikes too: probes are faster .* in this software/);
    assert.match(wireVerdict(measured(run)), /cannot be distinguished/);
    const slow = probes(600, (i) => (spike(i) ? 20 : 1));
    const noEcho = { ...slow, udp: { ...slow.udp!, oneWayMs: null, samples: [] }, icmp: slow.udp };
    assert.deepEqual(
      measured(run, noEcho).spikes,
      { commands: 36, shared: 36 },
      'falls back to ICMP without an echo',
    );
  });

  it('gives advice on the slowest segment', () => {
    assert.match(slowAdvice(measured(records(200, () => ({ playoutMs: 40 })))), /Most of it is playout/);
    assert.match(slowAdvice(measured(records(200, () => ({ pipelineMs: 9 })))), /pipeline .*governor/);
    assert.match(slowAdvice(measured(records(200, () => ({ receiveMs: 9 })))), /receive .*wakes late/);
    assert.match(slowAdvice(measured(records(200, () => ({ applyMs: 21 })))), /apply .*check its bus/);
    assert.match(slowAdvice(measured(records(200)), true), /Most of it is wire/, 'without playout');
    assert.match(slowAdvice(measured([])), /nothing is applied/);
    const stale = records(200, (i) => (i % 2 ? { outcome: 'dropped-stale' } : {}));
    assert.match(followAdvice(measured(stale)), /^100 commands arrived after a newer one/);
    const outrun = records(200, (i) => (i % 2 === 0 ? { applyMs: 21 } : { outcome: 'dropped-stale' }));
    assert.match(followAdvice(measured(outrun)), /^100 commands were dropped, and apply .*check its bus/);
  });
});
