import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import type { JointCommand, TickStatus } from '../../core/messages.ts';
import { Bench, config, MS, model } from './supervisor.test.bench.ts';

const MAX_STEP_S = 0.05;
const last = (bench: Bench) => bench.driver.writes.at(-1)!;

/** Engaged and running at the velocity limit of the first joint. */
function running(): Bench {
  const bench = new Bench().bring('engaged');
  for (let i = 0; i < 20; i++) {
    bench.tick(5);
    assert.equal(bench.send({}, [2.5, 0]), null);
  }
  return bench;
}

describe('supervisor motion', () => {
  it('starts from the measured pose: the first write moves nothing', () => {
    const bench = new Bench().bring('armed');
    bench.driver.measured.set([0.3, -0.2]);
    bench.driver.enable();
    bench.tick();
    assert.equal(bench.send({ gripper: 0.25 }, [0.4, -0.2]), null);
    assert.deepEqual(last(bench), { nowNs: bench.nowNs, positions: [0.3, -0.2], gripper: 0.25 });
  });

  it('follows at the velocity limit and counts that it had to', () => {
    const bench = new Bench().bring('engaged');
    bench.tick(10);
    bench.send({}, [0.1, 0.01]);
    assert.ok(Math.abs(last(bench).positions[0]! - 0.02) < 1e-9);
    assert.ok(Math.abs(last(bench).positions[1]! - 0.01) < 1e-9);
    assert.ok(bench.counters.get('clamped-velocity') > 0);
    assert.equal(bench.counters.get('clamped-range'), 0);
  });

  it('catches up between commands, and no farther than the command', () => {
    const bench = new Bench().bring('engaged');
    bench.tick(10);
    bench.send({}, [0.1, 0]);
    for (let i = 0; i < 16; i++) bench.tick(5);
    assert.equal(last(bench).positions[0], 0.1);
    const writes = bench.driver.writes.length;
    bench.tick(5);
    assert.equal(bench.driver.writes.length, writes, 'there is nothing left to do');
  });

  it('clamps a command into the joint range and counts it', () => {
    const bench = running();
    for (let i = 0; i < 200; i++) {
      bench.tick(10);
      bench.send({}, [99, -99]);
    }
    assert.deepEqual(last(bench).positions, [3, -2]);
    assert.ok(bench.counters.get('clamped-range') >= 200);
  });

  it('holds when no command was applied for the time allowed', () => {
    const bench = new Bench().bring('engaged');
    bench.tick(config.commandTimeoutMs);
    assert.equal(bench.state, 'engaged');
    bench.tick(1);
    assert.deepEqual([bench.state, bench.supervisor.endedEngagement], ['hold', 1]);
    assert.equal(bench.counters.get('watchdog'), 1);
    assert.equal(bench.send({}), 'old-engagement');
    assert.equal(bench.send({ engagement: 2 }), null);
  });

  it('is not kept alive by commands that it refuses', () => {
    const bench = new Bench().bring('engaged');
    for (let i = 0; i < 30; i++) {
      bench.tick(5);
      bench.send({ stateRobotNs: bench.nowNs - 900 * MS });
      bench.supervisor.submit(bench.command({}, [Number.NaN, 0]), bench.nowNs);
    }
    assert.equal(bench.state, 'hold');
  });

  it('does not set the arm in motion again when the watchdog holds it', () => {
    const bench = new Bench().bring('engaged');
    // 1 rad/s for a while, then silence.
    for (let i = 1; i <= 20; i++) {
      bench.tick(10);
      bench.send({}, [i * 0.01, 0]);
    }
    const goal = last(bench).positions;
    for (let i = 0; i < 40; i++) bench.tick(5);
    assert.equal(bench.state, 'hold');
    assert.deepEqual(last(bench).positions, goal);
  });

  it('comes to rest inside the acceleration limit when the clutch opens, and then writes nothing', () => {
    const bench = running();
    const from = last(bench).positions[0]!;
    bench.send({ engagement: 0 });
    assert.equal(bench.state, 'hold');
    let speed = 2;
    let position = from;
    for (let i = 0; i < 100; i++) {
      const writes = bench.driver.writes.length;
      bench.tick(5);
      const now = last(bench).positions[0]!;
      const slower = (now - position) / 0.005;
      assert.ok(slower <= speed + 1e-9 && slower >= 0);
      assert.ok(speed - slower <= 10 * 0.005 + 1e-9, 'no harder than allowed');
      if (slower === 0) assert.equal(bench.driver.writes.length, writes);
      speed = slower;
      position = now;
    }
    assert.equal(speed, 0);
    assert.ok(position - from <= 0.2);
  });

  it('stops at once on an e-stop, without another write', () => {
    const bench = running();
    const writes = bench.driver.writes.length;
    bench.supervisor.estop('test', bench.nowNs);
    assert.equal(bench.driver.enabled, false);
    for (let i = 0; i < 50; i++) {
      bench.tick(5);
      bench.send({}, [2.5, 0]);
    }
    assert.equal(bench.driver.writes.length, writes);
  });
});

describe('what may not wait in the queue', () => {
  /** Takes effect on arrival; then the queued commands of that engagement come due. */
  function arrivesThenQueued(values: Partial<JointCommand>): Bench {
    const bench = new Bench().bring('engaged');
    bench.supervisor.observe(bench.command(values, [0, 0]), bench.nowNs);
    const writes = bench.driver.writes.length;
    for (let i = 0; i < 6; i++)
      assert.equal(bench.supervisor.submit(bench.command({}, [0.01, 0]), bench.nowNs), 'old-engagement');
    assert.equal(bench.driver.writes.length, writes);
    return bench;
  }

  it('is the release of the clutch', () => {
    const bench = arrivesThenQueued({ engagement: 0 });
    assert.deepEqual([bench.state, bench.supervisor.cause], ['hold', 'clutch released']);
    assert.equal(bench.supervisor.endedEngagement, 1);
  });

  it('is the loss of tracking', () => {
    const bench = arrivesThenQueued({ tracking: false });
    assert.deepEqual([bench.state, bench.supervisor.cause], ['hold', 'tracking lost']);
    assert.equal(bench.counters.get('tracking-lost'), 1);
  });

  it('is the beginning of another engagement, which may then move', () => {
    const bench = arrivesThenQueued({ engagement: 2 });
    assert.equal(bench.supervisor.submit(bench.command({ engagement: 2 }, [0, 0]), bench.nowNs), null);
    assert.equal(bench.state, 'engaged');
  });

  it('holds before the engagement has even begun to move', () => {
    const bench = new Bench().bring('armed');
    bench.supervisor.observe(bench.command({ engagement: 1 }, [0, 0]), bench.nowNs);
    bench.supervisor.observe(bench.command({ engagement: 0 }, [0, 0]), bench.nowNs);
    assert.equal(
      bench.supervisor.submit(bench.command({ engagement: 1 }, [0, 0]), bench.nowNs),
      'old-engagement',
    );
    assert.equal(bench.state, 'armed');
  });

  it('is not heard from another epoch', () => {
    const bench = new Bench().bring('engaged');
    bench.supervisor.observe(bench.command({ engagement: 0, epoch: 0 }, [0, 0]), bench.nowNs);
    bench.supervisor.observe(bench.command({ tracking: false, epoch: 7 }, [0, 0]), bench.nowNs);
    assert.equal(bench.state, 'engaged');
  });

  it('voids with a reset whatever was queued before it', () => {
    const bench = running();
    bench.supervisor.estop('test', bench.nowNs);
    bench.supervisor.reset(1, bench.nowNs);
    bench.supervisor.arm(bench.nowNs);
    for (const engagement of [1, 2, 50])
      assert.equal(
        bench.supervisor.submit(bench.command({ epoch: 1, engagement }, [0, 0]), bench.nowNs),
        'wrong-epoch',
      );
    assert.equal(bench.state, 'armed');
  });
});

const ACTIONS = ['arm', 'disarm', 'estop', 'reset', 'joined', 'rejoined', 'lost'] as const;

type Hostile =
  | { kind: 'command'; values: Partial<JointCommand>; offset: readonly [number, number]; raw: number | null }
  | { kind: 'tick'; ms: number }
  | { kind: 'desk'; action: (typeof ACTIONS)[number] }
  | { kind: 'driver'; status: TickStatus }
  | { kind: 'recover' };

const small = fc.double({ min: -0.14, max: 0.14, noNaN: true });
const wild = fc.oneof(
  { weight: 3, arbitrary: small },
  { weight: 1, arbitrary: fc.double({ min: -10, max: 10, noNaN: true }) },
);
const rubbish = fc.constantFrom(Number.NaN, Number.POSITIVE_INFINITY, -1e300, 1e18);
const stampMs = fc.constantFrom(-1e6, -501, -499, -50, 0, 99, 101, 1e6);
const hostile: fc.Arbitrary<Hostile> = fc.oneof(
  {
    weight: 12,
    arbitrary: fc.record({
      kind: fc.constant('command' as const),
      values: fc.record(
        {
          engagement: fc.oneof(
            { weight: 8, arbitrary: fc.constant(-1) },
            { weight: 1, arbitrary: fc.nat(20) },
          ),
          tracking: fc.oneof(
            { weight: 9, arbitrary: fc.constant(true) },
            { weight: 1, arbitrary: fc.boolean() },
          ),
          epoch: fc.oneof({ weight: 15, arbitrary: fc.constant(-1) }, { weight: 1, arbitrary: fc.nat(3) }),
          gripper: fc.oneof(
            { weight: 9, arbitrary: fc.double({ min: 0, max: 1, noNaN: true }) },
            { weight: 1, arbitrary: fc.double() },
          ),
          stateRobotNs: fc.oneof({ weight: 9, arbitrary: fc.constant(0) }, { weight: 1, arbitrary: stampMs }),
        },
        { noNullPrototype: true },
      ),
      offset: fc.tuple(wild, small),
      raw: fc.option(rubbish, { nil: null, freq: 12 }),
    }),
  },
  {
    weight: 12,
    arbitrary: fc.record({
      kind: fc.constant('tick' as const),
      ms: fc.constantFrom(0, 1, 5, 5, 5, 5, 5, 10, 20, 60, 150),
    }),
  },
  { weight: 3, arbitrary: fc.constant({ kind: 'recover' as const }) },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant('desk' as const),
      action: fc.constantFrom(...ACTIONS),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant('driver' as const),
      status: fc.constantFrom<TickStatus>('ok', 'ok', 'ok', 'stale', 'fault'),
    }),
  },
);

/** Watches every write and every transition for what must never happen. */
function watch(bench: Bench): { writes: number; engagements: number; stoppedEpoch: number } {
  const seen = { writes: 0, engagements: 0, stoppedEpoch: -1 };
  let reference: readonly number[] = [...bench.driver.measured];
  let referenceNs = bench.nowNs;
  let transitions = 0;
  bench.driver.onWrite = ({ nowNs, positions, gripper }) => {
    for (; transitions < bench.transitions.length; transitions++) {
      const { to, robotNs } = bench.transitions[transitions]!;
      if (to !== 'engaged') continue;
      seen.engagements++;
      reference = [...bench.supervisor.reading.positionsRad];
      referenceNs = robotNs;
    }
    seen.writes++;
    assert.ok(bench.state === 'engaged' || bench.state === 'hold', `written in ${bench.state}`);
    assert.ok(bench.driver.enabled, 'written without power');
    assert.ok(bench.supervisor.epoch > seen.stoppedEpoch, 'written in an epoch that was stopped');
    assert.ok(gripper >= 0 && gripper <= 1);
    const dtS = Math.min(MAX_STEP_S, (nowNs - referenceNs) / 1e9);
    positions.forEach((rad, i) => {
      const { minRad, maxRad, maxVelocityRadS } = model.joints[i]!;
      assert.ok(rad >= minRad && rad <= maxRad, `${rad} is out of range`);
      const step = Math.abs(rad - reference[i]!);
      assert.ok(step <= maxVelocityRadS * dtS + 1e-9, `${step} rad in ${dtS} s`);
    });
    reference = positions;
    referenceNs = nowNs;
  };
  return seen;
}

function perform(bench: Bench, step: Hostile): void {
  const { supervisor, driver } = bench;
  if (step.kind === 'tick') bench.tick(step.ms);
  else if (step.kind === 'driver') driver.readStatus = step.status;
  else if (step.kind === 'recover') {
    driver.readStatus = 'ok';
    bench.tick(0);
    supervisor.reset(supervisor.epoch, bench.nowNs);
    if (bench.state === 'disconnected') supervisor.operatorJoined(false, bench.nowNs);
    supervisor.arm(bench.nowNs);
  } else if (step.kind === 'desk') {
    if (step.action === 'arm') supervisor.arm(bench.nowNs);
    else if (step.action === 'disarm') supervisor.disarm(bench.nowNs);
    else if (step.action === 'estop') supervisor.estop('test', bench.nowNs);
    else if (step.action === 'reset') supervisor.reset(supervisor.epoch, bench.nowNs);
    else if (step.action === 'lost') supervisor.operatorLost(bench.nowNs, 'test');
    else supervisor.operatorJoined(step.action === 'joined', bench.nowNs);
  } else {
    const { engagement = -1, epoch = -1, stateRobotNs = 0, ...rest } = step.values;
    const positions = step.offset.map((rad, i) => driver.measured[i]! + rad);
    if (step.raw !== null) positions[bench.seq % 2] = step.raw;
    bench.send(
      {
        ...rest,
        // −1: what a well-behaved operator would say.
        engagement: engagement < 0 ? supervisor.endedEngagement + 1 : engagement,
        epoch: epoch < 0 ? supervisor.epoch : epoch,
        stateRobotNs: bench.nowNs + stateRobotNs * MS,
      },
      positions,
    );
  }
}

describe('supervisor against a hostile stream', () => {
  it('never writes out of range, too fast, not a number, or in a state that must not move', () => {
    let writes = 0;
    let engagements = 0;
    fc.assert(
      fc.property(fc.array(hostile, { minLength: 40, maxLength: 150 }), (steps) => {
        const bench = new Bench().bring('armed');
        const seen = watch(bench);
        for (const step of steps) {
          const before = { state: bench.state, writes: seen.writes };
          perform(bench, step);
          if (bench.state === 'stopped') seen.stoppedEpoch = bench.supervisor.epoch;
          if (before.state === 'stopped' && bench.state !== 'stopped')
            assert.ok(step.kind === 'desk' || step.kind === 'recover');
          if (before.state === 'hold' && step.kind === 'desk') assert.equal(seen.writes, before.writes);
          assert.ok(bench.supervisor.targetRad.every(Number.isFinite));
          assert.ok(bench.supervisor.reading.positionsRad.every((rad) => rad !== -1.23));
        }
        writes += seen.writes;
        engagements += seen.engagements;
      }),
      { numRuns: 600 },
    );
    assert.ok(
      writes > 1500 && engagements > 300,
      `${writes} writes in ${engagements} engagements prove little`,
    );
  });
});
