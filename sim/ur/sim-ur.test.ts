import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { controlScript } from '../../src/robot/ur/script.ts';
import { Arm } from './arm.ts';
import { MODE, SAFETY, UrController } from './controller.ts';
import { ControlProgram, parseControlScript } from './program.ts';

const steps = (controller: UrController, s: number) => {
  for (let i = 0; i < s / controller.stepS; i++) controller.step(false);
};
function running(): UrController {
  const controller = new UrController('cb3');
  controller.releaseBrake();
  steps(controller, 0.4);
  controller.releaseBrake();
  steps(controller, 0.4);
  return controller;
}

describe('simulated UR controller', () => {
  it('goes off, booting, idle, running, and takes no program before', () => {
    const controller = new UrController('cb3');
    const program = () => new ControlProgram({ ...parseControlScript(script)!, port: 1 }, () => {});
    assert.equal(controller.robotMode, MODE.powerOff);
    assert.ok(!controller.play(program()));
    assert.ok(controller.powerOn());
    assert.equal(controller.robotMode, MODE.booting);
    steps(controller, 0.4);
    assert.equal(controller.robotMode, MODE.idle);
    assert.ok(controller.releaseBrake());
    steps(controller, 0.4);
    assert.equal(controller.robotMode, MODE.running);
    controller.safetyStop(SAFETY.robotEstop);
    assert.equal(controller.robotMode, MODE.powerOff);
    assert.ok(!controller.powerOn(), 'not while the button is pressed');
    controller.release();
    assert.ok(controller.powerOn());
  });

  it('stops protectively when a target is too far away, and unlocks five seconds later', () => {
    const controller = running();
    const away = controller.arm.positionsRad.map((rad) => rad + 1);
    controller.arm.servo({ targetRad: away, lookaheadS: 0.1, gain: 300 });
    steps(controller, 0.02);
    assert.equal(controller.safetyMode, SAFETY.protectiveStop);
    assert.equal(controller.unlockProtectiveStop(), 'too-soon');
    steps(controller, 5.1);
    assert.ok(!controller.arm.moving);
    assert.equal(controller.unlockProtectiveStop(), 'done');
  });

  it('reads the parameters of our program, and of no other', () => {
    const parsed = parseControlScript(script)!;
    assert.equal(parsed.host, '10.0.0.9');
    assert.equal(parsed.lookaheadS, 0.05);
    assert.equal(parsed.extrapolateSteps, 3);
    assert.equal(parsed.maxTimeoutS, 0.2);
    assert.equal(parseControlScript('def other():\n  popup("x")\nend\n'), null);
    assert.equal(parseControlScript(script.replace('fh_gain', 'fh_pain')), null);
  });

  it('follows a moving target with the lag of its lookahead, within its speed', () => {
    const arm = new Arm([0, 0, 0, 0, 0, 0]);
    let target = 0;
    for (let i = 0; i < 250; i++) {
      target += 0.008;
      arm.servo({ targetRad: [target, 0, 0, 0, 0, 0], lookaheadS: 0.1, gain: 300 });
      arm.step(0.008);
      assert.ok(Math.abs(arm.velocitiesRadS[0]!) <= Math.PI);
    }
    assert.ok(Math.abs(target - arm.positionsRad[0]! - 0.1) < 0.01, `${target - arm.positionsRad[0]!}`);
  });
});

const script = controlScript({
  host: '10.0.0.9',
  port: 50001,
  token: 1,
  stepS: 0.008,
  lookaheadS: 0.05,
  gain: 500,
  stopRadS2: 10,
  extrapolateS: 0.024,
  firstFrameS: 2,
  maxStepRadS: 20,
});
