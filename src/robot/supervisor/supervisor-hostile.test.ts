import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import type { JointCommand } from '../../messages/command.ts';
import type { TickStatus } from '../../messages/robot-state.ts';
import { POWERED } from './states.ts';
import { Bench, MS, model } from './supervisor.test.bench.ts';
import { TargetJudge } from './target-judge.test.bench.ts';

const ACTIONS = ['arm', 'disarm', 'estop', 'reset', 'joined', 'rejoined', 'lost', 'left'] as const;

type Hostile =
  | { kind: 'command'; values: Partial<JointCommand>; offset: readonly [number, number]; raw: number | null }
  | { kind: 'tick'; ms: number }
  | { kind: 'desk'; action: (typeof ACTIONS)[number] }
  | { kind: 'driver'; what: 'readStatus' | 'writeStatus' | 'enableStatus'; status: TickStatus }
  | { kind: 'recover' };

const small = fc.double({ min: -0.14, max: 0.14, noNaN: true });
const wild = fc.oneof(
  { weight: 6, arbitrary: small },
  { weight: 2, arbitrary: fc.double({ min: -2, max: 2, noNaN: true }) },
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
          // How many commands ago: a replay. −1: the next one.
          seq: fc.oneof({ weight: 15, arbitrary: fc.constant(-1) }, { weight: 1, arbitrary: fc.nat(4) }),
          gripper: fc.oneof(
            { weight: 9, arbitrary: fc.double({ min: 0, max: 1, noNaN: true }) },
            { weight: 1, arbitrary: fc.double() },
          ),
          sampledRobotNs: fc.oneof(
            { weight: 9, arbitrary: fc.constant(0) },
            { weight: 1, arbitrary: stampMs },
          ),
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
      ms: fc.constantFrom(-20, 0, 1, 5, 5, 5, 5, 5, 5, 5, 5, 5, 10, 20, 60, 150),
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
      what: fc.constantFrom('readStatus' as const, 'writeStatus' as const, 'enableStatus' as const),
      status: fc.constantFrom<TickStatus>('ok', 'ok', 'ok', 'stale', 'fault'),
    }),
  },
);

interface Seen {
  writes: number;
  engagements: number;
  stoppedEpoch: number;
}

/** Checks every write and transition against the safety rules. */
function watch(bench: Bench): Seen {
  const judge = new TargetJudge(model.joints);
  let heldRad: readonly number[] | null = null;
  let lastRad: readonly number[] = [];
  let transitions = 0;
  const seen: Seen = { writes: 0, engagements: 0, stoppedEpoch: -1 };
  bench.driver.onWrite = ({ nowNs, positions, gripper }) => {
    for (; transitions < bench.transitions.length; transitions++) {
      const { to } = bench.transitions[transitions]!;
      if (to === 'engaged') seen.engagements++;
      if (!POWERED[to]) judge.unpowered();
    }
    seen.writes++;
    assert.ok(bench.state === 'engaged' || bench.state === 'hold', `written in ${bench.state}`);
    assert.ok(bench.driver.enabled, 'written without power');
    assert.ok(bench.supervisor.epoch > seen.stoppedEpoch, 'written in an epoch that was stopped');
    assert.ok(gripper >= 0 && gripper <= 1);
    judge.wrote(nowNs, positions);
    if (bench.state === 'hold') {
      heldRad ??= lastRad;
      positions.forEach((rad, i) => {
        const { maxVelocityRadS: v, maxAccelerationRadS2: a, maxJerkRadS3: j } = model.joints[i]!;
        assert.ok(
          Math.abs(rad - heldRad![i]!) <= (v * v) / (2 * a) + (v * a) / j + 0.05 * v,
          'it comes to rest',
        );
      });
    } else heldRad = null;
    lastRad = positions;
  };
  return seen;
}

function perform(bench: Bench, step: Hostile): void {
  const { supervisor, driver } = bench;
  if (step.kind === 'tick') bench.tick(step.ms);
  else if (step.kind === 'driver') driver[step.what] = step.status;
  else if (step.kind === 'recover') {
    driver.readStatus = driver.writeStatus = driver.enableStatus = 'ok';
    bench.rest();
    supervisor.reset(supervisor.epoch, bench.nowNs);
    if (bench.state === 'disconnected') supervisor.operatorJoined(false, bench.nowNs);
    supervisor.arm(bench.nowNs);
  } else if (step.kind === 'desk') {
    if (step.action === 'arm') supervisor.arm(bench.nowNs);
    else if (step.action === 'disarm') supervisor.disarm(bench.nowNs);
    else if (step.action === 'estop') supervisor.estop('test', bench.nowNs);
    else if (step.action === 'reset') supervisor.reset(supervisor.epoch, bench.nowNs);
    else if (step.action === 'lost') supervisor.operatorLost(bench.nowNs);
    else if (step.action === 'left') supervisor.operatorLeft(bench.nowNs);
    else supervisor.operatorJoined(step.action === 'joined', bench.nowNs);
  } else {
    const { engagement = -1, epoch = -1, sampledRobotNs = 0, seq = -1, ...rest } = step.values;
    const positions = step.offset.map((rad, i) => driver.measured[i]! + rad);
    if (step.raw !== null) positions[bench.seq % 2] = step.raw;
    bench.send(
      {
        ...rest,
        ...(seq < 0 ? {} : { seq: Math.max(0, bench.seq - seq) }),
        // −1: what a well-behaved operator would send.
        engagement: engagement < 0 ? supervisor.endedEngagement + 1 : engagement,
        epoch: epoch < 0 ? supervisor.epoch : epoch,
        sampledRobotNs: bench.nowNs + sampledRobotNs * MS,
      },
      positions,
    );
  }
}

describe('supervisor against a hostile stream', () => {
  it('never writes a target that is NaN, out of range or too fast, or in a state that must not move', () => {
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
      { numRuns: 1200 },
    );
    assert.ok(
      writes > 1500 && engagements > 300,
      `${writes} writes in ${engagements} engagements are too few to prove anything`,
    );
  });
});
