import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { emptyHandSample } from '../../messages/hand-sample.ts';
import plugin from './joints.ts';

const MS = 1e6;
const bytesOf = (rad: number, clutch = true) =>
  new TextEncoder().encode(JSON.stringify({ jointsRad: [rad, -rad], gripper: 0.5, clutch }));

function bench() {
  const device = plugin.open({ port: 0, staleAfterMs: 250 }, 0);
  const sample = emptyHandSample();
  return {
    send(rad: number, atNs: number, clutch = true) {
      const bytes = bytesOf(rad, clutch);
      return device.ingest(bytes, bytes.length, atNs, 9, 0);
    },
    at(nowNs: number): number {
      device.sample(nowNs, sample);
      assert.equal(sample.joints, 2);
      assert.ok(Math.abs(sample.jointsRad[0]! + sample.jointsRad[1]!) < 1e-12);
      return sample.jointsRad[0]!;
    },
    sample,
    device,
  };
}

describe('joint targets from another program', () => {
  it('are interpolated linearly over the sender’s period', () => {
    const { send, at } = bench();
    send(0, 1000 * MS);
    send(0.1, 1100 * MS);
    assert.equal(at(1100 * MS), 0);
    assert.ok(Math.abs(at(1150 * MS) - 0.05) < 1e-12);
    assert.equal(at(1200 * MS), 0.1);
    assert.equal(at(1300 * MS), 0.1);
  });

  it('catch up after a sender’s pause without a jump', () => {
    const { send, at } = bench();
    const speedRadS = 0.5;
    let [before, fastest] = [0, 0];
    for (let ms = 0; ms < 1000; ms += 10) {
      // 150 ms of silence.
      if (ms < 300 || ms >= 450) send((speedRadS * ms) / 1000, (1000 + ms) * MS);
      const now = at((1000 + ms + 5) * MS);
      if (ms > 0) fastest = Math.max(fastest, (now - before) / 0.01);
      before = now;
    }
    assert.ok(fastest < 3 * speedRadS, `${fastest} rad/s`);
    assert.ok(Math.abs(before - 0.5) < 0.02, 'caught up');
  });

  it('are not interpolated from targets before the clutch closed or before a silence', () => {
    const { send, at, device, sample } = bench();
    send(0, 1000 * MS, false);
    send(0.5, 1010 * MS);
    assert.equal(at(1010 * MS), 0.5);
    assert.equal(device.sample(1300 * MS, sample), 'stale');
    send(0.9, 1310 * MS);
    assert.equal(at(1310 * MS), 0.9);
  });

  it('are rejected when out of any joint’s range', () => {
    const { send } = bench();
    assert.equal(send(20, 1000 * MS), 'bad-range');
    const bytes = new TextEncoder().encode('{"jointsRad":[],"gripper":0,"clutch":true}');
    assert.equal(bench().device.ingest(bytes, bytes.length, 0, 9, 0), 'joint-count');
  });
});
