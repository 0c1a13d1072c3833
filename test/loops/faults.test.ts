import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { xorshift } from '../xorshift.ts';
import { isApplied, MS, robotPeer, SimulatedRig, TestHand } from './simulated-rig.ts';

/** The figure eight stays below this speed; a jump exceeds it. The model allows 3.14. */
const CALM_RAD_S = 1.5;

async function engaged(options: Parameters<typeof SimulatedRig.create>[0] = {}): Promise<SimulatedRig> {
  const rig = await SimulatedRig.create(options);
  rig.runUntil(() => rig.state === 'engaged', 2000);
  rig.runFor(2000);
  return rig;
}

/** Blocks both directions for `ms`. */
function hole(rig: SimulatedRig, ms: number): void {
  const { impair } = rig;
  rig.impair = () => null;
  rig.runFor(ms);
  rig.impair = impair;
}

const writesSince = (rig: SimulatedRig, fromNs: number) =>
  rig.robot.driver.writes.filter(({ atNs }) => atNs > fromNs);

/** No joint target steps by more than its velocity limit allows in 50 ms, including when engaging. */
function assertNoJump(rig: SimulatedRig): void {
  const { writes } = rig.robot.driver;
  for (let i = 1; i < writes.length; i++)
    writes[i]!.positionsRad.forEach((rad, j) => {
      const step = Math.abs(rad - writes[i - 1]!.positionsRad[j]!);
      assert.ok(step <= rig.model.joints[j]!.maxVelocityRadS * 0.05 + 1e-9, `joint ${j} stepped ${step} rad`);
    });
}

describe('a bad link', () => {
  /** Seeded, the same in both directions. */
  const badLinks: [string, (rig: SimulatedRig) => void][] = [
    [
      'loses 30 %',
      (rig) => {
        const random = xorshift(11);
        rig.impair = () => (random() < 0.3 ? null : 2 * MS);
      },
    ],
    [
      'repeats 30 %',
      (rig) => {
        const random = xorshift(12);
        const from = rig.operator.peers[0]!;
        rig.onOperatorSend = (socket, bytes) => {
          if (socket === 0 && random() < 0.3) rig.network.inject(from, robotPeer(0), bytes);
        };
      },
    ],
    [
      'swaps 20 % by 10 to 30 ms',
      (rig) => {
        const random = xorshift(13);
        rig.impair = () => (random() < 0.2 ? 15 + 20 * random() : 5) * MS;
      },
    ],
    [
      'flaps',
      (rig) => {
        rig.impair = (_from, _to, nowNs) => ((nowNs / MS) % 600 < 250 ? null : 2 * MS);
      },
    ],
  ];
  for (const [name, begin] of badLinks)
    it(`that ${name} never applies commands out of order or causes a jump`, async () => {
      const rig = await engaged();
      const { length } = rig.robot.answers;
      const fromNs = rig.nowNs;
      begin(rig);
      rig.runFor(3000);
      const applied = rig.robot.answers.slice(length).filter(({ outcome }) => isApplied(outcome));
      assert.ok(applied.length > 100, `${applied.length} applied`);
      applied.forEach(({ seq }, i) => {
        assert.ok(i === 0 || seq > applied[i - 1]!.seq, 'in order');
      });
      assert.ok(rig.maxSpeedRadS(fromNs) < CALM_RAD_S, `${rig.maxSpeedRadS(fromNs)} rad/s`);
      rig.impair = () => 2 * MS;
      rig.runUntil(() => rig.state === 'engaged', 1500);
    });
});

describe('a hole in the link', () => {
  it('of 300 ms holds the arm, which engages again on its own if the input is automatic', async () => {
    const rig = await engaged();
    rig.robot.transitions.length = 0;
    const startNs = rig.nowNs;
    hole(rig, 300);
    assert.deepEqual(rig.path, ['hold']);
    // 60 ms of queued commands, then the 100 ms timeout, then at most 400 ms to come to rest.
    assert.equal(writesSince(rig, startNs + 560 * MS).length, 0);
    const tookMs = rig.runUntil(() => rig.state === 'engaged', 1000);
    assert.ok(tookMs < 300, `${tookMs} ms`);
    assert.deepEqual(rig.path, ['hold', 'engaged']);
    assert.equal(rig.robot.counters.get('watchdog'), 1);
    rig.runFor(1000);
    assert.equal(rig.state, 'engaged');
    assertNoJump(rig);
  });

  it('of 300 ms needs a fresh press of the clutch if a person holds it', async () => {
    const hand = new TestHand();
    const rig = await SimulatedRig.create({ hand });
    rig.grip(hand);
    hole(rig, 300);
    rig.runFor(1000);
    assert.equal(rig.state, 'hold');
    hand.hand.clutch = false;
    rig.runFor(100);
    hand.hand.clutch = true;
    rig.runUntil(() => rig.state === 'engaged', 500);
  });

  it('of 50 ms has no effect', async () => {
    const rig = await engaged();
    rig.robot.transitions.length = 0;
    hole(rig, 50);
    rig.runFor(1000);
    assert.deepEqual(rig.path, []);
    assertNoJump(rig);
  });

  it('of 2 s is a lost operator: a latched stop that needs a reset and arming', async () => {
    const rig = await engaged();
    rig.robot.transitions.length = 0;
    const startNs = rig.nowNs;
    hole(rig, 2000);
    assert.deepEqual(rig.path, ['hold', 'stopped']);
    const lostNs = rig.robot.transitions[1]!.robotNs;
    assert.ok(lostNs - startNs > 900 * MS && lostNs - startNs < 1100 * MS);
    rig.runFor(2000);
    rig.ask('arm');
    rig.runFor(500);
    assert.deepEqual(rig.path, ['hold', 'stopped'], 'arming does not clear it');
    const { supervisor } = rig.robot.loop;
    const { epoch } = supervisor;
    rig.ask('reset');
    rig.runUntil(() => rig.state === 'idle', 500);
    assert.equal(supervisor.epoch, epoch + 1, 'earlier commands are void');
    rig.runFor(500);
    assert.equal(writesSince(rig, lostNs).length, 0, 'no motion since');
    rig.ask('arm');
    rig.runUntil(() => rig.state === 'engaged', 500);
    rig.runFor(500);
    assertNoJump(rig);
  });

  it('in one direction only is detected as well', async () => {
    const rig = await engaged();
    const { operator } = rig;
    const { impair } = rig;
    rig.robot.transitions.length = 0;
    // The robot receives its operator; the operator does not receive the robot and releases.
    rig.impair = (from, to, nowNs) => (operator.peers.includes(to) ? null : impair(from, to, nowNs));
    rig.runFor(1000);
    assert.equal(rig.path[0], 'hold');
    const writes = rig.robot.driver.writes.length;
    rig.runFor(1000);
    assert.equal(rig.robot.driver.writes.length, writes);
    rig.impair = impair;
    rig.runUntil(() => rig.state === 'engaged', 1000);
    assertNoJump(rig);
  });

  it('at the moment of engaging only delays the engagement', async () => {
    const rig = await SimulatedRig.create({ overrides: ['operator.inputs.scripted.periodS=2'] });
    const { impair } = rig;
    rig.impair = (from, to, nowNs) =>
      from === rig.operator.peers[0] && rig.state === 'armed' && nowNs < 101.5e9
        ? null
        : impair(from, to, nowNs);
    rig.runFor(1500);
    assert.equal(rig.state, 'armed');
    rig.runUntil(() => rig.state === 'engaged', 3000);
  });
});

describe('an e-stop', () => {
  it('stops within one cycle of its arrival, is latched, and needs reset and arming', async () => {
    const rig = await engaged({ delayMs: 2 });
    const pressedNs = rig.nowNs;
    rig.ask('estop');
    rig.runUntil(() => rig.state === 'stopped', 50);
    const stoppedNs = rig.robot.driver.stopsNs.at(-1)!;
    assert.ok(stoppedNs - pressedNs <= (2 + 5) * MS, `${(stoppedNs - pressedNs) / MS} ms`);
    rig.runFor(3000);
    assert.equal(rig.state, 'stopped');
    assert.equal(writesSince(rig, stoppedNs).length, 0);
    for (const action of ['arm', 'disarm'] as const) {
      rig.ask(action);
      rig.runFor(300);
      assert.equal(rig.state, 'stopped', `${action} does not clear it`);
    }
    rig.ask('reset');
    rig.runFor(1000);
    assert.equal(rig.state, 'idle');
    assert.equal(rig.robot.loop.supervisor.epoch, 2);
    assert.equal(writesSince(rig, stoppedNs).length, 0);
    rig.ask('arm');
    rig.runUntil(() => rig.state === 'engaged', 500);
    rig.runFor(500);
    assert.equal(rig.state, 'engaged');
    assertNoJump(rig);
  });

  it('gets through a link that loses nine of ten packets', async () => {
    const rig = await engaged();
    const { impair } = rig;
    let n = 0;
    rig.impair = (from, to, nowNs) => (n++ % 10 === 9 ? impair(from, to, nowNs) : null);
    rig.ask('estop');
    rig.runUntil(() => rig.state === 'stopped', 1000);
  });

  it('brings the arm to rest as fast as its driver can', async () => {
    const rig = await engaged();
    rig.ask('estop');
    rig.runUntil(() => rig.state === 'stopped', 50);
    rig.runFor(300);
    const { velocitiesRadS } = rig.robot.loop.supervisor.reading;
    assert.ok(
      velocitiesRadS.every((v) => Math.abs(v) < 1e-9),
      `${velocitiesRadS}`,
    );
  });
});

describe('a restart', () => {
  it('of the operator finds the robot stopped; reset and armed, it engages without a jump', async () => {
    const rig = await engaged();
    rig.robot.transitions.length = 0;
    const goneNs = rig.nowNs;
    await rig.startOperator(2002);
    rig.runFor(900);
    assert.deepEqual(rig.path, ['hold']);
    assert.ok(rig.robot.counters.get('not-operator') > 0, 'its first requests were rejected');
    rig.runFor(1000);
    assert.deepEqual(rig.path, ['hold', 'stopped'], 'it arms nothing on its own');
    const lostNs = rig.robot.transitions[1]!.robotNs;
    assert.ok(lostNs - goneNs >= 990 * MS && lostNs - goneNs < 1100 * MS);
    rig.ask('reset');
    rig.runFor(500);
    assert.equal(rig.state, 'idle', 'resetting is not arming');
    rig.ask('arm');
    rig.runUntil(() => rig.state === 'engaged', 1000);
    rig.runFor(2000);
    assert.equal(rig.state, 'engaged');
    assertNoJump(rig);
    const [measured, target] = [
      rig.robot.loop.supervisor.reading.positionsRad,
      rig.robot.loop.supervisor.targetRad,
    ];
    assert.ok(measured.every((rad, i) => Math.abs(rad - target[i]!) < 0.05));
  });

  it('of the operator is accepted immediately if the robot allows a takeover', async () => {
    const rig = await engaged({ overrides: ['robot.allowTakeover=true'] });
    await rig.startOperator(2002);
    const tookMs = rig.runUntil(
      () => rig.state === 'engaged' && rig.operator.loop.link.totals.applied > 0,
      1000,
    );
    assert.ok(tookMs < 700, `${tookMs} ms`);
    assertNoJump(rig);
  });

  it('of the robot is noticed by the operator, which synchronizes and follows again', async () => {
    const rig = await engaged({ robotOffsetNs: 4e12 });
    const before = rig.operator.loop.sync.sync.epoch;
    rig.stopRobot();
    rig.runFor(500);
    await rig.startRobot(8);
    rig.runUntil(() => rig.state === 'idle', 1000);
    rig.runFor(1500);
    assert.equal(rig.state, 'idle', 'auto-arm applies once, and this is another robot process');
    assert.ok(rig.operator.loop.sync.sync.epoch > before);
    assert.equal(rig.operator.loop.sync.sync.offsetAt(rig.nowNs), 4e12);
    rig.ask('arm');
    rig.runUntil(() => rig.state === 'engaged', 500);
    rig.runFor(1000);
    assert.equal(rig.state, 'engaged');
    assertNoJump(rig);
    rig.windDown();
    const { totals } = rig.operator.loop.link;
    assert.ok(totals.lost > 0 && totals.lost < 60, `${totals.lost} lost in flight`);
    assert.equal(totals.applied + totals.dropped + totals.rejected + totals.lost, totals.commands);
  });
});
