import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { Driver, JointReading } from '../../src/robot/driver.ts';
import { MS, SimulatedRig } from '../loops/simulated-rig.ts';

const DELAY_MS = 15;
/** A state is sent every 10 ms and reads the joints at most a cycle of 5 ms earlier. */
const ROBOT_MS = 15;
/** The operator looks for a changed contact this often: `CONTACT_MS` in telemetry-publisher.ts. */
const PUBLISH_MS = 8;

it('a contact reaches the operator within the link’s delay and 15 ms, whenever it happens', async () => {
  let contactNm = 0;
  const rig = await SimulatedRig.create({
    delayMs: DELAY_MS,
    wrapDriver: (arm: Driver) => {
      const read = arm.read.bind(arm);
      return Object.assign(arm, {
        read(nowNs: number, out: JointReading) {
          out.externalNm.fill(contactNm);
          return read(nowNs, out);
        },
      });
    },
  });
  rig.runFor(1000);
  let worstMs = 0;
  for (let i = 0; i < 50; i++) {
    rig.runFor(3 + (i % 13));
    contactNm = 1 + i;
    const startNs = rig.nowNs;
    while (rig.operator.loop.robot.state.externalNm[2] !== contactNm) rig.runFor(0.5);
    worstMs = Math.max(worstMs, (rig.nowNs - startNs) / MS);
  }
  assert.ok(worstMs <= DELAY_MS + ROBOT_MS + 1, `${worstMs} ms`);
  // What is left of the 20 ms that a pulse may take beyond the link.
  assert.ok(worstMs - DELAY_MS + PUBLISH_MS / 2 < 20, `${worstMs} ms`);
});
