import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  emptyTraceRecord,
  HOPS,
  packTraceRecord,
  TRACE_FIELDS,
  type TraceRecord,
} from '../messages/trace-record.ts';
import { MotionMatcher } from './motion.ts';
import { MotionQueue } from './motion-queue.ts';
import { handToMotionNs, hopsNs } from './segments.ts';

const MS = 1e6;
const OFFSET_NS = 5e12;

/** Command `seq` is applied 5 ms after its tick at seq × 10 ms. */
function applied(seq: number, fields: Partial<TraceRecord> = {}): TraceRecord {
  const sampledNs = seq * 10 * MS;
  const stamps = { sampledNs, appliedNs: sampledNs + 5 * MS + OFFSET_NS, offsetNs: OFFSET_NS };
  return { ...emptyTraceRecord(), session: 1, seq, outcome: 0, reason: -1, ...stamps, ...fields };
}

/** Joint 1 is commanded at 1 rad/s and measured `lagMs` behind; states every 10 ms, 2 ms after the ticks. */
function moving(lagMs: number, matcher = new MotionMatcher(2), untilSeq = 100): MotionMatcher {
  for (let seq = 1; seq <= untilSeq; seq++) {
    matcher.command(seq, [0.4, seq * 0.01], true);
    const ns = seq * 10 * MS + 2 * MS;
    matcher.state(ns + OFFSET_NS, [0.4, (ns - lagMs * MS) / 1e9]);
  }
  return matcher;
}

function movedMs(matcher: MotionMatcher, record: TraceRecord): number | 'wait' {
  return matcher.resolve(record) ? (record.movedNs - record.sampledNs) / MS : 'wait';
}

describe('MotionMatcher', () => {
  it('finds the first state that has covered half of the step', () => {
    // The target of 50 is at 0.50 rad; half of its step, 0.495, is measured 30 ms after the tick at 495 ms.
    assert.equal(movedMs(moving(30), applied(50)), 32);
    assert.equal(movedMs(moving(37.1), applied(50)), 42);
    assert.equal(movedMs(moving(36.9), applied(50)), 32);
  });

  it('returns NaN if the joint was already there or never arrives', () => {
    assert.equal(movedMs(moving(0), applied(50)), Number.NaN);
    const stuck = new MotionMatcher(1);
    for (let seq = 1; seq <= 100; seq++) {
      stuck.command(seq, [seq * 0.01], true);
      stuck.state(seq * 10 * MS + OFFSET_NS, [0]);
    }
    assert.equal(movedMs(stuck, applied(60)), Number.NaN);
    assert.equal(movedMs(stuck, applied(80)), 'wait');
  });

  it('returns NaN for steps within the encoder noise at rest', () => {
    const rest = (noiseRad: number) => {
      const matcher = new MotionMatcher(2);
      for (let i = 0; i < 300; i++) matcher.state(i * MS, [0, i % 2 === 0 ? noiseRad : -noiseRad]);
      return moving(30, matcher);
    };
    assert.equal(movedMs(rest(0.0001), applied(50)), 32);
    assert.equal(movedMs(rest(0.002), applied(50)), Number.NaN);
    const slow = new MotionMatcher(1);
    for (let seq = 1; seq <= 100; seq++) {
      slow.command(seq, [seq * 0.0004], true);
      slow.state(seq * 10 * MS + OFFSET_NS, [(seq - 3) * 0.0004]);
    }
    assert.equal(movedMs(slow, applied(50)), Number.NaN);
  });

  it('resolves only applied commands that follow a hand and have a clock offset', () => {
    const matcher = moving(30);
    assert.equal(movedMs(matcher, applied(50, { outcome: 3 })), Number.NaN);
    assert.equal(movedMs(matcher, applied(50, { offsetNs: Number.NaN })), Number.NaN);
    assert.equal(movedMs(matcher, applied(1)), Number.NaN, 'nothing before it to step from');
    const idle = moving(30, new MotionMatcher(2), 49);
    idle.command(50, [0.4, 0.5], false);
    idle.command(51, [0.4, 0.51], true);
    assert.equal(movedMs(idle, applied(51)), Number.NaN);
  });

  it('forgets all states when the robot restarts its clock', () => {
    const matcher = moving(30);
    matcher.state(1 * MS, [0.4, 0]);
    assert.equal(matcher.resolve(applied(50)), false);
  });

  it('delays lines in closing order until the motion is seen or the wait times out', () => {
    const matcher = moving(30, new MotionMatcher(2), 51);
    const queue = new MotionQueue(matcher);
    const packed = new Float64Array(TRACE_FIELDS.length);
    const out: [number, number][] = [];
    const drain = (nowNs: number) => queue.drain(nowNs, ({ seq, movedNs }) => out.push([seq, movedNs / MS]));
    for (const record of [applied(40), applied(51), applied(52, { outcome: 3 })]) {
      packTraceRecord(record, packed);
      queue.push(packed, 0);
    }
    packed.fill(-1);
    drain(0);
    assert.deepEqual(out, [[40, 432]]);
    drain(700 * MS);
    assert.deepEqual(out.slice(1), [
      [51, Number.NaN],
      [52, Number.NaN],
    ]);
  });
});

describe('the hops', () => {
  const hops = (record: TraceRecord) => {
    const out = new Float64Array(HOPS.length);
    hopsNs(record, out);
    return Object.fromEntries(HOPS.map((name, i) => [name, out[i]! / MS]));
  };
  const sampledNs = 1000 * MS;
  const base = applied(100, { appliedNs: sampledNs + 30 * MS + OFFSET_NS, movedNs: sampledNs + 52 * MS });

  it('lead from the device to the motion on one clock', () => {
    const record = { ...base, deviceNs: 980 * MS, sentNs: 981 * MS, arrivedNs: 994 * MS };
    const { capture, uplink, wait, response } = hops(record);
    assert.deepEqual([capture, uplink, wait, response], [1, 13, 6, 22]);
    assert.equal(handToMotionNs(record), 72 * MS);
  });

  it('assign the time of a missing stamp to the next hop', () => {
    const silent = hops({ ...base, deviceNs: 980 * MS, arrivedNs: 994 * MS });
    assert.deepEqual([silent['capture'], silent['uplink'], silent['wait']], [0, 14, 6]);
    const local = hops({ ...base, deviceNs: 1000 * MS });
    assert.deepEqual([local['capture'], local['uplink'], local['wait']], [0, 0, 0]);
    const foreign = hops({ ...base, arrivedNs: 994 * MS });
    assert.deepEqual([foreign['capture'], foreign['uplink'], foreign['wait']], [Number.NaN, Number.NaN, 6]);
    assert.equal(handToMotionNs({ ...base, arrivedNs: 994 * MS }), 58 * MS);
  });
});
