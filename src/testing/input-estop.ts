import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { InputDevice } from '../input/device.ts';
import { checked, feed, MS, START_NS } from './input-bench.ts';

type Send = (nowNs: number) => Uint8Array;
const PERIOD_NS = 10 * MS;

/** An e-stop counts at once, and ends with its message: one that stays set would stop the robot again after each reset. */
export function describeEstop(open: () => InputDevice, message: Send, estop: Send | undefined): void {
  it('requests an e-stop with its message, and with no later one', {
    skip: !estop && 'no message requests one',
  }, () => {
    const device = open();
    let nowNs = START_NS;
    const send = (bytes: Send) => {
      nowNs += PERIOD_NS;
      feed(device, bytes(nowNs), nowNs);
      return [device.estop ?? false, checked(device, nowNs + MS).sample.estop];
    };
    for (let round = 0; round < 2; round++) {
      assert.deepEqual(send(message), [false, false]);
      assert.equal(send(estop!).includes(true), true, 'requested within the call, or with the sample');
      assert.deepEqual(send(message), [false, false], 'over with the next message');
    }
  });
}
