import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { controlScript } from '../../src/robot/drivers/ur/script.ts';
import { Arm } from './arm.ts';
import { MODE, SAFETY, UrController } from './controller.ts';
import { UrProgram } from './program.ts';
import { parseProgram } from './urscript/parse.ts';
import { ScriptError } from './urscript/syntax.ts';

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
  it('goes through off, booting, idle and running, and accepts no program before', () => {
    const controller = new UrController('cb3');
    const program = () => new UrProgram('def idle():\n  sync()\nend\n', () => {});
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

  it('makes a protective stop when a target is too far away, and unlocks five seconds later', () => {
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

  it('executes a program, and reports what a controller would reject', () => {
    const messages: string[] = [];
    const run = (...lines: string[]) => {
      messages.length = 0;
      const controller = running();
      controller.play(
        new UrProgram(['def p():', ...lines, 'end', ''].join('\n'), (text) => messages.push(text)),
      );
      steps(controller, 0.1);
      return messages.join();
    };
    assert.equal(
      run('a = 2 + 3 * 4', 'if a == 14 and not a < 3:', 'textmsg("yes")', 'end'),
      'program message: yes',
    );
    assert.equal(run('l = [1, 2]', 'm = l', 'textmsg(m[1] - -1.5)'), 'program message: 3.5');
    assert.match(run('while True:', 'a = 1', 'end'), /never waits/);
    assert.match(run('textmsg(a)'), /a has no value/);
    assert.match(run('popup("x")'), /no function popup/);
    assert.match(run('a = [1][1]'), /out of range/);
    assert.match(run('enter_critical', 'sync()', 'exit_critical'), /critical/);
    assert.match(run('servoj([0, 0, 0, 0, 0, 0], t=0.008, lookahead_time=0.5, gain=300)'), /lookahead_time/);
    assert.match(
      run('x = 1', 'thread t():', 'textmsg(x)', 'end', 'h = run t()', 'sync()', 'sync()'),
      /x has no value/,
      'a thread sees globals only',
    );
    assert.match(
      run('global x = 1', 'thread t():', 'x = 2', 'end', 'h = run t()', 'sync()', 'sync()', 'textmsg(x)'),
      /program message: 2/,
    );
  });

  it('parses our control program, and rejects a truncated one', () => {
    assert.equal(parseProgram(script).name, 'farhand');
    const lines = script.split('\n');
    const ends = lines.flatMap((line, i) => (line.trim() === 'end' ? [i] : []));
    for (const i of ends)
      assert.throws(() => parseProgram(lines.filter((_, at) => at !== i).join('\n')), ScriptError);
    assert.throws(() => parseProgram(script.replace('fh_missed + 1', 'fh_missed + ')), /line \d+/);
  });

  it('follows a moving target with the lookahead’s lag, within its speed limit', () => {
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
