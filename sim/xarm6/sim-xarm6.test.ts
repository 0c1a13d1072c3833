import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { ControlBox, ERROR, STEP_S } from './control-box.ts';
import { tcpPose } from './report.ts';

function servoing(): ControlBox {
  const box = new ControlBox();
  box.clearError();
  box.enableMotors(true);
  box.setMode(1);
  box.setState(0);
  return box;
}

describe('simulated xArm6 control box', () => {
  it('has the zero pose given in the manual: 207, 0, 112 mm, tool down', () => {
    const box = new ControlBox();
    box.positionsRad.fill(0);
    const [x, y, z, roll, pitch, yaw] = tcpPose(box);
    for (const [is, wanted] of [
      [x, 207],
      [y, 0],
      [z, 112],
      [Math.abs(roll!), Math.PI],
      [pitch, 0],
      [yaw, 0],
    ])
      assert.ok(Math.abs(is! - wanted!) < 1e-6, `${is} is not ${wanted}`);
  });

  it('servos only with motors on, in mode 1 and state 0', () => {
    const box = new ControlBox();
    const target = box.positionsRad.map((rad) => rad + 0.01);
    assert.ok(!box.servo(target));
    box.setMode(1);
    box.setState(0);
    assert.ok(!box.servo(target), 'motors off');
    box.enableMotors(true);
    box.setState(0);
    assert.ok(box.servo(target));
    for (let s = 0; s < 0.5; s += STEP_S) box.step();
    box.positionsRad.forEach((rad, i) => {
      assert.ok(Math.abs(rad - target[i]!) < 1e-6);
    });
  });

  it('stops with an error on a jump, a limit and the e-stop', () => {
    for (const [wrong, code] of [
      [(box: ControlBox) => box.servo(box.positionsRad.map((rad) => rad + 0.6)), ERROR.speed],
      [
        (box: ControlBox) => box.servo(box.positionsRad.map((rad, i) => (i === 2 ? 0.3 : rad))),
        ERROR.jointLimit,
      ],
      [(box: ControlBox) => box.estop(true), ERROR.estopButton],
    ] as const) {
      const box = servoing();
      wrong(box);
      assert.equal(box.errorCode, code);
      assert.equal(box.state, 4);
      box.setState(0);
      assert.equal(box.state, 4, 'not before the error is cleared');
      box.clearError();
      assert.equal(box.errorCode, code === ERROR.estopButton ? code : 0);
    }
  });
});
