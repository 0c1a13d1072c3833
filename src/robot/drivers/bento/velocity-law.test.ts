import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { MAX_SPEEDS, radSPerUnit } from './arm-facts.ts';
import { emptyBrachioplexus, MOTOR } from './brachioplexus-codec.ts';
import { VelocityLaw } from './velocity-law.ts';

const UNIT = radSPerUnit(30);
const law = (sequential = false): VelocityLaw =>
  new VelocityLaw({
    gainPerS: 8,
    deadBandRad: 0.004,
    radSPerUnit: UNIT,
    maxSpeeds: MAX_SPEEDS,
    sequential,
  });
const rad = fc.double({ min: -2, max: 2, noNaN: true });
const pose = fc.array(rad, { minLength: 5, maxLength: 5 }).map((values) => Float64Array.from(values));

describe('the velocity law', () => {
  it('moves toward the target within the speed limits, never with state 3', () => {
    fc.assert(
      fc.property(pose, pose, fc.boolean(), (target, measured, sequential) => {
        const out = emptyBrachioplexus();
        law(sequential).apply(target, measured, out);
        out.states.forEach((state, i) => {
          const error = target[i]! - measured[i]!;
          assert.ok(state === MOTOR.stop || state === (error > 0 ? MOTOR.up : MOTOR.down));
          assert.ok(out.speeds[i]! <= MAX_SPEEDS[i]!);
          assert.equal(out.speeds[i] === 0, state === MOTOR.stop);
          if (!sequential) assert.equal(state === MOTOR.stop, Math.abs(error) <= 0.004);
        });
        const moving = out.states.filter((state) => state !== MOTOR.stop).length;
        if (sequential) assert.ok(moving <= 1);
      }),
    );
  });

  it('arrives and rests, all joints at once or one at a time', () => {
    for (const sequential of [false, true]) {
      const control = law(sequential);
      const target = Float64Array.of(1, -0.5, 0.3, -1.2, 0.8);
      const at = new Float64Array(5);
      const out = emptyBrachioplexus();
      const order: number[] = [];
      for (let beat = 0; beat < 2000; beat++) {
        control.apply(target, at, out);
        const moving = [...out.states.keys()].filter((i) => out.states[i] !== MOTOR.stop);
        if (sequential) assert.ok(moving.length <= 1);
        if (sequential && moving.length === 1 && moving[0] !== order.at(-1)) order.push(moving[0]!);
        for (const i of moving)
          at[i]! += (out.states[i] === MOTOR.up ? 1 : -1) * out.speeds[i]! * UNIT * 0.015;
      }
      for (const [i, goal] of target.entries()) assert.ok(Math.abs(at[i]! - goal) <= 0.004, `joint ${i}`);
      assert.ok(out.states.every((state) => state === MOTOR.stop));
      if (sequential) assert.deepEqual(order, [3, 0, 4, 1, 2], 'largest error first, each until it arrives');
    }
  });

  it('does not chatter within the dead band', () => {
    const control = law();
    const out = emptyBrachioplexus();
    const target = new Float64Array(5);
    for (const error of [0.003, -0.003, 0.0039, -0.0039]) {
      control.apply(target, Float64Array.of(error, 0, 0, 0, 0), out);
      assert.equal(out.states[0], MOTOR.stop);
    }
    control.apply(target, Float64Array.of(-0.005, 0, 0, 0, 0), out);
    assert.equal(out.states[0], MOTOR.up);
    control.apply(target, Float64Array.of(-0.003, 0, 0, 0, 0), out);
    assert.equal(out.states[0], MOTOR.up, 'keeps moving until half the dead band');
    control.apply(target, Float64Array.of(-0.0019, 0, 0, 0, 0), out);
    assert.equal(out.states[0], MOTOR.stop);
  });
});
