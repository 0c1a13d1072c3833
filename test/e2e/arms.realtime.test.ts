import assert from 'node:assert/strict';
import { after, afterEach, before, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { type ArmLine, type ArmName, ArmRig } from '../../bench/estop/arm-rig.ts';
import { RctpHand } from '../../bench/estop/rctp-hand.ts';
import { estopTrials } from '../../bench/estop/trials.ts';
import { VerbProcess } from '../../bench/estop/verb-process.ts';
import { loadModel } from '../../src/app/robot-models.ts';
import { createChain } from '../../src/core/chain.ts';
import { percentiles } from '../../src/core/percentiles.ts';

interface Arm {
  name: ArmName;
  /** What the simulated arm tells of a stop. */
  stop: RegExp;
  gripper: boolean;
  /** The frame that follows the hand, and how far it goes sideways for the 0.2 m of `farhand send`. */
  lead: number;
  sidewaysM: number;
}

const ARMS: readonly Arm[] = [
  { name: 'piper', stop: /^150#01/, gripper: true, lead: 6, sidewaysM: 0.75 * 0.2 },
  { name: 'ur3', stop: /^stopj$/, gripper: false, lead: 3, sidewaysM: 0.2 },
  { name: 'xarm6', stop: /^state 4$/, gripper: false, lead: 6, sidewaysM: 0.2 },
];
/** The bench `estop` makes 200. */
const TRIALS = 8;
const CYCLE_MS = 1000 / 30;
/** Stale after 150 ms, then a tick of 30 Hz; and what a busy machine adds. */
const HOLD_WITHIN_MS = 150 + CYCLE_MS;
const NOISE_MS = 250;
const SPEED_SHARE = 0.25;
/** Of a joint that catches up in a simulator that was late itself. */
const SPEED_MARGIN = 1.1;
const REST_RAD = 0.005;

const spanOf = (lines: readonly ArmLine[], value: (line: ArmLine) => number): number => {
  const values = lines.map(value);
  return Math.max(...values) - Math.min(...values);
};
const widest = (lines: readonly ArmLine[]): number =>
  Math.max(...[0, 1, 2, 3, 4, 5].map((joint) => spanOf(lines, (line) => line.positionsRad[joint]!)));

/** Where a frame of the arm was, left of its base. */
function sidewaysOf(name: ArmName, frame: number): (line: ArmLine) => number {
  const chain = createChain(loadModel(name));
  const [positionM, quatXyzw] = [new Float64Array(3), new Float64Array(4)];
  return ({ positionsRad }) => {
    chain.frame(positionsRad, frame, positionM, quatXyzw);
    return positionM[1]!;
  };
}

for (const { name, stop, gripper, lead, sidewaysM } of ARMS)
  describe(`RCTP at 50 Hz leads a ${name}: sender, operator, robot and simulated arm`, {
    timeout: 180_000,
  }, () => {
    let arm: ArmRig;
    let sender: VerbProcess | null = null;
    const send = (...more: string[]): VerbProcess => {
      sender = new VerbProcess(['send', 'rctp', '--hz', '50', '--port', String(arm.rctpPort), ...more]);
      return sender;
    };

    before(async () => {
      arm = await ArmRig.start(name);
    });
    after(() => arm.close());
    afterEach(async () => {
      await sender?.end('SIGKILL');
      sender = null;
      // Another sender is listened to after a second of silence.
      await sleep(1100);
    });

    it('follows within its share of the joint speeds, from the moment it is armed', async () => {
      send('--seconds', '9');
      await sleep(1000);
      const fromNs = arm.nowNs();
      await arm.ask('arm', 10_000);
      await arm.waitFor('engaged', 5000, fromNs);
      await sleep(7000);
      const seen = arm.between(fromNs);
      const spanM = spanOf(seen, sidewaysOf(name, lead));
      assert.ok(Math.abs(spanM - sidewaysM) < 0.25 * sidewaysM, `${spanM} m sideways, not ${sidewaysM}`);
      if (gripper) assert.ok(spanOf(seen, (line) => line.gripper) > 0.8, 'the gripper follows the pinch');
      loadModel(name).joints.forEach(({ maxVelocityRadS }, joint) => {
        const topRadS = Math.max(...seen.map(({ topRadS: top }) => top[joint]!));
        const mostRadS = SPEED_SHARE * maxVelocityRadS * SPEED_MARGIN;
        assert.ok(topRadS <= mostRadS, `joint ${joint + 1}: ${topRadS} rad/s, at most ${mostRadS}`);
      });
    });

    it('holds while tracking is lost, and goes on by itself', async () => {
      const fromNs = arm.nowNs();
      await arm.rearm();
      send('--seconds', '8', '--lose-tracking', '3-5');
      await arm.waitFor('engaged', 5000, fromNs);
      const hold = await arm.waitFor('hold', 5000, fromNs);
      assert.match(hold.cause, /tracking lost/);
      await arm.waitFor('engaged', 5000, hold.robotNs);
      const still = arm.between(hold.robotNs + 5e8, hold.robotNs + 15e8);
      assert.ok(still.length > 10 && widest(still) < REST_RAD, `moved by ${widest(still)} rad in hold`);
    });

    it('holds within a tick of the packet that says so', async (test) => {
      const hand = new RctpHand(arm.rctpPort);
      try {
        await sleep(500);
        const fromNs = arm.nowNs();
        await arm.rearm();
        await arm.waitFor('engaged', 5000, fromNs);
        await sleep(300);
        const lostNs = hand.loseTracking();
        const hold = await arm.waitFor('hold', 2000, lostNs);
        assert.match(hold.cause, /tracking lost/);
        const tookMs = (hold.robotNs - lostNs) / 1e6;
        test.diagnostic(`tracking lost → hold: ${tookMs.toFixed(2)} ms`);
        assert.ok(tookMs < CYCLE_MS + NOISE_MS, `${tookMs} ms`);
      } finally {
        hand.close();
      }
    });

    it('holds within the watchdog when the sender is killed, and stays', async () => {
      const fromNs = arm.nowNs();
      await arm.rearm();
      const hand = send();
      await arm.waitFor('engaged', 5000, fromNs);
      await sleep(1000);
      hand.child.kill('SIGKILL');
      const killNs = arm.nowNs();
      const hold = await arm.waitFor('hold', 2000, killNs);
      const tookMs = (hold.robotNs - killNs) / 1e6;
      assert.ok(tookMs < HOLD_WITHIN_MS + NOISE_MS, `${tookMs} ms`);
      await sleep(2000);
      assert.equal(arm.state, 'hold');
      assert.ok(widest(arm.between(hold.robotNs + 5e8)) < REST_RAD, 'at rest');
    });

    it('stops on the flag within a cycle, latched until somebody resets and arms', async (test) => {
      const hand = new RctpHand(arm.rctpPort);
      try {
        await sleep(500);
        const took = percentiles(await estopTrials(arm, hand, stop, TRIALS))!;
        const ms = (ns: number) => (ns / 1e6).toFixed(2);
        test.diagnostic(
          `e-stop packet → ${stop.source} at the arm, ${TRIALS} trials: p50 ${ms(took.p50)}, p95 ${ms(took.p95)}, max ${ms(took.max)} ms`,
        );
        assert.ok(took.p50 / 1e6 < CYCLE_MS, `p50 ${ms(took.p50)} ms`);
        assert.ok(took.max / 1e6 < CYCLE_MS + NOISE_MS, `max ${ms(took.max)} ms`);
        const restNs = arm.nowNs();
        await sleep(1500);
        assert.equal(arm.state, 'stopped', 'though the hand is seen, and asks for no stop any more');
        assert.ok(widest(arm.between(restNs + 5e8)) < REST_RAD);
      } finally {
        hand.close();
      }
    });
  });
