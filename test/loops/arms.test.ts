import assert from 'node:assert/strict';
import { beforeEach, describe, it } from 'node:test';
import { createChain } from '../../src/geometry/chain.ts';
import { Headset } from './rctp-headset.ts';
import { MS, SimulatedRig, type Write } from './simulated-rig.ts';

/** The frame that follows the hand, and its motion per metre of the hand. */
const ARMS = [
  { name: 'piper', lead: 6, scale: 0.75 },
  { name: 'ur3', lead: 3, scale: 1 },
  { name: 'xarm6', lead: 6, scale: 1 },
] as const;
const STALE_MS = 150;
/** One-way delay, as in `SimulatedRig`. */
const LINK_MS = 2;
const SPEED_SHARE = 0.25;
const REST_RAD = 1e-6;

const spanOf = (values: readonly number[]): number => Math.max(...values) - Math.min(...values);
/** Range of the joint that moved most; 0 if nothing was written. */
const widest = (writes: readonly Write[]): number =>
  Math.max(
    ...(writes[0]?.positionsRad.map((_, i) => spanOf(writes.map((write) => write.positionsRad[i]!))) ?? [0]),
  );

for (const { name, lead, scale } of ARMS)
  describe(`RCTP at 50 Hz drives the rig ${name}`, () => {
    let rig: SimulatedRig;
    let headset: Headset;

    const tickMs = () => 1000 / rig.rig.operator.hz;
    const cycleMs = () => 1000 / rig.rig.robot.controlHz;
    const writesFrom = (fromNs: number) => rig.robot.driver.writes.filter(({ atNs }) => atNs >= fromNs);
    const follow = () => {
      rig.ask('arm');
      headset.run(2000);
      assert.equal(rig.state, 'engaged');
    };

    beforeEach(async () => {
      const overrides = ['operator.input=rctp', 'robot.playout=none'];
      rig = await SimulatedRig.create({ rig: name, overrides });
      headset = new Headset(rig);
      headset.run(1000);
      assert.equal(rig.state, 'idle', 'a tracked hand arms nothing');
    });

    it('follows within its share of the joint speeds, once it is armed', () => {
      headset.widthM = 0.1;
      follow();
      headset.run(5000);
      const chain = createChain(rig.model);
      const [positionM, quatXyzw] = [new Float64Array(3), new Float64Array(4)];
      const { writes } = rig.robot.driver;
      const sideways = writes.map(({ positionsRad }) => {
        chain.frame(positionsRad, lead, positionM, quatXyzw);
        return positionM[1]!;
      });
      const wantedM = scale * 2 * headset.widthM;
      assert.ok(
        Math.abs(spanOf(sideways) - wantedM) < 0.1 * wantedM,
        `${spanOf(sideways)} m, not ${wantedM}`,
      );
      rig.model.joints.forEach(({ maxVelocityRadS }, joint) => {
        for (let i = 1; i < writes.length; i++) {
          const stepRad = Math.abs(writes[i]!.positionsRad[joint]! - writes[i - 1]!.positionsRad[joint]!);
          const radS = stepRad / Math.max(cycleMs() / 1e3, (writes[i]!.atNs - writes[i - 1]!.atNs) / 1e9);
          assert.ok(radS <= SPEED_SHARE * maxVelocityRadS * 1.001, `joint ${joint + 1}: ${radS} rad/s`);
        }
      });
    });

    it('closes and opens its gripper with the pinch, in step with the hand', () => {
      follow();
      for (const open of [0, 0.5, 1, 0.25]) {
        headset.packet.gripper = open;
        headset.run(400);
        const { gripper } = rig.robot.driver.writes.at(-1)!;
        assert.ok(Math.abs(gripper - (1 - open)) < 1e-6, `hand ${open} open, gripper ${gripper} closed`);
      }
    });

    it('holds within a tick of the packet that reports lost tracking, and resumes on its own', () => {
      follow();
      headset.packet.tracking = false;
      headset.send();
      const tookMs = rig.runUntil(() => rig.state === 'hold', 1000);
      assert.ok(tookMs <= tickMs() + 2 * LINK_MS + 1, `${tookMs} ms`);
      assert.match(rig.robot.transitions.at(-1)!.cause, /tracking lost/);
      headset.run(500);
      const restNs = rig.nowNs;
      headset.run(1500);
      assert.equal(rig.state, 'hold');
      assert.ok(widest(writesFrom(restNs)) < REST_RAD);
      headset.packet.tracking = true;
      headset.run(1000);
      assert.equal(rig.state, 'engaged');
    });

    it('holds when the sender is silent until its sample is stale, and stays in hold', () => {
      follow();
      const tookMs = rig.runUntil(() => rig.state === 'hold', 1000);
      assert.ok(tookMs <= STALE_MS + tickMs() + LINK_MS + 1, `${tookMs} ms`);
      rig.runFor(500);
      const restNs = rig.nowNs;
      rig.runFor(2000);
      assert.equal(rig.state, 'hold');
      assert.ok(widest(writesFrom(restNs)) < REST_RAD);
    });

    it('stops on the e-stop flag within a cycle, latched until reset and armed', () => {
      follow();
      const sentNs = rig.nowNs;
      headset.send({ estop: true });
      rig.runUntil(() => rig.state === 'stopped', 100);
      const tookMs = (rig.robot.driver.stopsNs.at(-1)! - sentNs) / MS;
      assert.ok(tookMs <= 2 * LINK_MS + cycleMs(), `${tookMs} ms`);
      headset.run(500);
      const restNs = rig.nowNs;
      headset.run(2000);
      assert.equal(rig.state, 'stopped', 'even though the hand is tracked and no longer requests a stop');
      assert.ok(widest(writesFrom(restNs)) < REST_RAD);
      rig.ask('reset');
      headset.run(1000);
      assert.equal(rig.state, 'idle');
      follow();
    });
  });
