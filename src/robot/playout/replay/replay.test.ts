import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { TeleopError } from '../../../core/errors.ts';
import type { JointCommand } from '../../../messages/command.ts';
import type { PlayoutPolicy } from '../playout-policy.ts';
import { createPolicy } from '../policy.ts';
import { CommandQueue } from '../queue.ts';
import { appliedCsv } from './applied-csv.ts';
import { type Applied, replay } from './replay.ts';
import { type DelayTrace, parseDelayTrace } from './trace.ts';

/** A 100 Hz trace with these delays in milliseconds; null: lost. */
function traceOf(delaysMs: readonly (number | null)[]): DelayTrace {
  const rows = delaysMs.map((ms, i) => `${i},${i * 10_000},${ms === null ? '' : Math.round(ms * 1000)}`);
  return parseDelayTrace(['seq,send_us,delay_us', ...rows].join('\n'), 'made');
}

/** Delays chosen by the test, in milliseconds. */
const scripted = (delaysMs: readonly number[]): PlayoutPolicy => ({
  name: 'scripted',
  schedule: (sampledRobotNs) => sampledRobotNs + delaysMs[Math.round(sampledRobotNs / 1e7)]! * 1e6,
});

const appliedMs = ({ applyUs }: Applied) =>
  Array.from(applyUs, (us) => (Number.isNaN(us) ? null : us / 1000));

describe('replay', () => {
  it('applies early commands when due and late ones on arrival', () => {
    const applied = replay(traceOf([5, 5, 40, 5]), createPolicy('fixed:20'));
    // The third arrives after the fourth was applied.
    assert.deepEqual(appliedMs(applied), [20, 30, null, 50]);
    assert.equal(applied.dropped, 1);
    assert.equal(applied.late, 1);
  });

  it('applies a late command if nothing newer was applied', () => {
    assert.deepEqual(appliedMs(replay(traceOf([5, 25, 16]), createPolicy('fixed:10'))), [10, 35, 36]);
  });

  it('skips a command when a newer one is due as well', () => {
    // Both have arrived at 50; the first is due then, the second was due at 45.
    const applied = replay(traceOf([2, 2]), scripted([50, 35]));
    assert.deepEqual(appliedMs(applied), [null, 50]);
    assert.equal(applied.dropped, 1);
  });

  it('declares no delay if the policy has none', () => {
    assert.ok(replay(traceOf([5, 5]), createPolicy('none')).delayUs.every(Number.isNaN));
    assert.deepEqual(Array.from(replay(traceOf([5, null, 5]), createPolicy('fixed:20')).delayUs), [
      20_000,
      Number.NaN,
      20_000,
    ]);
  });

  it('recovers lost commands from the next packet that repeats them', () => {
    const trace = traceOf([5, null, null, 5, 5]);
    assert.deepEqual(appliedMs(replay(trace, createPolicy('fixed:30'), 1)), [30, null, 50, 60, 70]);
    assert.deepEqual(appliedMs(replay(trace, createPolicy('fixed:30'), 2)), [30, 40, 50, 60, 70]);
    assert.deepEqual(appliedMs(replay(trace, createPolicy('fixed:10'), 8)), [10, null, 35, 40, 50]);
  });

  it('calls the policy once per command, in order within a packet, at the packet’s time', () => {
    const asked: [number, number][] = [];
    const policy: PlayoutPolicy = {
      name: 'spy',
      schedule(sampledRobotNs, receivedNs) {
        asked.push([sampledRobotNs / 1e6, receivedNs / 1e6]);
        return receivedNs;
      },
    };
    replay(traceOf([5, null, 5, 28, 5]), policy, 2);
    // The straggler at 58 was already delivered by its successor.
    assert.deepEqual(asked, [
      [0, 5],
      [10, 25],
      [20, 25],
      [30, 45],
      [40, 45],
    ]);
  });

  it('writes CSV that the scorer can read', () => {
    const text = appliedCsv(replay(traceOf([5, null, 15.0004]), createPolicy('fixed:10')));
    assert.equal(text, 'seq,apply_us,delay_us\n0,10000,10000\n1,,\n2,35000,10000\n');
  });
});

const delay = fc.option(fc.oneof({ weight: 4, arbitrary: fc.nat(15) }, fc.nat(300)), { freq: 12 });
const delays = fc.array(delay, { minLength: 2, maxLength: 120 });
const policyText = fc.constantFrom('none', 'fixed:25', 'rfc3550', 'neteq', 'adaptive', 'adaptive:smooth');

describe('a replay of any trace', () => {
  it('never applies a command before its arrival or out of order', () => {
    fc.assert(
      fc.property(delays, policyText, fc.nat(4), (delaysMs, text, redundancy) => {
        const trace = traceOf(delaysMs);
        const { applyUs } = replay(trace, createPolicy(text), redundancy);
        let lastUs = 0;
        applyUs.forEach((us, seq) => {
          if (Number.isNaN(us)) return;
          assert.ok(us >= lastUs);
          lastUs = us;
          let arrivedUs = Number.POSITIVE_INFINITY;
          for (let by = seq; by <= seq + redundancy && by < trace.count; by++)
            if (!Number.isNaN(trace.delayUs[by]))
              arrivedUs = Math.min(arrivedUs, trace.sendUs[by]! + trace.delayUs[by]!);
          assert.ok(us >= arrivedUs);
        });
      }),
      { numRuns: 300 },
    );
  });

  it('matches the live queue', () => {
    const anyDue = fc.array(fc.integer({ min: -50, max: 250 }), { minLength: 120, maxLength: 120 });
    fc.assert(
      fc.property(delays, anyDue, fc.nat(3), (delaysMs, dueMs, redundancy) => {
        const trace = traceOf(delaysMs);
        assert.deepEqual(
          appliedMs(replay(trace, scripted(dueMs), redundancy)),
          liveMs(trace, scripted(dueMs), redundancy),
        );
      }),
      { numRuns: 300 },
    );
  });
});

const emptyCommand = (): JointCommand => ({
  session: 0,
  seq: 0,
  engagement: 0,
  epoch: 0,
  tracking: true,
  sampledOperatorNs: 0,
  sampledRobotNs: 0,
  syncEpoch: 0,
  ageNs: 0,
  positionsRad: new Float64Array(0),
  gripper: 0,
});

/** The same with the robot's queue, driven as its loop does and woken exactly when something is due. */
function liveMs(trace: DelayTrace, policy: PlayoutPolicy, redundancy: number): (number | null)[] {
  const queue = new CommandQueue(1024, emptyCommand);
  const applied = new Array<number | null>(trace.count).fill(null);
  const release = (nowNs: number) => {
    while (queue.nextDueNs <= nowNs) {
      const superseded = queue.isSuperseded(nowNs);
      // The live queue counts from 1.
      const seq = queue.shift()!.command.seq - 1;
      if (!superseded) applied[seq] = nowNs / 1e6;
    }
  };
  const packets = Array.from(trace.delayUs.keys())
    .filter((seq) => !Number.isNaN(trace.delayUs[seq]))
    .map((seq) => ({ seq, atNs: (trace.sendUs[seq]! + trace.delayUs[seq]!) * 1000 }))
    .sort((a, b) => a.atNs - b.atNs || a.seq - b.seq);
  const seen = new Set<number>();
  for (const { seq: newest, atNs } of packets) {
    while (queue.nextDueNs < atNs) release(queue.nextDueNs);
    release(atNs);
    for (let seq = Math.max(0, newest - redundancy); seq <= newest; seq++) {
      if (seen.has(seq)) continue;
      seen.add(seq);
      const entry = queue.slot()!;
      entry.command.seq = seq + 1;
      entry.dueNs = policy.schedule(trace.sendUs[seq]! * 1000, atNs);
      queue.insert();
    }
    release(atNs);
  }
  while (queue.nextDueNs < Number.POSITIVE_INFINITY) release(queue.nextDueNs);
  return applied;
}

describe('reading a delay trace', () => {
  it('interpolates the clock between known values', () => {
    const trace = parseDelayTrace(
      '# {}\nseq,send_us,delay_us,clk_us\n0,0,5\n1,10,5,100\n2,20,,\r\n3,30,5,300\n4,40,5\n',
      'x',
    );
    assert.deepEqual(Array.from(trace.clockMs), [Number.NaN, 0.1, 0.2, 0.3, Number.NaN]);
    assert.deepEqual(Array.from(trace.delayUs), [5, 5, Number.NaN, 5, 5]);
  });

  it('rejects anything else and names the row', () => {
    const rejected: [string, RegExp][] = [
      ['', /no header/],
      ['{"a": 1}', /no header/],
      ['seq,send_us,delay_us\n0,0,1\n', /too few commands: 1/],
      ['seq,send_us,delay_us\n0,0,1\n1,x,1\n', /row 1/],
      ['seq,send_us,delay_us\n0,0,1\n1,10,x\n', /row 1/],
      ['seq,send_us,delay_us\n0,0,1\n7,10,1\n', /row 1/],
      ['seq,send_us,delay_us\n0,0,1\n1,10\n', /row 1/],
    ];
    for (const [text, why] of rejected)
      assert.throws(
        () => parseDelayTrace(text, 'bad.csv'),
        (error) =>
          error instanceof TeleopError && error.code === 'file-unreadable' && why.test(error.message),
        text,
      );
  });
});
