import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import type { LinkEventInput } from './events.ts';
import type { ImpairmentInput } from './impairment.ts';
import { LinkModel } from './link-model.ts';
import { PROFILE_NAMES } from './profiles.ts';
import { resolveLink } from './settings.ts';
import { parseTraceTable } from './trace-table.ts';

const MS = 1e6;
const PERIOD_NS = 10 * MS;

interface Outcome {
  sentNs: number;
  outNs: number | null;
  copyNs: number;
}

function model(
  forward: ImpairmentInput,
  { profile = 'off', seed = 1, events = [] as LinkEventInput[], startNs = 0 } = {},
): LinkModel {
  const [settings] = resolveLink({ profile, forward, events });
  return new LinkModel(settings, seed, 'forward', startNs);
}

const send = (link: LinkModel, times: readonly number[], bytes = 200): Outcome[] =>
  times.map((sentNs) => ({ sentNs, outNs: link.admit(sentNs, bytes), copyNs: link.copyNs }));

const ticks = (count: number, periodNs = PERIOD_NS) => Array.from({ length: count }, (_, i) => i * periodNs);

/** Arrival times of any shape: bursts, silences, a steady rate. */
const arrivals = fc
  .array(fc.oneof(fc.nat(5 * MS), fc.nat(2e9), fc.constant(0), fc.constant(PERIOD_NS)), {
    minLength: 2,
    maxLength: 300,
  })
  .map((gaps) => {
    let timeNs = 0;
    return gaps.map((gap) => {
      timeNs += gap;
      return timeNs;
    });
  });
const anyProfile = fc.constantFrom(...PROFILE_NAMES);
const anySeed = fc.nat();

describe('every link', () => {
  it('delivers nothing, copies included, before it was sent', () => {
    fc.assert(
      fc.property(anyProfile, anySeed, arrivals, fc.boolean(), (profile, seed, times, fifo) => {
        const link = model({ fifo, duplicate: { share: 0.2 } }, { profile, seed });
        for (const { sentNs, outNs, copyNs } of send(link, times)) {
          if (outNs === null) continue;
          assert.ok(outNs >= sentNs);
          assert.ok(Number.isNaN(copyNs) || copyNs >= outNs);
        }
      }),
    );
  });

  it('keeps the order and the spacing when FIFO', () => {
    fc.assert(
      fc.property(anyProfile, anySeed, arrivals, (profile, seed, times) => {
        const link = model({ straggler: { share: 0 }, spacingMs: 0.1 }, { profile, seed });
        let lastNs = Number.NEGATIVE_INFINITY;
        for (const { outNs } of send(link, times)) {
          if (outNs === null) continue;
          assert.ok(outNs - lastNs >= 0.1 * MS - 1, `${outNs - lastNs}`);
          lastNs = outNs;
        }
      }),
    );
  });

  it('repeats itself with the same seed and differs with another', () => {
    fc.assert(
      fc.property(anyProfile, anySeed, arrivals, (profile, seed, times) => {
        const once = send(model({}, { profile, seed }), times);
        assert.deepEqual(send(model({}, { profile, seed }), times), once);
      }),
    );
    const outs = (seed: number) => send(model({}, { profile: 'wifi', seed }), ticks(100));
    assert.notDeepEqual(outs(1), outs(2));
  });

  it('draws different random numbers for its two directions', () => {
    const [forward, back] = resolveLink({ profile: 'wifi' });
    const outs = (link: LinkModel) => ticks(100).map((sentNs) => link.admit(sentNs, 100));
    assert.notDeepEqual(
      outs(new LinkModel(forward, 1, 'forward', 0)),
      outs(new LinkModel(back, 1, 'return', 0)),
    );
  });

  it('counts time from its start', () => {
    const early = send(model({}, { profile: 'wifi' }), ticks(500));
    const lateNs = 2 ** 50;
    const late = send(
      model({}, { profile: 'wifi', startNs: lateNs }),
      ticks(500).map((timeNs) => timeNs + lateNs),
    );
    late.forEach(({ outNs }, i) => {
      assert.ok(Math.abs(outNs! - lateNs - early[i]!.outNs!) < 2);
    });
  });

  it('accepts arrivals that step back slightly and delivers none of them early', () => {
    const link = model({ delayMs: 1 });
    assert.equal(link.admit(10 * MS, 1), 11 * MS);
    assert.equal(link.admit(10 * MS - 500, 1), 11 * MS, 'FIFO');
    assert.equal(link.admit(10 * MS + 500, 1), 11 * MS + 500);
  });
});

describe('a link with one impairment', () => {
  const N = 100_000;

  it('forwards everything at once when off', () => {
    for (const { sentNs, outNs } of send(model({}), ticks(100))) assert.equal(outNs, sentNs);
  });

  it('loses the configured share', () => {
    const lost = send(model({ loss: { share: 0.02 } }), ticks(N)).filter(
      ({ outNs }) => outNs === null,
    ).length;
    assert.ok(Math.abs(lost / N - 0.02) < 0.002, `${lost}`);
  });

  it('loses in bursts (Gilbert–Elliott)', () => {
    const link = model({ loss: { burstShare: 0.01, burstDatagrams: 5, burstLoss: 1 } });
    const runs: number[] = [];
    let run = 0;
    for (const { outNs } of send(link, ticks(N))) {
      if (outNs === null) run++;
      else if (run > 0) {
        runs.push(run);
        run = 0;
      }
    }
    const lost = runs.reduce((sum, length) => sum + length, 0);
    // Stationary share of the bad state: p / (p + r).
    assert.ok(Math.abs(lost / N - 0.01 / (0.01 + 0.2)) < 0.005, `${lost}`);
    assert.ok(Math.abs(lost / runs.length - 5) < 0.4, `mean burst ${lost / runs.length}`);
    assert.ok(runs.some((length) => length > 10) && runs.some((length) => length === 1));
  });

  it('has the configured jitter', () => {
    const link = model({ delayMs: 20, jitter: { sdMs: 2, stepMs: 5 }, fifo: false });
    const delays = send(link, ticks(N)).map(({ sentNs, outNs }) => (outNs! - sentNs) / MS);
    const mean = delays.reduce((sum, ms) => sum + ms, 0) / N;
    const sd = Math.sqrt(delays.reduce((sum, ms) => sum + (ms - mean) ** 2, 0) / N);
    assert.ok(Math.abs(mean - 20) < 0.05 && Math.abs(sd - 2) < 0.05, `${mean} ± ${sd}`);
  });

  it('reorders when not FIFO, and lets stragglers be overtaken when it is', () => {
    const overtaken = (link: LinkModel) => {
      const outs = send(link, ticks(10_000, 1 * MS)).map(({ outNs }) => outNs!);
      return outs.filter((outNs, i) => i + 1 < outs.length && outs[i + 1]! < outNs).length;
    };
    assert.ok(overtaken(model({ fifo: false, delayMs: 20, jitter: { whiteSdMs: 3 } })) > 1000);
    const stragglers = overtaken(model({ delayMs: 5, straggler: { share: 0.01, extraMs: [10, 20] } }));
    assert.ok(Math.abs(stragglers - 100) < 40, `${stragglers}`);
  });

  it('duplicates the configured share', () => {
    const copies = send(model({ duplicate: { share: 0.1, afterMs: 3 } }), ticks(10_000)).filter(
      ({ outNs, copyNs }) => copyNs === outNs! + 3 * MS,
    );
    assert.ok(Math.abs(copies.length / 10_000 - 0.1) < 0.01, `${copies.length}`);
  });

  it('delivers at its rate and loses what its queue cannot hold', () => {
    // 1000 bytes at 800 kbit/s: 10 ms each; twice as many are sent.
    const link = model({ rate: { kbitS: 800, queueBytes: 20_000 } });
    const outs = send(link, ticks(2000, 5 * MS), 1000);
    const arrived = outs.filter(({ outNs }) => outNs !== null);
    assert.ok(Math.abs(arrived.length - 1010) < 15, `${arrived.length} of 2000`);
    for (let i = 1; i < arrived.length; i++)
      assert.ok(arrived[i]!.outNs! - arrived[i - 1]!.outNs! >= 10 * MS - 1);
    const worstMs = Math.max(...arrived.map(({ sentNs, outNs }) => (outNs! - sentNs) / MS));
    assert.ok(worstMs <= 200.001 && worstMs > 190, `20 kB queue for 200 ms; measured ${worstMs}`);
    assert.equal(link.loss, 'queue');
  });

  it('holds through a block and flushes back to back', () => {
    const blocks = [{ perS: 1, lengthMs: [95, 95] as [number, number] }];
    const link = model({ delayMs: 1, blocks, spacingMs: 0.5 });
    const outs = send(link, ticks(3000));
    const held = outs.filter(({ sentNs, outNs }) => outNs! - sentNs > 50 * MS);
    assert.ok(held.length >= 4 * 20, `${held.length}`);
    for (const { sentNs, outNs } of outs) assert.ok(outNs! - sentNs <= (95 + 1 + 10 * 0.5) * MS);
  });
});

describe('timed faults', () => {
  it('a hole loses exactly what is sent in it and delays nothing', () => {
    const link = model({ delayMs: 5 }, { events: [{ kind: 'hole', atMs: 100, forMs: 50 }] });
    const lost = send(link, ticks(300, MS)).filter(({ outNs }) => outNs === null);
    assert.deepEqual(
      lost.map(({ sentNs }) => sentNs / MS),
      Array.from({ length: 50 }, (_, i) => 100 + i),
    );
    assert.equal(link.admit(400 * MS, 1), 405 * MS);
  });

  it('a stall holds what is sent in it until its end', () => {
    const link = model({ delayMs: 5 }, { events: [{ kind: 'stall', atMs: 100, forMs: 50 }] });
    for (const { sentNs, outNs } of send(link, ticks(300, MS)))
      assert.equal(outNs, (sentNs >= 100 * MS && sentNs < 150 * MS ? 150 * MS : sentNs) + 5 * MS);
  });

  it('hit only their direction', () => {
    const [forward, back] = resolveLink({
      events: [{ kind: 'hole', atMs: 0, forMs: 1000, direction: 'return' }],
    });
    assert.equal(new LinkModel(forward, 1, 'forward', 0).admit(5, 1), 5);
    const model = new LinkModel(back, 1, 'return', 0);
    assert.equal(model.admit(5, 1), null);
    assert.equal(model.loss, 'hole');
  });
});

describe('a recorded link', () => {
  const text = readFileSync('test/data/delay-traces/wifi-cluster.csv', 'utf8');
  const table = parseTraceTable(text, 'wifi-cluster.csv');

  it('replays the recorded delays exactly, round after round', () => {
    const [settings] = resolveLink({ trace: { name: 'wifi-cluster', table } });
    const link = new LinkModel(settings, 1, 'forward', 7e9);
    for (let round = 0; round < 3; round++)
      table.sendNs.forEach((sendNs, i) => {
        const sentNs = 7e9 + round * table.periodNs + sendNs;
        const outNs = link.admit(sentNs, 100)!;
        assert.ok(Math.abs(outNs - sentNs - table.delayNs[i]!) < 1, `round ${round}, row ${i}`);
      });
  });

  it('loses what the recording lost', () => {
    const delayNs = table.delayNs.map((value, i) => (i % 7 === 3 ? Number.NaN : value));
    const [settings] = resolveLink({ trace: { name: 'x', table: { ...table, delayNs } } });
    const link = new LinkModel(settings, 1, 'forward', 0);
    table.sendNs.forEach((sendNs, i) => {
      assert.equal(link.admit(sendNs, 100) === null, i % 7 === 3);
    });
    assert.equal(link.loss, 'trace');
  });

  it('delays answers by the trace half a period later, or by a profile', () => {
    const trace = { name: 'x', table };
    const [, back] = resolveLink({ trace });
    assert.equal(back.tracePhaseNs, table.periodNs / 2);
    const [, profiled] = resolveLink({ trace, returnProfile: 'wan' });
    assert.equal(profiled.trace, null);
    assert.equal(profiled.impairment.delayMs, 36);
  });

  it('keeps the order between its rows', () => {
    const [settings] = resolveLink({ trace: { name: 'x', table } });
    const link = new LinkModel(settings, 1, 'forward', 0);
    const outs = ticks(8000, 0.5 * MS).map((sentNs) => link.admit(sentNs, 100)!);
    for (let i = 1; i < outs.length; i++) assert.ok(outs[i]! >= outs[i - 1]!);
  });
});
