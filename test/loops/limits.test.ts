import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { peerOf } from '../../src/wire/reactor.ts';
import { xorshift } from '../xorshift.ts';
import { MS, SimulatedRig, TestHand } from './simulated-rig.ts';

const DESK = ['arm', 'disarm', 'estop', 'reset'] as const;
const MODES = ['home', 'hold', 'teleop'] as const;
const INPUTS = ['scripted', 'joints'] as const;

type Step =
  | { kind: 'run'; ms: number }
  | { kind: 'desk'; action: (typeof DESK)[number] }
  | { kind: 'mode'; mode: (typeof MODES)[number] }
  | { kind: 'input'; name: (typeof INPUTS)[number] }
  | { kind: 'targets'; count: number; everyMs: number; shares: readonly number[]; clutch: boolean }
  | { kind: 'network'; delayMs: number; jitterMs: number; lossPercent: number }
  | { kind: 'cut'; ms: number }
  | { kind: 'stall'; role: 'robot' | 'operator'; ms: number; datagramsFirst: boolean }
  | { kind: 'operator' }
  | { kind: 'recover' };

const of = <K extends string, V extends Record<string, unknown>>(
  weight: number,
  kind: K,
  values: { [P in keyof V]: fc.Arbitrary<V[P]> },
) => ({
  weight,
  arbitrary: fc.record({ kind: fc.constant(kind), ...values }) as fc.Arbitrary<{ kind: K } & V>,
});

const step: fc.Arbitrary<Step> = fc.oneof(
  of<'run', { ms: number }>(6, 'run', { ms: fc.constantFrom(1, 7, 40, 200, 900) }),
  of<'desk', { action: (typeof DESK)[number] }>(2, 'desk', { action: fc.constantFrom(...DESK) }),
  of<'mode', { mode: (typeof MODES)[number] }>(4, 'mode', { mode: fc.constantFrom(...MODES) }),
  of<'input', { name: (typeof INPUTS)[number] }>(3, 'input', { name: fc.constantFrom(...INPUTS) }),
  of<'targets', { count: number; everyMs: number; shares: number[]; clutch: boolean }>(6, 'targets', {
    count: fc.integer({ min: 1, max: 40 }),
    everyMs: fc.constantFrom(5, 20, 33, 100),
    shares: fc.array(fc.double({ min: -1.4, max: 1.4, noNaN: true }), { minLength: 1, maxLength: 6 }),
    clutch: fc.constantFrom(true, true, true, false),
  }),
  of<'network', { delayMs: number; jitterMs: number; lossPercent: number }>(2, 'network', {
    delayMs: fc.constantFrom(1, 20, 120),
    jitterMs: fc.constantFrom(0, 5, 80),
    lossPercent: fc.constantFrom(0, 5, 40),
  }),
  of<'cut', { ms: number }>(2, 'cut', { ms: fc.constantFrom(60, 130, 400, 2500) }),
  of<'stall', { role: 'robot' | 'operator'; ms: number; datagramsFirst: boolean }>(3, 'stall', {
    role: fc.constantFrom('robot' as const, 'operator' as const),
    ms: fc.constantFrom(12, 48, 90, 190, 300, 2500),
    datagramsFirst: fc.boolean(),
  }),
  { weight: 1, arbitrary: fc.constant({ kind: 'operator' as const }) },
  { weight: 4, arbitrary: fc.constant({ kind: 'recover' as const }) },
);

/**
 * A robot driven by the scripted hand, by homing, and by a replay or policy, over a network that may be bad.
 */
class Trial {
  readonly rig: SimulatedRig;
  readonly #random = xorshift(7);
  #targetsRad: number[];
  #sessions = 1001;

  constructor(rig: SimulatedRig) {
    this.rig = rig;
    this.#targetsRad = [...rig.model.homeRad];
  }

  async perform(step: Step): Promise<void> {
    const { rig } = this;
    if (step.kind === 'run') rig.runFor(step.ms);
    else if (step.kind === 'desk') rig.ask(step.action);
    else if (step.kind === 'mode') rig.request({ kind: step.mode });
    else if (step.kind === 'input') rig.request({ kind: 'input', name: step.name });
    else if (step.kind === 'targets') this.targets(step);
    else if (step.kind === 'network') this.network(step);
    else if (step.kind === 'cut') this.cut(step.ms);
    else if (step.kind === 'stall') rig.stall(step.role, step.ms, step.datagramsFirst);
    else if (step.kind === 'operator') await rig.startOperator(++this.#sessions);
    else this.recover();
  }

  network({ delayMs, jitterMs, lossPercent }: Extract<Step, { kind: 'network' }>): void {
    this.rig.impair = () =>
      this.#random() * 100 < lossPercent ? null : (delayMs + jitterMs * this.#random()) * MS;
  }

  cut(ms: number): void {
    const { impair } = this.rig;
    this.rig.impair = () => null;
    this.rig.runFor(ms);
    this.rig.impair = impair;
  }

  /** Sends joint targets from the arm's pose, at shares of its joints' top speeds. */
  targets({ count, everyMs, shares, clutch }: Extract<Step, { kind: 'targets' }>): void {
    const { rig } = this;
    if (rig.state !== 'engaged') this.#targetsRad = [...rig.robot.loop.supervisor.reading.positionsRad];
    for (let n = 0; n < count; n++) {
      this.#targetsRad = this.#targetsRad.map((rad, i) => {
        const { minRad, maxRad, maxVelocityRadS } = rig.model.joints[i]!;
        const next = rad + (shares[i % shares.length]! * maxVelocityRadS * everyMs) / 1e3;
        return Math.max(minRad, Math.min(maxRad, next));
      });
      const body = { jointsRad: this.#targetsRad, gripper: 0.5, clutch };
      const bytes = new TextEncoder().encode(JSON.stringify(body));
      rig.network.inject(peerOf('127.0.0.1', 50_000), rig.operator.peers[4]!, bytes);
      rig.runFor(everyMs);
    }
  }

  recover(): void {
    const { rig } = this;
    rig.impair = () => 2 * MS;
    rig.runFor(1500);
    for (const action of ['reset', 'arm'] as const) {
      rig.ask(action);
      rig.runFor(60);
    }
    rig.runFor(300);
    rig.request({ kind: 'teleop' });
  }
}

const OVERRIDES = ['operator.inputs.joints.port=4770', 'operator.autoArm=true'];

describe('limits between any two targets, over the network', () => {
  it('hold for any behaviour of operator, inputs, network and processes', async () => {
    const seen = { judged: 0, engagements: 0, again: 0, stopped: 0, worst: [0, 0, 0] };
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 25 }), async (steps) => {
        const rig = await SimulatedRig.create({ overrides: OVERRIDES });
        const trial = new Trial(rig);
        rig.runFor(300);
        for (const one of steps) await trial.perform(one);
        const { judge } = rig.robot.driver;
        assert.equal(rig.robot.counters.get('limit-breach'), 0);
        seen.judged += judge.judged;
        for (const { from, to } of rig.robot.transitions) {
          if (to === 'engaged') seen.engagements++;
          if (to === 'engaged' && from === 'hold') seen.again++;
          if (to === 'stopped') seen.stopped++;
        }
        seen.worst = seen.worst.map((share, k) => Math.max(share, judge.worst[k]!));
      }),
      { numRuns: 60 },
    );
    const text = JSON.stringify(seen);
    assert.ok(seen.judged > 10_000 && seen.engagements > 40 && seen.again > 5 && seen.stopped > 5, text);
    assert.ok(seen.worst[0]! > 0.2 && seen.worst[1]! > 0.5 && seen.worst[2]! > 0.5, text);
  });
});

describe('a robot process that stalls', () => {
  for (const [ms, state] of [
    [300, 'hold'],
    [2000, 'stopped'],
    [10_000, 'stopped'],
  ] as const)
    for (const datagramsFirst of [true, false])
      it(`for ${ms} ms ends in ${state}, ${datagramsFirst ? 'datagrams' : 'its cycle'} first`, async () => {
        const hand = new TestHand();
        const rig = await SimulatedRig.create({ hand });
        rig.runUntil(() => rig.state === 'armed', 1000);
        rig.runFor(100);
        hand.hand.clutch = true;
        rig.runUntil(() => rig.state === 'engaged', 1000);
        const writes = rig.robot.driver.writes.length;
        rig.stall('robot', ms, datagramsFirst);
        rig.runFor(3000);
        assert.equal(rig.state, state);
        assert.match(rig.robot.loop.supervisor.cause, /^control loop stalled for \d+ ms$/);
        if (state === 'stopped') assert.equal(rig.robot.driver.writes.length, writes);
        assert.equal(rig.operator.loop.robot.state.state, state, 'its operator knows');
      });
});
