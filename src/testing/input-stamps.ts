import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { InputDevice } from '../input/device.ts';
import { checked, feed, MS, START_NS } from './input-bench.ts';

const PERIOD_MS = 20;
const TICK_MS = 2;

/**
 * The age of a sample is how long ago its hand was seen: the robot's path and every figure of latency rely on it. Joint
 * targets are set points between two messages, computed for the time of the call.
 */
export function describeStamps(open: () => InputDevice, message: (nowNs: number) => Uint8Array): void {
  const skip =
    hasJointTargets(open(), message(START_NS)) && 'sends joint targets, which are of the time of the call';
  it('stamps a hand with the time it was seen, not with the time of the call', { skip }, () => {
    const device = open();
    let [arrivedNs, beforeNs] = [START_NS, Number.NEGATIVE_INFINITY];
    feed(device, message(START_NS), START_NS);
    for (let ms = TICK_MS; ms <= 4 * PERIOD_MS; ms += TICK_MS) {
      const nowNs = START_NS + ms * MS;
      if (ms === PERIOD_MS) {
        feed(device, message(nowNs), nowNs);
        arrivedNs = nowNs;
      }
      const { status, sample } = checked(device, nowNs);
      if (status !== 'ok') break;
      const newerMs = (sample.takenNs - arrivedNs) / MS;
      assert.ok(
        newerMs <= 0,
        `${newerMs} ms newer than its message: without a further one, a hand grows old`,
      );
      assert.ok(sample.takenNs >= beforeNs, 'the time never goes back');
      beforeNs = sample.takenNs;
    }
  });
}

function hasJointTargets(device: InputDevice, message: Uint8Array): boolean {
  feed(device, message, START_NS);
  return checked(device, START_NS).sample.joints > 0;
}
