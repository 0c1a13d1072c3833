import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Counters } from '../core/counters.ts';
import type { ArmMapper } from '../mapping/arm-mapper.ts';
import { emptyHandSample } from '../messages/hand-sample.ts';
import { loadModel } from '../rig/robot-models.ts';
import { CommandSource, type IssuedCommand } from './command-source.ts';
import { Homing } from './homing.ts';
import { RobotView } from './robot-view.ts';
import type { SampledHand } from './sampler.ts';

const model = loadModel('ur3');
const TICK_NS = 1e7;

/** A command source with a robot armed at home, and a mapper with scripted results. */
function set() {
  const robot = new RobotView(6);
  Object.assign(robot.state, { state: 'armed', gripper: 0.25, epoch: 3 });
  robot.state.positionsRad.set(model.homeRad);
  const answer = { status: 'ok' as ReturnType<ArmMapper['map']>, addRad: 0 };
  const mapper: ArmMapper = {
    filterDelayNs: 12e6,
    engage: () => 'ok',
    map(_hand, outRad) {
      if (answer.status === 'ok' || answer.status === 'clamped')
        for (let i = 0; i < 6; i++) outRad[i] = model.homeRad[i]! + answer.addRad;
      return answer.status;
    },
    release: () => {},
  };
  const counters = new Counters();
  const homing = new Homing(model, { speedRadS: 0.4, speedFraction: 1 });
  const parts = { mapper, homing, robot, counters, joints: 6, session: 9, restartInput: () => {} };
  const commandSource = new CommandSource(parts);
  const sent: IssuedCommand[] = [];
  commandSource.topic.subscribe((command) =>
    sent.push({ ...command, positionsRad: command.positionsRad.slice() }),
  );
  const sample = { ...emptyHandSample(), tracking: true, clutch: true, gripper: 0.5 };
  const hand: SampledHand = {
    arrivedNs: Number.NaN,
    sampledNs: 0,
    sample,
    status: 'ok',
    automatic: false,
    tookOver: false,
    isIntervention: false,
    shadow: emptyHandSample(),
    clutchless: false,
    source: 0,
  };
  const tick = (n = 1): IssuedCommand => {
    for (let i = 0; i < n; i++) {
      hand.sampledNs += TICK_NS;
      robot.receivedNs = hand.sampledNs;
      commandSource.onHand(hand);
    }
    return sent.at(-1)!;
  };
  // The clutch is seen open, then closed.
  sample.clutch = false;
  tick(2);
  sample.clutch = true;
  sent.length = 0;
  return { commandSource, answer, counters, hand, robot, sent, tick };
}

describe('the command source', () => {
  it('keeps its last command while the hand is out of reach, and counts it', () => {
    const { answer, counters, tick } = set();
    answer.addRad = 0.1;
    const before = tick(60);
    assert.equal(before.engagement, 1);
    assert.ok(Math.abs(before.positionsRad[0]! - model.homeRad[0]! - 0.1) < 1e-12);
    answer.status = 'unreachable';
    answer.addRad = 5;
    for (let i = 1; i <= 30; i++) {
      const held = tick();
      assert.deepEqual(held.positionsRad, before.positionsRad);
      assert.equal(held.engagement, 1, 'still engaged: the watchdog is fed');
      assert.equal(counters.get('unreachable'), i);
    }
  });

  it('commands the measured pose when the very first hand is out of reach', () => {
    const { answer, tick } = set();
    answer.status = 'unreachable';
    assert.deepEqual([...tick().positionsRad], model.homeRad);
  });

  it('releases an invalid hand', () => {
    const { answer, commandSource, tick } = set();
    tick(5);
    assert.equal(commandSource.mode, 'teleop');
    answer.status = 'bad-input';
    assert.equal(tick().engagement, 0);
    assert.equal(commandSource.mode, 'hold');
    answer.status = 'ok';
    assert.equal(tick(5).engagement, 0, 'the clutch must be opened first');
  });

  it('follows a new engagement from its first sample: the robot keeps the motion smooth', () => {
    const { answer, sent, tick } = set();
    for (let i = 0; i < 100; i++) {
      answer.addRad = 0.01 * i; // 1 rad/s from the start
      tick();
    }
    const first = sent.map(({ positionsRad }) => positionsRad[0]! - model.homeRad[0]!);
    for (const [i, rad] of first.slice(-100).entries())
      assert.ok(Math.abs(rad - 0.01 * i) < 1e-9, `tick ${i}: ${rad} rad`);
  });

  it('retries a clutchless hand while the joints are being powered, but never after it has moved', () => {
    const { hand, robot, tick } = set();
    hand.clutchless = true;
    Object.assign(robot.state, { state: 'idle' });
    assert.equal(tick().engagement, 0);
    Object.assign(robot.state, { state: 'armed' });
    for (let rejected = 1; rejected < 20; rejected++) {
      assert.equal(tick().engagement, rejected);
      Object.assign(robot.state, { endedEngagement: rejected });
    }
    Object.assign(hand.sample, { tracking: false, clutch: false });
    assert.equal(tick(5).engagement, 0, 'the hand was lost meanwhile');
    Object.assign(hand.sample, { tracking: true, clutch: true });
    assert.equal(tick().engagement, 20);
    Object.assign(robot.state, { state: 'engaged' });
    assert.equal(tick(5).engagement, 20);
    Object.assign(robot.state, { state: 'hold', endedEngagement: 20 });
    assert.equal(tick(50).engagement, 0, 'after a watchdog, the robot must be armed again');
  });

  it('requires a rejected person to open the clutch first', () => {
    const { robot, tick } = set();
    assert.equal(tick().engagement, 1);
    Object.assign(robot.state, { endedEngagement: 1 });
    assert.equal(tick(50).engagement, 0);
  });

  it('reports the filter delay only while a hand is followed', () => {
    const { hand, tick } = set();
    assert.equal(tick(3).filterDelayNs, 12e6);
    hand.sample.clutch = false;
    assert.ok(Number.isNaN(tick().filterDelayNs));
  });

  it('holds when homing failed, even with an automatic input', () => {
    const { hand, commandSource, robot, tick } = set();
    hand.automatic = true;
    tick(5);
    robot.state.state = 'hold';
    robot.state.velocitiesRadS[2] = 1; // never at rest
    commandSource.home(hand.sampledNs);
    assert.equal(tick(200).engagement, 0);
    assert.equal(commandSource.mode, 'home');
    tick(200);
    assert.equal(commandSource.mode, 'hold');
    robot.state.velocitiesRadS[2] = 0;
    assert.equal(tick(100).engagement, 0);
    commandSource.teleop();
    assert.ok(tick(5).engagement > 0);
  });

  it('keeps the gripper while homing, and reports no hand', () => {
    const { hand, commandSource, robot, tick } = set();
    tick(50);
    robot.state.positionsRad[0]! += 0.3;
    hand.status = 'stale';
    assert.equal(commandSource.home(hand.sampledNs), null);
    const under = tick(3);
    assert.equal(commandSource.mode, 'home');
    assert.equal(under.engagement, 2);
    assert.equal(under.tracking, true);
    assert.equal(under.gripper, 0.5, 'as last commanded, not as measured');
    commandSource.stopHoming();
    assert.equal(tick().tracking, false);
  });
});
