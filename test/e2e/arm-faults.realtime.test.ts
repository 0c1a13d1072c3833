import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { type ArmName, ArmRig } from '../../bench/estop/arm-rig.ts';
import { RctpHand } from '../../bench/estop/rctp-hand.ts';

const REST_RAD = 0.005;

/** An arm that follows a hand, and the ways in which it stops by itself. */
class Following {
  arm!: ArmRig;
  #hand!: RctpHand;

  async open(name: ArmName): Promise<void> {
    this.arm = await ArmRig.start(name);
    this.#hand = new RctpHand(this.arm.rctpPort);
    await sleep(500);
  }

  async follow(): Promise<void> {
    const fromNs = this.arm.nowNs();
    await this.arm.rearm();
    await this.arm.waitFor('engaged', 5000, fromNs);
    await sleep(300);
  }

  /** Latched with its cause, in the robot's words and in the operator's; the hand goes on and moves nothing. */
  async stopped(fromNs: number, cause: RegExp): Promise<void> {
    const stopped = await this.arm.waitFor('stopped', 5000, fromNs);
    assert.match(stopped.cause, cause);
    await sleep(2500);
    assert.equal(this.arm.state, 'stopped', 'nothing ends it by itself');
    const told = await this.arm.ask('hold');
    assert.equal(told.state, 'stopped');
    assert.match(told.cause, cause, 'told to the operator');
    const seen = this.arm.between(this.arm.nowNs() - 1e9);
    const moved = [0, 1, 2, 3, 4, 5].map((joint) => {
      const values = seen.map(({ positionsRad }) => positionsRad[joint]!);
      return Math.max(...values) - Math.min(...values);
    });
    assert.ok(Math.max(...moved) < REST_RAD, `moved by ${moved}`);
  }

  async close(): Promise<void> {
    this.#hand?.close();
    await this.arm?.close();
  }
}

describe('a UR3 that stops by itself while a hand leads it', { timeout: 120_000 }, () => {
  const teleop = new Following();
  before(() => teleop.open('ur3'));
  after(() => teleop.close());

  it('latches a protective stop, which ends 5 s later at the earliest, by reset and arm', async () => {
    await teleop.follow();
    const fromNs = teleop.arm.nowNs();
    teleop.arm.say('protective');
    await teleop.stopped(fromNs, /protective stop/);
    await sleep(3000);
    await teleop.follow();
  });

  it('latches an e-stop of the robot; arming is refused while it stands', async () => {
    await teleop.follow();
    const fromNs = teleop.arm.nowNs();
    teleop.arm.say('estop');
    await teleop.stopped(fromNs, /robot e-stop/);
    await teleop.arm.ask('reset');
    const armNs = teleop.arm.nowNs();
    await teleop.arm.ask('arm').catch(() => {});
    const refused = await teleop.arm.waitFor('stopped', 5000, armNs);
    assert.match(refused.cause, /robot e-stop/);
    teleop.arm.say('release');
    await sleep(300);
    await teleop.follow();
  });

  it('latches lost connections, comes back by itself, and moves only when armed', async () => {
    await teleop.follow();
    const fromNs = teleop.arm.nowNs();
    teleop.arm.say('cut');
    await teleop.stopped(fromNs, /lost|hung up/);
    await teleop.follow();
  });
});

describe('a Piper whose adapter is pulled out while a hand leads it', { timeout: 120_000 }, () => {
  const teleop = new Following();
  before(() => teleop.open('piper'));
  after(() => teleop.close());

  it('latches the loss, finds the adapter again, and resumes only when armed', async () => {
    await teleop.follow();
    const fromNs = teleop.arm.nowNs();
    await teleop.arm.replug(500);
    await teleop.stopped(fromNs, /slcan.* is lost/);
    assert.ok(
      teleop.arm.events.every(({ atNs, what }) => atNs < fromNs || !what.startsWith('150#02')),
      'no resume: the arm would drop',
    );
    await teleop.follow();
  });
});
