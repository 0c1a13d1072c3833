import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { type ArmLine, type ArmName, ArmRig } from '../../bench/estop/arm-rig.ts';
import { RctpHand } from '../../bench/estop/rctp-hand.ts';
import { estopTrials } from '../../bench/estop/trials.ts';
import { VerbProcess } from '../../bench/estop/verb-process.ts';

const REST_RAD = 0.005;
const WAIT_MS = 20_000;
const TIMEOUT = { timeout: 60_000 };

const spanOf = (lines: readonly ArmLine[], value: (line: ArmLine) => number): number => {
  const values = lines.map(value);
  return Math.max(...values) - Math.min(...values);
};
const widest = (lines: readonly ArmLine[]): number =>
  Math.max(...[0, 1, 2, 3, 4, 5].map((joint) => spanOf(lines, (line) => line.positionsRad[joint]!)));

/** A simulated arm led by a hand: simulator, robot and operator as processes. */
class Led {
  arm!: ArmRig;
  #hand: RctpHand | null = null;

  async open(name: ArmName): Promise<void> {
    this.arm = await ArmRig.start(name);
    this.#hand = new RctpHand(this.arm.rctpPort);
  }

  get hand(): RctpHand {
    return this.#hand!;
  }

  /** Retries if the arm had not reconnected yet, or a stall of the machine stopped it again. */
  async follow(): Promise<void> {
    for (const endMs = performance.now() + WAIT_MS; ; ) {
      const fromNs = this.arm.nowNs();
      try {
        await this.arm.rearm();
        await this.arm.waitFor('engaged', 5000, fromNs);
        return;
      } catch (error) {
        if (performance.now() > endMs) throw error;
        await sleep(200);
      }
    }
  }

  /** Fails unless the arm rests while its simulator reports twenty times; nothing may end the stop. */
  async rests(fromNs: number): Promise<void> {
    const enough = () => (this.arm.between(fromNs).length >= 20 ? true : undefined);
    await this.arm.until(enough, WAIT_MS, () => 'the simulator is silent');
    const { arm } = this;
    assert.ok(widest(arm.between(fromNs)) < REST_RAD, `moved by ${widest(arm.between(fromNs))} rad`);
    assert.equal(arm.state, 'stopped', 'the stop does not end by itself');
  }

  /** The stop is latched with its cause at robot and operator; the hand keeps moving, the arm does not. */
  async stopped(fromNs: number, cause: RegExp): Promise<void> {
    const stopped = await this.arm.waitFor('stopped', WAIT_MS, fromNs);
    assert.match(stopped.cause, cause);
    const reported = await this.arm.ask('hold');
    assert.equal(reported.state, 'stopped');
    assert.match(reported.cause, cause, 'reported to the operator');
    await this.rests(stopped.robotNs + 1e9);
  }

  /** The hand is gone. */
  leave(): void {
    this.#hand?.close();
    this.#hand = null;
  }

  async close(): Promise<void> {
    this.leave();
    await this.arm?.close();
  }
}

/** Shared by all arms: one packet with the flag stops the arm itself. */
const stopsOnTheFlag = async (led: Led, stop: RegExp): Promise<void> => {
  await estopTrials(led.arm, led.hand, stop, 1);
  await led.rests(led.arm.nowNs() + 5e8);
};

describe('a UR3 led by a hand, with its own stops', () => {
  const led = new Led();
  before(() => led.open('ur3'), TIMEOUT);
  after(() => led.close());

  it('an e-stop packet reaches the arm and latches', TIMEOUT, () => stopsOnTheFlag(led, /^stopj$/));

  it('a protective stop latches; reset and arm end it after at least 5 s', TIMEOUT, async () => {
    await led.follow();
    const fromNs = led.arm.nowNs();
    led.arm.say('protective');
    await led.stopped(fromNs, /protective stop/);
    await sleep(Math.max(0, 5500 - (led.arm.nowNs() - fromNs) / 1e6));
    await led.follow();
  });

  it('a robot e-stop latches; arming is rejected while it is active', TIMEOUT, async () => {
    await led.follow();
    const fromNs = led.arm.nowNs();
    led.arm.say('estop');
    await led.stopped(fromNs, /robot e-stop/);
    await led.arm.ask('reset');
    const armNs = led.arm.nowNs();
    await led.arm.ask('arm').catch(() => {});
    const rejected = await led.arm.waitFor('stopped', WAIT_MS, armNs);
    assert.match(rejected.cause, /robot e-stop/);
    led.arm.say('release');
    await sleep(300);
    await led.follow();
  });

  it(
    'lost connections latch and reconnect by themselves, and the arm moves only when armed',
    TIMEOUT,
    async () => {
      await led.follow();
      const fromNs = led.arm.nowNs();
      led.arm.say('cut');
      await led.stopped(fromNs, /lost|disconnected/);
      await led.follow();
    },
  );
});

describe('a Piper led by a hand, with its adapter unplugged', () => {
  const led = new Led();
  before(() => led.open('piper'), TIMEOUT);
  after(() => led.close());

  it('an e-stop packet reaches the arm and latches', TIMEOUT, () => stopsOnTheFlag(led, /^150#01/));

  it('the loss latches, the adapter reconnects, and the arm resumes only when armed', TIMEOUT, async () => {
    await led.follow();
    const fromNs = led.arm.nowNs();
    await led.arm.replug(500);
    await led.stopped(fromNs, /slcan.* is lost/);
    assert.ok(
      led.arm.events.every(({ atNs, what }) => atNs < fromNs || !what.startsWith('150#02')),
      'no resume: the arm would drop',
    );
    await led.follow();
  });
});

describe('an xArm6 led by `farhand send`', () => {
  const led = new Led();
  before(() => led.open('xarm6'), TIMEOUT);
  after(() => led.close());

  it('an e-stop packet reaches the arm and latches', TIMEOUT, () => stopsOnTheFlag(led, /^state 4$/));

  it('follows the sender, and holds when it is killed', TIMEOUT, async () => {
    led.leave();
    // Another sender is accepted after a second of silence.
    await sleep(1200);
    const { arm } = led;
    const sender = new VerbProcess(['send', 'rctp', '--hz', '50', '--port', String(arm.rctpPort)]);
    try {
      await led.follow();
      const engagedNs = arm.nowNs();
      const moves = () => (widest(arm.between(engagedNs)) > 0.1 ? true : undefined);
      await arm.until(moves, WAIT_MS, () => 'the arm does not follow');
    } finally {
      await sender.end('SIGKILL');
    }
    const holds = () => (arm.state === 'hold' ? true : undefined);
    await arm.until(holds, WAIT_MS, () => `the arm is ${arm.state}`);
  });
});
