import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { encodeDesk } from '../../src/wire/codecs/desk.ts';
import { peerOf } from '../../src/wire/reactor.ts';
import { MS, SimulatedRig, TestHand } from './simulated-rig.ts';

describe('the arm behind its limits', () => {
  it('follows the figure eight with a few milliseconds of lag, without being limited', async () => {
    const rig = await SimulatedRig.create({
      overrides: ['robot.playout=none', 'operator.mapper.filter=none'],
    });
    const sent: { atNs: number; q: number[] }[] = [];
    rig.onOperatorSend = (_, bytes) => {
      const text = new TextDecoder().decode(bytes);
      if (!text.startsWith('FH1c')) return;
      const { engagement, q } = JSON.parse(text.slice(4)) as { engagement: number; q: number[] };
      if (engagement > 0) sent.push({ atNs: rig.nowNs + 2 * MS, q });
    };
    rig.runFor(9000);
    const { writes } = rig.robot.driver;
    let [product, square, worst] = [0, 0, 0];
    for (let n = 200; n < sent.length - 1; n++) {
      const { atNs, q } = sent[n]!;
      const write = writes.findLast((each) => each.atNs <= atNs)!;
      q.forEach((rad, i) => {
        const speed = (sent[n + 1]!.q[i]! - sent[n - 1]!.q[i]!) / 0.02;
        const error = rad - write.positionsRad[i]!;
        product += error * speed;
        square += speed * speed;
        worst = Math.max(worst, Math.abs(error));
      });
    }
    const lagMs = (1000 * product) / square;
    assert.ok(sent.length > 800);
    assert.ok(Math.abs(lagMs) < 5, `${lagMs} ms`);
    assert.ok(worst < 0.01, `${worst} rad`);
    for (const reason of [
      'clamped-velocity',
      'slowed-singularity',
      'slowed-limit',
      'slowed-collision',
    ] as const)
      assert.equal(rig.robot.counters.get(reason), 0, reason);
  });

  it('reports the active limit to the operator', async () => {
    const hand = new TestHand();
    const rig = await SimulatedRig.create({
      hand,
      // The robot's own guard: the guided mapping would stop short of it.
      overrides: ['robot.workspace={minM: [-1, -1, 0.28], maxM: [1, 1, 1]}', 'operator.mapper.ik=decoupled'],
    });
    rig.grip(hand);
    for (let i = 0; i < 100; i++) {
      hand.hand.positionM[1]! -= 0.001;
      rig.runFor(10);
    }
    rig.runFor(200);
    assert.equal(rig.operator.loop.robot.state.limitedBy, 'workspace');
    assert.ok(rig.robot.counters.get('clamped-workspace') > 10);
    hand.hand.positionM[1] = 0;
    rig.runFor(1500);
    assert.equal(rig.operator.loop.robot.state.limitedBy, '');
  });
});

describe('a latched stop', () => {
  async function engaged(hand?: TestHand): Promise<SimulatedRig> {
    const rig = await SimulatedRig.create(hand === undefined ? {} : { hand });
    if (hand !== undefined) rig.grip(hand);
    rig.runUntil(() => rig.state === 'engaged', 1000);
    rig.runFor(300);
    return rig;
  }

  /** Stopped and latched: no write after the stop, even with commands queued. */
  function assertStopped(rig: SimulatedRig, withinMs: number): void {
    assert.ok(rig.robot.loop.queue.depth > 0 || rig.state === 'stopped', 'commands were waiting');
    const tookMs = rig.runUntil(() => rig.state === 'stopped', withinMs);
    const writes = rig.robot.driver.writes.length;
    assert.ok(rig.robot.driver.stopsNs.length > 0);
    rig.runFor(500);
    assert.equal(rig.robot.driver.writes.length, writes, `after ${tookMs} ms`);
    rig.ask('arm');
    rig.runFor(100);
    assert.equal(rig.state, 'stopped');
  }

  it('follows the e-stop flag in a hand’s packet', async () => {
    const hand = new TestHand();
    const rig = await engaged(hand);
    hand.hand.estop = true;
    assertStopped(rig, 13);
  });

  it('follows an e-stop from console, terminal or program', async () => {
    const rig = await engaged();
    rig.ask('estop');
    assertStopped(rig, 3);
  });

  it('follows an e-stop datagram from an unknown sender', async () => {
    const rig = await engaged();
    const bytes = new Uint8Array(256);
    const length = encodeDesk({ session: 99, request: 1, action: 'estop', epoch: 0 }, bytes);
    const stranger = peerOf('10.0.0.9', 9999);
    rig.robot.loop.onDatagram(0, bytes, length, stranger, rig.nowNs, Number.NaN);
    assertStopped(rig, 1);
    assert.equal(rig.robot.counters.get('not-operator'), 1, 'stopped, but otherwise rejected');
  });

  it('follows a call of the supervisor’s estop', async () => {
    const rig = await engaged();
    rig.robot.loop.supervisor.estop('light curtain', rig.nowNs);
    assertStopped(rig, 1);
    assert.equal(rig.robot.loop.supervisor.cause, 'light curtain');
  });

  it('follows the loss of the operator', async () => {
    const rig = await engaged();
    rig.stopOperator();
    const tookMs = rig.runUntil(() => rig.state === 'stopped', 1100);
    assert.ok(tookMs <= 1010, `${tookMs} ms`);
    assert.equal(rig.robot.loop.supervisor.cause, 'operator silent');
    const writes = rig.robot.driver.writes.length;
    rig.runFor(500);
    assert.equal(rig.robot.driver.writes.length, writes);
    assert.ok(rig.robot.driver.stopsNs.length > 0);
  });
});
