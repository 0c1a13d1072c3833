import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { type RobotModel, robotModelSchema } from '../../geometry/robot-model.ts';
import type { TickStatus } from '../../messages/robot-state.ts';
import { sixJoints } from './arm.test.bench.ts';
import { FEEDBACKS, type Feedback, JudgedDriver } from './judged-driver.test.bench.ts';
import { Bench, model as twoJoints } from './supervisor.test.bench.ts';
import type { JudgedJoint } from './target-judge.test.bench.ts';

/** As many joints as a hand, each with its own limits. */
const manyJoints = robotModelSchema.parse({
  name: 'many',
  title: 'many joints',
  family: 'hand',
  homeRad: Array.from({ length: 17 }, (_, i) => 0.02 * i),
  joints: Array.from({ length: 17 }, (_, i) => ({
    name: `j${i}`,
    minRad: -0.4 - 0.1 * i,
    maxRad: 0.9 + 0.2 * i,
    maxVelocityRadS: 0.3 + 0.6 * i,
    maxAccelerationRadS2: 2 + 5 * (i % 7),
    maxJerkRadS3: [40, 200, 1000, 8000][i % 4],
    dh: { aM: 0, dM: 0, alphaRad: 0 },
  })),
});

interface Rig {
  name: string;
  model: RobotModel;
  options: Record<string, unknown>;
  runs: number;
}

const RIGS: readonly Rig[] = [
  { name: 'two joints', model: twoJoints, options: {}, runs: 200 },
  {
    name: 'two joints, slow to time out',
    model: twoJoints,
    options: { commandTimeoutMs: 500, feedbackTimeoutMs: 1000, engageSpeedPercent: 100 },
    runs: 200,
  },
  {
    name: 'two joints, little jerk',
    model: twoJoints,
    options: { jerkPercent: 5, extrapolate: false },
    runs: 200,
  },
  {
    name: 'an arm over a table',
    model: sixJoints,
    options: {
      groundZM: 0,
      obstacles: [{ name: 'shelf', minM: [-0.2, 0.35, 0], maxM: [0.2, 0.5, 0.4] }],
      workspace: { minM: [-0.6, -0.6, 0.05], maxM: [0.6, 0.6, 0.8] },
    },
    runs: 150,
  },
  {
    name: 'many joints',
    model: manyJoints,
    options: { speedPercent: 80, accelerationPercent: 60 },
    runs: 120,
  },
];

/** A rig's limits: the model's, scaled by the rig's percentages. */
function allowed({ model, options }: Rig): JudgedJoint[] {
  const share = (key: string) => Number(options[key] ?? 100) / 100;
  return model.joints.map((joint) => ({
    ...joint,
    maxVelocityRadS: joint.maxVelocityRadS * share('speedPercent'),
    maxAccelerationRadS2: joint.maxAccelerationRadS2 * share('accelerationPercent'),
    maxJerkRadS3: joint.maxJerkRadS3 * share('jerkPercent'),
  }));
}

const DESK = ['arm', 'disarm', 'estop', 'reset', 'joined', 'rejoined', 'lost', 'left'] as const;

type Step =
  | { kind: 'drive'; commands: number; everyMs: number; shares: readonly number[]; lateMs: number }
  | { kind: 'release'; how: 'clutch' | 'tracking' | 'other' }
  | { kind: 'ticks'; count: number; ms: number }
  | { kind: 'command'; offsetRad: number; engagement: number; epoch: number; seq: number; ageMs: number }
  | { kind: 'desk'; action: (typeof DESK)[number] }
  | { kind: 'restart' }
  | { kind: 'driver'; what: 'readStatus' | 'writeStatus' | 'enableStatus'; status: TickStatus }
  | { kind: 'feedback'; feedback: Feedback }
  | { kind: 'neighbour' };

/** Of the top speed. Evenly distributed: fast-check's doubles are mostly next to zero. */
const share = fc.integer({ min: -1600, max: 1600 }).map((thousandths) => thousandths / 1000);
const cycleMs = fc.constantFrom(
  5,
  5,
  5,
  5,
  5,
  5,
  0,
  0.01,
  1,
  2.3,
  7.7,
  10,
  20,
  49,
  51,
  70,
  120,
  190,
  250,
  2500,
);

const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 10,
    arbitrary: fc.record({
      kind: fc.constant('drive' as const),
      commands: fc.integer({ min: 1, max: 120 }),
      everyMs: fc.constantFrom(5, 5, 10, 10, 2.5, 1, 20, 60),
      shares: fc.array(share, { minLength: 1, maxLength: 6 }),
      lateMs: fc.constantFrom(0, 0, 0, 3, 40),
    }),
  },
  {
    weight: 6,
    arbitrary: fc.record({
      kind: fc.constant('release' as const),
      how: fc.constantFrom('clutch' as const, 'clutch' as const, 'tracking' as const, 'other' as const),
    }),
  },
  {
    weight: 8,
    arbitrary: fc.record({
      kind: fc.constant('ticks' as const),
      count: fc.constantFrom(1, 1, 2, 3, 4, 10, 40),
      ms: cycleMs,
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant('command' as const),
      offsetRad: fc.constantFrom(0, 0.1, -0.1, 0.5, -3, 40, Number.NaN),
      engagement: fc.integer({ min: -3, max: 5 }),
      epoch: fc.constantFrom(0, 0, 0, -1, 1),
      seq: fc.constantFrom(1, 1, 1, 0, -2),
      ageMs: fc.constantFrom(0, 0, 0, 90, 600, -90, -200),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({ kind: fc.constant('desk' as const), action: fc.constantFrom(...DESK) }),
  },
  { weight: 4, arbitrary: fc.constant({ kind: 'restart' as const }) },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant('driver' as const),
      what: fc.constantFrom('readStatus' as const, 'writeStatus' as const, 'enableStatus' as const),
      status: fc.constantFrom<TickStatus>('ok', 'ok', 'stale', 'fault'),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant('feedback' as const),
      feedback: fc.constantFrom('true' as const, ...FEEDBACKS),
    }),
  },
  { weight: 1, arbitrary: fc.constant({ kind: 'neighbour' as const }) },
);

/** An operator that drives a judged robot, correctly or not. */
class Driving {
  readonly driver: JudgedDriver;
  readonly bench: Bench;
  #engagement = 0;
  #commandedRad: number[];

  constructor(rig: Rig) {
    this.driver = new JudgedDriver(rig.model, allowed(rig));
    this.bench = new Bench(this.driver, rig.model, rig.options);
    this.#commandedRad = [...this.driver.measured];
    this.bench.supervisor.operatorJoined(true, this.bench.nowNs);
    this.ticks(30, 5);
    this.bench.supervisor.arm(this.bench.nowNs);
  }

  ticks(count: number, ms: number): void {
    for (let n = 0; n < count; n++) this.bench.tick(ms);
  }

  /** Starts at the measured pose if the robot is not following, then moves at shares of the top speeds. */
  drive(
    { commands, everyMs, shares, lateMs }: Extract<Step, { kind: 'drive' }>,
    joints: readonly JudgedJoint[],
  ): void {
    const { bench } = this;
    for (let n = 0; n < commands; n++) {
      if (bench.state !== 'engaged') {
        this.#engagement = bench.supervisor.endedEngagement + 1;
        this.#commandedRad = [...bench.supervisor.reading.positionsRad];
      }
      bench.tick(everyMs);
      const moved = this.#commandedRad.map((rad, i) => {
        const { minRad, maxRad, maxVelocityRadS } = joints[i]!;
        const next = rad + (shares[i % shares.length]! * maxVelocityRadS * everyMs) / 1e3;
        return Math.max(minRad - 0.09, Math.min(maxRad + 0.09, next));
      });
      const command = bench.command({ engagement: this.#engagement }, moved);
      bench.supervisor.observe(command, bench.nowNs);
      if (bench.supervisor.submit(command, bench.nowNs, 0, bench.nowNs - lateMs * 1e6) === null)
        this.#commandedRad = moved;
    }
  }

  perform(step: Step, joints: readonly JudgedJoint[]): void {
    const { bench, driver } = this;
    const { supervisor } = bench;
    const at = bench.nowNs;
    if (step.kind === 'drive') this.drive(step, joints);
    else if (step.kind === 'ticks') this.ticks(step.count, step.ms);
    else if (step.kind === 'driver') driver[step.what] = step.status;
    else if (step.kind === 'feedback') driver.feedback = step.feedback;
    else if (step.kind === 'neighbour') supervisor.neighbourSilent(at);
    else if (step.kind === 'restart') this.restart();
    else if (step.kind === 'release')
      bench.send(
        step.how === 'tracking'
          ? { tracking: false }
          : { engagement: step.how === 'clutch' ? 0 : this.#engagement + 1 },
      );
    else if (step.kind === 'command') this.rubbish(step);
    else this.desk(step.action);
  }

  rubbish({ offsetRad, engagement, epoch, seq, ageMs }: Extract<Step, { kind: 'command' }>): void {
    const { bench } = this;
    bench.send(
      {
        engagement: Math.max(0, bench.supervisor.endedEngagement + engagement),
        epoch: bench.supervisor.epoch + epoch,
        seq: bench.seq + seq,
        sampledRobotNs: bench.nowNs - ageMs * 1e6,
      },
      Array.from(this.driver.measured, (rad) => rad + offsetRad),
    );
  }

  desk(action: (typeof DESK)[number]): void {
    const { supervisor, nowNs } = this.bench;
    if (action === 'arm') supervisor.arm(nowNs);
    else if (action === 'disarm') supervisor.disarm(nowNs);
    else if (action === 'estop') supervisor.estop('test', nowNs);
    else if (action === 'reset') supervisor.reset(supervisor.epoch, nowNs);
    else if (action === 'lost') supervisor.operatorLost(nowNs);
    else if (action === 'left') supervisor.operatorLeft(nowNs);
    else supervisor.operatorJoined(action === 'joined', nowNs);
  }

  /** Recovers from any state as fast as possible. */
  restart(): void {
    const { driver, bench } = this;
    driver.readStatus = driver.writeStatus = driver.enableStatus = 'ok';
    driver.feedback = 'true';
    bench.tick(0);
    this.desk('reset');
    if (bench.state === 'disconnected') this.desk('rejoined');
    this.desk('arm');
  }
}

describe('limits between any two targets', () => {
  it('hold when the clutch is pressed again while the target still brakes', () => {
    for (let ticks = 0; ticks <= 60; ticks++) {
      const rig = { name: 'an arm', model: sixJoints, options: {}, runs: 0 };
      const joints = allowed(rig);
      const driving = new Driving(rig);
      const drive = { kind: 'drive', everyMs: 5, lateMs: 0 } as const;
      driving.drive({ ...drive, commands: 160, shares: [0.51] }, joints);
      assert.equal(driving.bench.state, 'engaged');
      driving.bench.send({ engagement: 0 });
      assert.equal(driving.bench.state, 'hold');
      driving.ticks(ticks, 5);
      driving.drive({ ...drive, commands: 40, shares: [0] }, joints);
      assert.equal(driving.bench.state, 'engaged', `following again after ${ticks} ticks`);
      assert.ok(driving.driver.judge.worst[1]! > 0.5, 'it was moving');
    }
  });

  for (const rig of RIGS)
    it(`hold through any events and commands, at any times: ${rig.name}`, () => {
      const joints = allowed(rig);
      const seen = { judged: 0, engagements: 0, again: 0, worst: [0, 0, 0] };
      fc.assert(
        fc.property(fc.array(step, { minLength: 5, maxLength: 40 }), (steps) => {
          const driving = new Driving(rig);
          const { bench, driver } = driving;
          for (const one of steps) driving.perform(one, joints);
          assert.equal(bench.counters.get('limit-breach'), 0, bench.supervisor.cause);
          seen.judged += driver.judge.judged;
          seen.engagements += bench.transitions.filter(({ to }) => to === 'engaged').length;
          seen.again += bench.transitions.filter(
            ({ from, to }) => from === 'hold' && to === 'engaged',
          ).length;
          seen.worst = seen.worst.map((share, k) => Math.max(share, driver.judge.worst[k]!));
        }),
        { numRuns: rig.runs },
      );
      const text = JSON.stringify(seen);
      assert.ok(seen.judged > 5000 && seen.engagements > 100 && seen.again > 20, `too few cases: ${text}`);
      assert.ok(
        seen.worst.every((share, k) => share > (k === 0 ? 0.2 : 0.9)),
        `limits hardly reached: ${text}`,
      );
    });
});
