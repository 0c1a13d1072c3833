import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { JointCommand } from '../../src/messages/command.ts';
import { OUTCOMES } from '../../src/messages/trace-record.ts';
import { OPERATOR_SOCKETS } from '../../src/operator/loop.ts';
import { decodeCommand, emptyCommand } from '../../src/wire/codecs/command.ts';
import { frameType, writeFrame } from '../../src/wire/codecs/frame.ts';
import { xorshift } from '../xorshift.ts';
import { isApplied, MS, SimulatedRig, TestHand } from './simulated-rig.ts';

const bytes = new Uint8Array(256);

/** Sends a request like the console. */
function ask(rig: SimulatedRig, kind: string): void {
  const length = writeFrame('request', { kind }, bytes);
  rig.operator.loop.onDatagram(OPERATOR_SOCKETS.desk, bytes, length, 0, rig.nowNs, Number.NaN);
}

const measured = (rig: SimulatedRig): number[] => [...rig.robot.loop.supervisor.reading.positionsRad];
const farthest = (a: ArrayLike<number>, b: ArrayLike<number>): number =>
  Math.max(...Array.from(a, (rad, i) => Math.abs(rad - b[i]!)));
const awayRad = (rig: SimulatedRig): number => farthest(measured(rig), rig.model.homeRad);
const mode = (rig: SimulatedRig): string => rig.operator.loop.mode;

/** Every command sent, with the robot's pose as known to the operator. */
function record(rig: SimulatedRig): { command: JointCommand; knownRad: number[] }[] {
  const sent: { command: JointCommand; knownRad: number[] }[] = [];
  rig.onOperatorSend = (_socket, datagram) => {
    if (frameType(datagram, datagram.length) !== 'command') return;
    const command = emptyCommand(rig.model.joints.length);
    assert.equal(decodeCommand(datagram, datagram.length, command), null);
    sent.push({ command, knownRad: [...rig.operator.loop.robot.state.positionsRad] });
  };
  return sent;
}

async function movedAway(hand = new TestHand(), overrides: string[] = []): Promise<SimulatedRig> {
  const rig = await SimulatedRig.create({ hand, overrides });
  rig.grip(hand);
  for (let i = 0; i < 150; i++) {
    hand.hand.positionM[1]! -= 0.0007;
    hand.hand.positionM[0]! += 0.0005;
    rig.runFor(10);
  }
  assert.ok(awayRad(rig) > 0.2, `${awayRad(rig)} rad`);
  return rig;
}

describe('home', () => {
  it('drives home at the set speed in a separate engagement, then needs a fresh clutch press', async () => {
    const hand = new TestHand();
    const rig = await movedAway(hand, ['operator.homeSpeedRadS=0.3']);
    const sent = record(rig);
    const fromNs = rig.nowNs;
    assert.equal(mode(rig), 'teleop');
    ask(rig, 'home');
    assert.equal(mode(rig), 'home');
    const tookMs = rig.runUntil(() => mode(rig) === 'hold', 15_000);
    assert.ok(tookMs > 1500, `${tookMs} ms`);
    assert.ok(awayRad(rig) < 3e-3, `${awayRad(rig)} rad from home`);
    const rest = rig.robot.driver.writes.filter(({ atNs }) => atNs > fromNs + 500 * MS);
    for (let i = 1; i < rest.length; i++) {
      const dtS = (rest[i]!.atNs - rest[i - 1]!.atNs) / 1e9;
      if (dtS > 0) assert.ok(farthest(rest[i]!.positionsRad, rest[i - 1]!.positionsRad) <= 0.31 * dtS + 1e-6);
    }
    const numbers = new Set(sent.map(({ command }) => command.engagement));
    assert.deepEqual(
      [...numbers].sort(),
      [0, 1, 2].filter((n) => numbers.has(n)),
    );
    assert.ok(numbers.has(2) && !numbers.has(3), 'one separate engagement');
    rig.runFor(500);
    assert.equal(mode(rig), 'hold', 'a clutch held all along does not count');
    hand.hand.clutch = false;
    rig.runFor(50);
    hand.hand.clutch = true;
    rig.runUntil(() => rig.state === 'engaged', 500);
    assert.equal(mode(rig), 'teleop');
  });

  it('needs no tracked hand', async () => {
    const hand = new TestHand();
    const rig = await movedAway(hand);
    hand.status = 'stale';
    rig.runFor(100);
    assert.equal(rig.state, 'hold');
    ask(rig, 'home');
    rig.runUntil(() => mode(rig) === 'hold', 15_000);
    assert.ok(awayRad(rig) < 3e-3);
  });

  it('stops before an obstacle and names it', async () => {
    const wall = '{name: wall, minM: [0.27, -0.03, 0], maxM: [0.5, -0.01, 0.22]}';
    const hand = new TestHand();
    const rig = await SimulatedRig.create({ hand, overrides: [`robot.obstacles=[${wall}]`] });
    const { supervisor } = rig.robot.loop;
    rig.grip(hand);
    // Over the wall and down on the other side.
    const move = (axis: number, byM: number) => {
      for (let i = 0; i < 300; i++) {
        hand.hand.positionM[axis]! += byM / 300;
        rig.runFor(10);
      }
    };
    move(1, 0.12);
    move(0, 0.26);
    move(1, -0.12);
    rig.runFor(1000);
    assert.equal(rig.operator.loop.robot.state.limitedBy, '', 'the hand goes around the wall');
    const behindRad = measured(rig);
    ask(rig, 'home');
    rig.runUntil(() => mode(rig) === 'home', 100);
    let leastM = Number.POSITIVE_INFINITY;
    const seen = new Set<string>();
    rig.runUntil(() => {
      leastM = Math.min(leastM, supervisor.clearanceM);
      const { limitedBy, nearest } = rig.operator.loop.robot.state;
      if (limitedBy !== '') seen.add(`${limitedBy}: ${nearest}`);
      return mode(rig) === 'hold';
    }, 15_000);
    assert.ok(leastM >= rig.rig.robot.stopM - 1e-6, `${leastM} m from the wall`);
    assert.ok(
      [...seen].some((each) => /^collision: .* ↔ wall$/.test(each)),
      [...seen].join(),
    );
    assert.ok(farthest(measured(rig), behindRad) > 0.05, 'it went as far as allowed');
    assert.ok(awayRad(rig) > 0.2, `${awayRad(rig)} rad from home: it gave up`);
    rig.runUntil(() => rig.state === 'hold', 500);
  });

  it('is rejected and counted while the robot is not armed', async () => {
    const rig = await SimulatedRig.create({ hand: new TestHand(), overrides: ['operator.autoArm=false'] });
    rig.runFor(300);
    assert.equal(rig.state, 'idle');
    ask(rig, 'home');
    assert.equal(mode(rig), 'hold');
    assert.equal(rig.operator.counters.get('not-armed'), 1);
    rig.runFor(500);
    assert.equal(rig.robot.driver.writes.length, 0);
  });

  const aborts: [string, (rig: SimulatedRig, hand: TestHand) => void, string][] = [
    ['hold', (rig) => ask(rig, 'hold'), 'hold'],
    ['e-stop', (rig) => ask(rig, 'estop'), 'stopped'],
    ['disarm', (rig) => ask(rig, 'disarm'), 'idle'],
    ['the e-stop of the hand', (_rig, { hand }) => (hand.estop = true), 'stopped'],
    ['the clutch', (_rig, { hand }) => (hand.clutch = true), 'hold'],
    ['a robot that receives nothing', (rig) => (rig.impair = () => null), 'stopped'],
  ];
  for (const [name, abort, state] of aborts)
    it(`is ended by ${name}`, async () => {
      const hand = new TestHand();
      const rig = await movedAway(hand);
      hand.hand.clutch = false;
      rig.runFor(200);
      ask(rig, 'home');
      rig.runUntil(() => rig.state === 'engaged', 500);
      rig.runFor(400);
      assert.equal(mode(rig), 'home');
      const fromNs = rig.nowNs;
      abort(rig, hand);
      rig.runUntil(() => mode(rig) === 'hold', 500);
      rig.runUntil(() => rig.state === state, 3000);
      rig.runFor(500);
      assert.ok(awayRad(rig) > 0.02, 'it did not get there');
      const writes = rig.robot.driver.writes.filter(({ atNs }) => atNs > fromNs + 600 * MS);
      assert.equal(writes.length, 0, 'at rest');
      assert.equal(mode(rig), 'hold', 'and does not resume on its own');
    });
});

describe('an automatic input', () => {
  it('returns to its original pose after homing, however far e-stops moved it', async () => {
    const rig = await SimulatedRig.create();
    const target: number[][] = [];
    const cycle = () => {
      target.length = 0;
      const from = rig.robot.driver.writes.length;
      rig.runFor(16_000);
      for (const { positionsRad } of rig.robot.driver.writes.slice(from)) target.push(positionsRad);
      return rig.model.joints.map((_, j) => target.reduce((sum, q) => sum + q[j]!, 0) / target.length);
    };
    rig.runUntil(() => rig.state === 'engaged', 1000);
    const first = cycle();
    for (let i = 0; i < 4; i++) {
      rig.runFor(1700);
      ask(rig, 'estop');
      rig.runUntil(() => rig.state === 'stopped', 500);
      rig.runFor(100);
      ask(rig, 'reset');
      rig.runUntil(() => rig.state === 'idle', 500);
      rig.runFor(100);
      ask(rig, 'arm');
      rig.runUntil(() => rig.state === 'engaged', 500);
    }
    const drifted = farthest(cycle(), first);
    assert.ok(drifted > 0.03, `the middle of the figure has moved by ${drifted} rad`);
    ask(rig, 'home');
    rig.runUntil(() => mode(rig) === 'teleop', 15_000);
    rig.runUntil(() => rig.state === 'engaged', 500);
    const back = farthest(cycle(), first);
    assert.ok(back < 0.01, `the middle of the figure is off by ${back} rad`);
  });

  it('does not take over when homing is aborted', async () => {
    const rig = await SimulatedRig.create();
    rig.runFor(3000);
    ask(rig, 'home');
    rig.runFor(900);
    assert.equal(mode(rig), 'home');
    const impair = rig.impair;
    rig.impair = (from, to, nowNs) => (rig.operator.peers.includes(from) ? null : impair(from, to, nowNs));
    rig.runUntil(() => rig.state === 'hold', 500);
    rig.impair = impair;
    rig.runUntil(() => mode(rig) === 'hold', 500);
    rig.runFor(3000);
    assert.equal(mode(rig), 'hold');
    ask(rig, 'home');
    rig.runUntil(() => mode(rig) === 'teleop', 15_000);
  });

  it('stays paused after hold until teleop is requested', async () => {
    const rig = await SimulatedRig.create();
    rig.runFor(2000);
    ask(rig, 'hold');
    rig.runUntil(() => rig.state === 'hold', 100);
    rig.runFor(3000);
    assert.equal(rig.state, 'hold');
    ask(rig, 'teleop');
    rig.runUntil(() => rig.state === 'engaged', 300);
  });
});

describe('changes of mode', () => {
  for (const seed of [1, 2, 3, 4, 5, 6])
    it(`never make the joints jump, for any sequence of requests (${seed})`, async () => {
      const hand = new TestHand();
      const rig = await SimulatedRig.create({ hand });
      const sent = record(rig);
      const chance = xorshift(seed * 7919);
      const swing = () => {
        const s = rig.nowNs / 1e9;
        hand.hand.positionM.set([
          0.08 * Math.sin(1.7 * s),
          1 + 0.06 * Math.sin(1.1 * s),
          0.05 * Math.sin(0.9 * s),
        ]);
      };
      for (let i = 0; i < 6000; i++) {
        swing();
        const draw = chance();
        if (draw < 0.003) ask(rig, 'home');
        else if (draw < 0.004) ask(rig, 'hold');
        else if (draw < 0.005) ask(rig, 'teleop');
        else if (draw < 0.009) hand.hand.clutch = !hand.hand.clutch;
        else if (draw < 0.0095) hand.hand.tracking = false;
        else if (draw > 0.99) hand.hand.tracking = true;
        else if (draw < 0.01) ask(rig, 'estop');
        if (draw > 0.98 && rig.state === 'stopped') ask(rig, 'reset');
        if (draw > 0.98 && rig.state === 'idle') ask(rig, 'arm');
        rig.runFor(5);
      }
      assertNoStep(rig);
      assertEngagements(sent);
      const modes = new Set(sent.map(({ command }) => command.engagement));
      assert.ok(modes.size > 5, `${modes.size} engagements`);
    });
});

/** Checks the driver's targets: speed within limits, and no speed steps beyond the acceleration limit. */
function assertNoStep(rig: SimulatedRig): void {
  const { writes } = rig.robot.driver;
  assert.ok(writes.length > 500, `${writes.length} writes`);
  const before = rig.model.joints.map(() => 0);
  for (let i = 1; i < writes.length; i++) {
    const dtS = (writes[i]!.atNs - writes[i - 1]!.atNs) / 1e9;
    if (dtS < 0.001) continue;
    rig.model.joints.forEach((joint, j) => {
      const speed = (writes[i]!.positionsRad[j]! - writes[i - 1]!.positionsRad[j]!) / dtS;
      const fresh = dtS > 0.05 ? 0 : before[j]!;
      assert.ok(Math.abs(speed) <= joint.maxVelocityRadS, `joint ${j}: ${speed} rad/s`);
      const step = Math.abs(speed - fresh);
      assert.ok(
        step <= joint.maxAccelerationRadS2 * 0.01 + 0.02,
        `joint ${j} at ${writes[i]!.atNs / 1e9}: from ${fresh} to ${speed} rad/s`,
      );
      before[j] = speed;
    });
  }
}

/** Each engagement starts at the robot's known pose and continues without a leap. */
function assertEngagements(sent: ReturnType<typeof record>): void {
  let last: JointCommand | null = null;
  for (const { command, knownRad } of sent) {
    if (command.engagement === 0) continue;
    const from = last?.engagement === command.engagement ? last.positionsRad : knownRad;
    const stepRad = farthest(command.positionsRad, from);
    assert.ok(stepRad < 0.03, `engagement ${command.engagement}: a step of ${stepRad} rad`);
    last = command;
  }
}

describe('a filter', () => {
  it('reports its delay in every trace record of an engagement', async () => {
    const rig = await SimulatedRig.create({ overrides: ['operator.mapper.filter=moving-average:5'] });
    rig.runFor(3000);
    rig.windDown();
    const applied = rig.operator.closed.filter((closed) => isApplied(OUTCOMES[closed.outcome]!));
    assert.ok(applied.length > 200);
    for (const { filterDelayNs } of applied.slice(10)) assert.ok(Math.abs(filterDelayNs - 20 * MS) < 1);
    const plain = await SimulatedRig.create({ overrides: ['operator.mapper.filter=none'] });
    plain.runFor(1000);
    assert.ok(plain.operator.closed.every(({ filterDelayNs }) => Number.isNaN(filterDelayNs)));
  });
});
