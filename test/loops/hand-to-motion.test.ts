import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { HandSample, SampleStatus } from '../../src/messages/hand-sample.ts';
import { HOPS, OUTCOMES, type TraceRecord } from '../../src/messages/trace-record.ts';
import { OPERATOR_SOCKETS } from '../../src/operator/loop.ts';
import { MotionMatcher } from '../../src/trace/motion.ts';
import { MotionCorrelator } from '../../src/trace/motion-latency.ts';
import { handToMotionNs, hopsNs } from '../../src/trace/segments.ts';
import { writeFrame } from '../../src/wire/codecs/frame.ts';
import { MS, SimulatedRig, TestHand } from './simulated-rig.ts';

/** A headset that stamps when it took a sample and when its page sent it. */
class StampedHand extends TestHand {
  override sample(nowNs: number, out: HandSample): SampleStatus {
    const status = super.sample(nowNs, out);
    out.takenNs = nowNs - 18 * MS;
    out.sentNs = nowNs - 16 * MS;
    return status;
  }
}

const OFFSETS = { operatorOffsetNs: 3e12, robotOffsetNs: 7e13 };
const applied = (rig: SimulatedRig): TraceRecord[] =>
  rig.operator.closed.filter(({ outcome }) => OUTCOMES[outcome] === 'applied');

describe('one trace per command', () => {
  it('spans from the scripted hand to the measured joints, on clocks hours apart', async () => {
    const rig = await SimulatedRig.create({
      ...OFFSETS,
      delayMs: 4,
      // The robot makes up for a filter's delay, and is then there before the command.
      overrides: ['operator.mapper.filter=none'],
    });
    const joints = rig.model.joints.length;
    const matcher = new MotionMatcher(joints);
    const correlator = new MotionCorrelator(joints);
    rig.onJoints = (kind, ns, seq, rad) => {
      if (kind === 'state') {
        matcher.state(ns, rad);
        correlator.state(ns - rig.operator.loop.sync.sync.offsetAt(0), rad);
      } else {
        matcher.command(seq, rad, kind === 'command');
        if (kind === 'command') correlator.command(ns, rad);
      }
    };
    rig.runFor(7000);
    const seen = applied(rig).filter(({ seq }) => seq > 300 && seq < 600);
    const moved = seen.filter((record) => matcher.resolve(record) && !Number.isNaN(record.movedNs));
    assert.ok(moved.length > 0.5 * seen.length, `${moved.length} of ${seen.length}`);
    const lags = moved.map((record) => (record.movedNs - record.sampledNs) / MS).sort((a, b) => a - b);
    const usualMs = lags[lags.length >> 1]!;
    const correlated = correlator.estimate();
    assert.ok(correlated !== null && correlated.confidence > 0.95);
    assert.ok(lags[0]! >= 60, 'no motion before the command was applied');
    assert.ok(
      Math.abs(correlated.latencyNs / MS - usualMs) < 15,
      `${correlated.latencyNs / MS} against ${usualMs}`,
    );
    const hops = new Float64Array(HOPS.length);
    for (const record of moved) {
      hopsNs(record, hops);
      const sumNs = hops.reduce((sum, ns) => sum + ns, 0);
      assert.ok(Math.abs(sumNs - handToMotionNs(record)) <= 1, 'the segments add up');
    }
  });

  it('begins at the device’s stamp if there is one, and only while a hand is followed', async () => {
    const hand = new StampedHand();
    const rig = await SimulatedRig.create({ ...OFFSETS, hand });
    rig.runUntil(() => rig.state === 'armed', 1000);
    rig.runFor(200);
    assert.ok(rig.operator.closed.every(({ deviceNs }) => Number.isNaN(deviceNs)));
    hand.hand.clutch = true;
    rig.runFor(500);
    const record = applied(rig).at(-1)!;
    const hops = new Float64Array(HOPS.length);
    hopsNs(record, hops);
    assert.deepEqual(
      [...hops.subarray(0, 3)].map((ns) => ns / MS),
      [2, 0, 16],
    );
  });

  it('stamps the arrival of the page’s hand, and does not report it as the device’s time', async () => {
    const rig = await SimulatedRig.create({ ...OFFSETS, overrides: ['operator.input=page'] });
    const bytes = new Uint8Array(400);
    const send = (clutch: boolean) => {
      const pose = { positionM: [0, 0, 0], quatXyzw: [0, 0, 0, 1], gripper: 0, clutch };
      const length = writeFrame('hand', { kind: 'hand', ...pose }, bytes);
      const nowNs = rig.nowNs + OFFSETS.operatorOffsetNs;
      rig.operator.loop.onDatagram(OPERATOR_SOCKETS.desk, bytes, length, 1, nowNs, Number.NaN);
    };
    for (let i = 0; i < 60; i++) {
      send(i > 30);
      rig.runFor(20);
    }
    const last = applied(rig).at(-1)!;
    const waitMs = (last.sampledNs - last.arrivedNs) / MS;
    assert.ok(waitMs >= 0 && waitMs <= 20, `${waitMs}`);
    assert.ok(Number.isNaN(last.deviceNs) && Number.isNaN(last.sentNs));
  });
});
