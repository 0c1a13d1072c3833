import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { ForceFeedback } from '../../src/leader/force-feedback.ts';
import { OPERATOR_SOCKETS } from '../../src/operator/loop.ts';
import { loadModel } from '../../src/rig/robot-models.ts';
import { peerOf } from '../../src/wire/reactor.ts';
import { xorshift } from '../xorshift.ts';
import { type Hand, HeldLeader, type LeaderJoint, WallDriver } from './felt-wall.ts';
import { MS, SimulatedRig } from './simulated-rig.ts';

const CYCLE_MS = 5;
const WALL_RAD = 0.2;
/** A degree and a half: what a relaxed hand on a leader may creep. */
const STILL_RAD = 0.025;
/** The follower's own stiffness: both sides pull at each other alike. */
const POSITION_NM_PER_RAD = 80;
const LEADER = peerOf('127.0.0.1', 50_000);

interface Kind {
  rig: string;
  joint: LeaderJoint;
  stepRad: number;
  maxNm: number;
  forceGain: number;
  /** From this delay on, position coupling oscillates: with less, saturated torques are too weak for the arm's inertia. */
  positionFromMs: number;
  hands: Record<'soft' | 'firm', Hand>;
}

/** Soft: two relaxed fingers, or a relaxed arm. Firm: a hand with the forearm on the table, or a stiff arm. */
const KINDS: readonly Kind[] = [
  {
    rig: 'dk1',
    // Seven motors of 18 g and as much plastic, 10 cm from the axis on average; the friction of a gear that can be turned by hand.
    joint: { inertia: 0.0025, nmSPerRad: 0.002 },
    stepRad: (2 * Math.PI) / 4096,
    maxNm: 0.1,
    forceGain: 0.02,
    positionFromMs: 0,
    hands: {
      soft: { nmPerRad: 0.4, nmSPerRad: 0.01, inertia: 0.002 },
      firm: { nmPerRad: 5, nmSPerRad: 0.1, inertia: 0.01 },
    },
  },
  {
    // As large as its follower: a tenth of what its motor can give, and a quarter of what the robot meets.
    rig: 'openarm',
    joint: { inertia: 0.12, nmSPerRad: 0.1 },
    stepRad: 25 / 65_535,
    maxNm: 4,
    forceGain: 0.25,
    positionFromMs: 50,
    hands: {
      soft: { nmPerRad: 12, nmSPerRad: 0.3, inertia: 0.1 },
      firm: { nmPerRad: 80, nmSPerRad: 2, inertia: 0.3 },
    },
  },
];

type Coupling = 'passive' | 'bare force' | 'position';

interface Trial {
  /** Swing of the leader in the last two seconds, with the person's aim at rest inside the wall. */
  swingRad: number;
  /** Most energy that the motor gave beyond what it had taken. */
  mostGivenJ: number;
  mostNm: number;
  topRadS: number;
  states: Set<string>;
}

/** One way: the delay, jitter of a quarter of it and 3 ms, and one in twenty lost; then 60 ms of playout. */
async function press(kind: Kind, coupling: Coupling, hand: Hand, delayMs: number, seed = 7): Promise<Trial> {
  const random = xorshift(seed);
  const { maxNm, stepRad, forceGain } = kind;
  const model = loadModel(kind.rig);
  let wall!: WallDriver;
  const rig = await SimulatedRig.create({
    rig: kind.rig,
    overrides: [
      'operator.input=leader',
      'robot.groundZM=null',
      'robot.speedPercent=100',
      'operator.outageHoldS=2',
    ],
    wrapDriver: (_, clock) => {
      wall = new WallDriver(clock, model.homeRad, WALL_RAD);
      return wall;
    },
  });
  rig.impair = () => (random() < 0.05 ? null : (delayMs + (3 + 0.25 * delayMs) * random()) * MS);
  const leader = new HeldLeader(kind.joint, hand, model.homeRad[0]!);
  const force = new ForceFeedback(
    { model, links: [], joints: model.joints.map(() => ({ maxNm, stepRad })) },
    { forceGain, gravityGain: 0 },
  );
  const qRad = Float64Array.from(model.homeRad);
  const view = rig.operator.loop.robot;
  let seenNs = Number.NEGATIVE_INFINITY;
  const trial: Trial = { swingRad: 0, mostGivenJ: 0, mostNm: 0, topRadS: 0, states: new Set() };
  const cycle = (follows: boolean): void => {
    qRad[0] = Math.round(leader.rad / stepRad) * stepRad;
    const text = JSON.stringify({ jointsRad: [...qRad], gripper: 0, clutch: follows });
    const bytes = new TextEncoder().encode(text);
    const nowNs = rig.nowNs;
    // The rig's inputs are rctp (one socket) and leader.
    rig.operator.loop.onDatagram(
      OPERATOR_SOCKETS.firstInput + 1,
      bytes,
      bytes.length,
      LEADER,
      nowNs,
      Number.NaN,
    );
    if (view.receivedNs > seenNs) {
      seenNs = view.receivedNs;
      force.robot({ state: view.state.state, externalNm: [...view.state.externalNm] }, nowNs);
    }
    force.turn(nowNs, qRad, follows);
    const error = view.state.positionsRad[0]! - qRad[0]!;
    const plain =
      coupling === 'position' ? POSITION_NM_PER_RAD * error : forceGain * view.state.externalNm[0]!;
    const isOn = follows && view.state.state === 'engaged';
    leader.torqueNm =
      coupling === 'passive' ? force.torquesNm[0]! : isOn ? Math.max(-maxNm, Math.min(maxNm, plain)) : 0;
    trial.mostNm = Math.max(trial.mostNm, Math.abs(leader.torqueNm));
  };
  const run = (ms: number, follows: boolean, each: () => void = () => {}): void => {
    for (let t = 0; t < ms; t++) {
      if (t % CYCLE_MS === 0) cycle(follows);
      leader.step();
      trial.topRadS = Math.max(trial.topRadS, Math.abs(leader.speed));
      rig.runFor(1);
      each();
    }
  };
  rig.runUntil(() => rig.operator.loop.robot.isFresh(rig.nowNs), 5000);
  rig.ask('arm');
  run(1500, false);
  run(2500, true);
  trial.states.add(rig.state);
  // Presses 0.15 rad deep into the wall within 0.7 s, then keeps the aim there.
  run(700, true, () => {
    leader.aimRad = Math.min(WALL_RAD + 0.15, leader.aimRad + 0.0005);
  });
  run(4000, true);
  let [low, high] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
  run(2000, true, () => {
    low = Math.min(low, leader.rad);
    high = Math.max(high, leader.rad);
    trial.states.add(rig.state);
  });
  trial.swingRad = high - low;
  trial.mostGivenJ = leader.mostGivenJ;
  return trial;
}

/** What a reversal can give away before the filtered speed has followed it: three cycles, one of delay, and an encoder's step. */
const overdraftJ = ({ maxNm, stepRad }: Kind, { topRadS }: Trial): number =>
  maxNm * (4 * topRadS * CYCLE_MS * 1e-3 + stepRad);

for (const kind of KINDS)
  describe(`a wall felt through a leader of ${kind.rig}`, () => {
    const { maxNm, hands } = kind;
    for (const delayMs of [0, 20, 50, 100, 200]) {
      for (const [name, hand] of Object.entries(hands))
        it(`gives a ${name} hand no energy, ${delayMs} ms each way`, async () => {
          const felt = await press(kind, 'passive', hand, delayMs);
          const mostJ = overdraftJ(kind, felt);
          assert.deepEqual([...felt.states], ['engaged']);
          assert.ok(felt.mostGivenJ <= mostJ, `${felt.mostGivenJ} J of ${mostJ}`);
          assert.ok(felt.swingRad < STILL_RAD, `swings by ${felt.swingRad} rad`);
          assert.ok(felt.mostNm > 0.4 * maxNm && felt.mostNm <= maxNm, `${felt.mostNm} N·m`);
        });
      for (const coupling of ['bare force', 'position'] as const) {
        if (coupling === 'position' && delayMs < kind.positionFromMs) continue;
        it(`oscillates with ${coupling}, ${delayMs} ms each way`, async () => {
          const trial = await press(kind, coupling, hands.soft, delayMs);
          assert.ok(trial.swingRad > 2 * STILL_RAD, `swings by ${trial.swingRad} rad`);
          assert.ok(trial.mostGivenJ > 3 * overdraftJ(kind, trial), `${trial.mostGivenJ} J`);
        });
      }
    }
  });
