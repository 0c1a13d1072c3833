import assert from 'node:assert/strict';
import { it } from 'node:test';
import { percentiles } from '../../src/core/statistics/percentiles.ts';
import type { Driver, JointReading } from '../../src/robot/driver.ts';
import { MS, SimulatedRig } from '../loops/simulated-rig.ts';

const DELAY_MS = 15;
/** A state is sent every 10 ms and reads the joints at most a cycle of 5 ms earlier. */
const ROBOT_MS = 15;
/** The operator looks for a changed contact this often: `CONTACT_MS` in telemetry-publisher.ts. */
const PUBLISH_MS = 4;
/** What a pulse may take beyond the link, of which console and page take this much. */
const PULSE_MS = 20;
const PAGE_MS = 3;
const CONTACTS = 60;

it('a contact is published within the link’s delay and 17 ms (p95), whenever it happens', async () => {
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
  const tookMs: number[] = [];
  let worstMs = 0;
  for (let i = 0; i < CONTACTS; i++) {
    // Contacts at all phases of the robot's cycles, looked for at all phases of the operator's.
    rig.runFor(3 + (i % 13) + (i % 7) / 7);
    contactNm = 1 + i;
    const startNs = rig.nowNs;
    while (rig.operator.loop.robot.state.externalNm[2] !== contactNm) rig.runFor(0.5);
    const arrivedMs = (rig.nowNs - startNs) / MS;
    worstMs = Math.max(worstMs, arrivedMs);
    tookMs.push(arrivedMs + (PUBLISH_MS * ((i * 11) % CONTACTS)) / CONTACTS);
  }
  assert.ok(worstMs <= DELAY_MS + ROBOT_MS + 1, `${worstMs} ms`);
  const { p95 } = percentiles(tookMs)!;
  assert.ok(p95 <= DELAY_MS + PULSE_MS - PAGE_MS, `p95 ${p95} ms`);
});
