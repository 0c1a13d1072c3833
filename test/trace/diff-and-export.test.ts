import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { differences } from '../../src/trace/diff.ts';
import { diffText } from '../../src/trace/diff-text.ts';
import { PerfettoWriter } from '../../src/trace/perfetto.ts';
import { type RunSample, RunSampler } from '../../src/trace/run-sample.ts';
import { MS, runOf, seeded } from './run.ts';

type Wire = (tick: number, random: () => number) => number;

function sampleOf(wireMs: Wire, seed: number, seconds = 60): RunSample {
  const sampler = new RunSampler();
  for (const record of runOf({ seconds, wireMs, seed })) sampler.add(record);
  return sampler.finish();
}

/** Seconds differ from each other more than commands do, which a test on single commands overlooks. */
const weather: Wire = (tick, random) =>
  3 + 2 * Math.abs(Math.sin(Math.floor(tick / 100) * 12.9898)) + 0.5 * random();
const slower: Wire = (tick, random) => weather(tick, random) + 1.5;

describe('differences', () => {
  const find = (a: RunSample, b: RunSample, what: string, quantile: number) =>
    differences(a, b, seeded(3))!.find((found) => found.what === what && found.quantile === quantile)!;

  it('finds a real difference, and none between two runs of the same kind', () => {
    const same = find(sampleOf(weather, 1), sampleOf(weather, 2), 'oneWay', 0.5);
    assert.equal(same.verdict, 'open');
    const real = find(sampleOf(weather, 1), sampleOf(slower, 2), 'oneWay', 0.5);
    assert.equal(real.verdict, 'real');
    assert.ok(real.low > 0 && real.low < 1.5 * MS && real.high > 1.5 * MS, `${real.low} ${real.high}`);
  });

  it('attributes a difference within the clock uncertainty to the clock', () => {
    const [a, b] = [sampleOf(() => 3, 1), sampleOf(() => 3.03, 2)];
    assert.equal(find(a, b, 'wire', 0.5).verdict, 'clock');
    assert.equal(find({ ...a, uncertaintyNs: 0 }, { ...b, uncertaintyNs: 0 }, 'wire', 0.5).verdict, 'real');
  });

  it('counts bad seconds in its table as in its header', () => {
    // Bursts that straddle full seconds, which only another phase of the windows sees whole.
    const burst: Wire = (tick, random) => (tick % 500 > 495 || tick % 500 < 4 ? 40 : 3 + random());
    const [a, b] = [sampleOf(burst, 1, 73), sampleOf(weather, 2, 73)];
    const text = diffText(['a', 'b'], [a, b], differences(a, b, seeded(1)));
    const [, bad, of] = /^A .* (\d+) bad of (\d+) seconds/m.exec(text)!;
    const [, share] = /^Bad seconds +([\d.]+) %/m.exec(text)!;
    assert.ok(Number(bad) > 10);
    assert.equal(share, ((100 * Number(bad)) / Number(of)).toFixed(2));
  });

  it('shows bad seconds, holds, stops and refused commands of runs too short for an interval', () => {
    const feel = { ...sampleOf(weather, 1, 25).feel, windows: 15, badWindows: 3, holds: 2, refused: 7 };
    const [a, b] = [{ ...sampleOf(weather, 1, 25), feel }, sampleOf(weather, 2, 25)];
    const text = diffText(['a', 'b'], [a, b], differences(a, b, seeded(1)));
    assert.match(text, /^A .* 3 bad of 15 seconds, 2 holds, 7 commands refused/m);
    assert.match(text, /^Bad seconds +20.00 % +0.00 % +-20.00 % +– +only counted/m);
    assert.match(text, /^Holds +2 +0 +-2 +– +only counted/m);
    assert.match(text, /^Latched stops +0 +0 +0/m);
    assert.match(text, /^Commands refused +7 +0 +-7/m);
  });

  it('reports a run that is too short, and thins a long one evenly', () => {
    const short = sampleOf(weather, 1, 6);
    assert.equal(differences(short, sampleOf(weather, 2), seeded(1)), null);
    assert.match(diffText(['a', 'b'], [short, short], null), /too short/);
    const long = sampleOf(weather, 1, 1300);
    assert.ok(long.stride > 1 && long.seconds.length <= 1200);
    assert.equal(long.commands, 130_000);
    const run = sampleOf(weather, 1, 20);
    const text = diffText(['a', 'b'], [run, run], differences(run, run, seeded(1)));
    assert.match(text, /End to end p50 ms .* no evidence/);
    assert.match(text, /^0 of \d+ figures differ/m);
  });
});

interface TraceEvent {
  ph: string;
  name: string;
  id?: string;
  pid: number;
  ts: number;
  dur?: number;
}

describe('PerfettoWriter', () => {
  const records = runOf({ seconds: 2, wireMs: (tick) => (tick === 50 ? 44 : 3) });
  Object.assign(records[60]!, { outcome: 3, appliedNs: Number.NaN });
  Object.assign(records[70]!, {
    deviceNs: records[70]!.sampledNs - 18 * MS,
    movedNs: records[70]!.sampledNs + 30 * MS,
  });
  let text = '';
  const writer = new PerfettoWriter((piece) => {
    text += piece;
  });
  for (const record of records) writer.add(record);
  text += writer.end();
  const { traceEvents: events } = JSON.parse(text) as { traceEvents: TraceEvent[] };

  it('writes JSON whose async spans are paired and nested', () => {
    assert.equal(events.length, writer.events);
    const open = new Map<string, TraceEvent[]>();
    for (const event of events.filter(({ ph }) => ph === 'b' || ph === 'e')) {
      const stack = open.get(event.id!) ?? [];
      open.set(event.id!, stack);
      if (event.ph === 'b') {
        assert.ok(stack.length === 0 || event.ts >= stack.at(-1)!.ts - 1e-3);
        stack.push(event);
      } else assert.equal(stack.pop()?.name, event.name);
    }
    assert.ok([...open.values()].every((stack) => stack.length === 0));
    assert.equal(open.size, 198, 'one was overtaken, one was lost');
  });

  it('writes microseconds from a base, flows inside their slices, and marks unapplied commands', () => {
    assert.ok(events.every(({ ph, ts }) => ph === 'M' || (ts >= 0 && ts < 10e6)));
    const slices = events.filter(({ ph }) => ph === 'X');
    for (const flow of events.filter(({ ph }) => ph === 's' || ph === 'f'))
      assert.ok(slices.some(({ pid, ts, dur }) => pid === flow.pid && flow.ts >= ts && flow.ts <= ts + dur!));
    assert.deepEqual(
      events.filter(({ ph }) => ph === 'i').map(({ name }) => name),
      ['dropped-stale', 'lost'],
    );
    const whole = events.filter(({ name, id }) => name === 'command' && id === '00000001-70');
    const span = whole.filter(({ ph }) => ph === 'b' || ph === 'e').map(({ ts }) => ts);
    assert.ok(Math.abs(span[1]! - span[0]! - 48_000) < 1, 'from the device to the motion');
  });
});
