import assert from 'node:assert/strict';
import { after, afterEach, before, beforeEach, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { FaultRig } from './fault-rig.ts';

/** docs/SAFETY.md: playout 60 ms, then the watchdog's 100 ms, then braking; and what a busy machine adds. */
const HOLD_WITHIN_MS = 60 + 100 + 60;
const NOISE_MS = 150;
/** The figure eight never needs more; a jump would. The model allows 3.14. */
const CALM_RAD_S = 1.5;

describe('faults on a sealed link', () => {
  let rig: FaultRig;
  let startNs: number;

  before(async () => {
    rig = await FaultRig.start();
  });
  after(() => rig.close());
  beforeEach(async () => {
    await rig.waitFor('engaged');
    startNs = rig.nowNs();
  });
  afterEach(async () => {
    assert.ok(
      rig.topSpeedRadS(startNs) < CALM_RAD_S,
      `no jump: top speed ${rig.topSpeedRadS(startNs)} rad/s`,
    );
    await rig.link.set('off');
  });

  const followsAgain = async () => {
    const { appliedSeq: seq } = await rig.waitFor('engaged');
    await sleep(400);
    assert.ok(rig.last.appliedSeq > seq, 'commands are applied again');
    assert.equal(rig.last.state, 'engaged');
  };

  const resetAndArm = async () => {
    await rig.ask('reset');
    await rig.waitFor('idle');
    // The operator must have heard of the new epoch, as a person at the console has when it shows "idle".
    await sleep(100);
    await rig.ask('arm');
  };

  for (const [name, impairment] of [
    ['loses 30 %', { loss: { share: 0.3 } }],
    ['duplicates 30 %', { duplicate: { share: 0.3, afterMs: 5 } }],
    ['reorders 20 % by 10 to 30 ms', { delayMs: 5, straggler: { share: 0.2 } }],
  ] as const)
    it(`goes on calmly while the link ${name}`, async () => {
      await rig.link.set({ forward: impairment, return: impairment });
      await sleep(3000);
      assert.equal(rig.seqFalls(startNs), 0, 'never back in time');
      const engaged = rig.seen.filter((s) => s.robotNs > startNs && s.state === 'engaged').length;
      const all = rig.seen.filter((s) => s.robotNs > startNs).length;
      assert.ok(engaged > 0.9 * all, `engaged ${engaged} of ${all} cycles`);
      assert.ok(rig.link.stats().forward.forwarded > 150);
    });

  it('holds in a hole of 300 ms and follows again by itself', async () => {
    await rig.link.set({ events: [{ kind: 'hole', atMs: 100, forMs: 300 }] });
    const holeNs = rig.nowNs() + 100e6;
    const hold = await rig.waitFor('hold', 1000);
    assert.match(hold.cause, /no command for 100 ms/);
    assert.ok(
      (hold.robotNs - holeNs) / 1e6 < HOLD_WITHIN_MS + NOISE_MS,
      `hold after ${(hold.robotNs - holeNs) / 1e6} ms`,
    );
    await followsAgain();
  });

  it('lets go in a hole of 2 s, stays at rest, and comes back reset and armed by hand only', async () => {
    await rig.link.set({ events: [{ kind: 'hole', atMs: 100, forMs: 2000 }] });
    const holeNs = rig.nowNs() + 100e6;
    await rig.waitFor('stopped', 3000);
    await sleep(2000);
    assert.equal(rig.last.state, 'stopped', 'nobody reset it');
    const motionMs = (rig.lastMotionNs(holeNs) - holeNs) / 1e6;
    assert.ok(motionMs < HOLD_WITHIN_MS + NOISE_MS, `moved until ${motionMs} ms after the hole began`);
    await resetAndArm();
    await followsAgain();
  });

  it('survives a flapping link', async () => {
    await rig.link.set({ events: [{ kind: 'hole', atMs: 50, forMs: 250, everyMs: 600, times: 4 }] });
    await sleep(2600);
    assert.equal(rig.seqFalls(startNs), 0);
    await followsAgain();
  });

  it('does not act on what a stall held back', async () => {
    await rig.link.set({ events: [{ kind: 'stall', atMs: 100, forMs: 700 }] });
    const stallNs = rig.nowNs() + 100e6;
    await rig.waitFor('hold', 1500);
    const motionMs = (rig.lastMotionNs(stallNs, stallNs + 680e6) - stallNs) / 1e6;
    assert.ok(motionMs < HOLD_WITHIN_MS + NOISE_MS, `moved until ${motionMs} ms after the stall began`);
    await followsAgain();
  });

  it('holds while the operator is suspended for 500 ms and follows again by itself', async () => {
    const { process: operator } = rig.operator;
    operator.kill('SIGSTOP');
    const stopNs = rig.nowNs();
    const hold = await rig.waitFor('hold', 1000);
    assert.ok((hold.robotNs - stopNs) / 1e6 < HOLD_WITHIN_MS + NOISE_MS);
    await sleep(500 - (rig.nowNs() - stopNs) / 1e6);
    operator.kill('SIGCONT');
    await followsAgain();
  });

  it('holds when the operator is killed; its successor gets the robot without a jump', async () => {
    rig.operator.process.kill('SIGKILL');
    const killNs = rig.nowNs();
    await rig.waitFor('hold', 1000);
    await rig.waitFor('stopped', 2000);
    const motionMs = (rig.lastMotionNs(killNs) - killNs) / 1e6;
    assert.ok(motionMs < HOLD_WITHIN_MS + NOISE_MS, `moved until ${motionMs} ms after the kill`);
    rig.restartOperator();
    await rig.operator.waitFor(/operator ready/);
    await sleep(1000);
    assert.equal(rig.last.state, 'stopped', 'it waits for a person');
    await resetAndArm();
    await followsAgain();
  });

  it('stops at once on the e-stop, link or no link afterwards, until reset and armed', async () => {
    await rig.ask('estop');
    const askNs = rig.nowNs();
    const stopped = await rig.waitFor('stopped', 1000);
    assert.ok((stopped.robotNs - askNs) / 1e6 < 20 + NOISE_MS, `${(stopped.robotNs - askNs) / 1e6} ms`);
    await sleep(300);
    assert.ok((rig.lastMotionNs(askNs) - askNs) / 1e6 < 60 + NOISE_MS);
    await rig.ask('arm');
    await sleep(200);
    assert.equal(rig.last.state, 'stopped', 'arming does not clear it');
    await resetAndArm();
    await followsAgain();
  });
});
