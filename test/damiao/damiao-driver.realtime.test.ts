import assert from 'node:assert/strict';
import { after, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { TeleopError } from '../../src/core/errors.ts';
import { CONTROL_MODE, REGISTER } from '../../src/robot/buses/damiao/frames.ts';
import { needs } from '../needs.ts';
import { until } from '../until.ts';
import { ARMS, DamiaoRig, withRig } from './damiao-rig.ts';

const skip = needs('Linux');
const mismatch = (pattern: RegExp) => (error: unknown) =>
  error instanceof TeleopError && error.code === 'model-mismatch' && pattern.test(error.message);
const near = (actual: number, expected: number, by: number, what = '') =>
  assert.ok(Math.abs(actual - expected) <= by, `${what} ${actual} is not ${expected}`);

after(() => DamiaoRig.endAll());

describe('an arm of Damiao motors', { skip, concurrency: 8 }, () => {
  it('is rejected, naming the motor, if its scale belongs to another type', async () => {
    const limits = { 2: { positionRad: 12.5, velocityRadS: 30, torqueNm: 10 } };
    await withRig('openarm', { limits }, async (rig) => {
      await assert.rejects(() => rig.open(), mismatch(/joint3 should be a DM4340.*VMAX 30.*DM4310/));
      assert.ok(!rig.commands.some((text) => text.endsWith('FC')), 'nothing was enabled');
      const arm = await rig.open({ acceptAnyLimits: true });
      near(arm.read()[2]!, 0, 1e-3, 'scaled by the reported limits');
    });
  });

  it('is rejected if a motor’s limits are invalid, even with acceptAnyLimits', async () => {
    const limits = { 2: { positionRad: 12.5, velocityRadS: 0, torqueNm: 28 } };
    await withRig('openarm', { limits }, async (rig) => {
      await assert.rejects(() => rig.open({ acceptAnyLimits: true }), mismatch(/joint3 .*VMAX 0/));
    });
  });

  it('uses whichever of the two speed ranges a DM4340 reports', async () => {
    const limits = { 2: { positionRad: 12.5, velocityRadS: 8, torqueNm: 28 } };
    await withRig('openarm', { limits }, async (rig) => {
      const arm = await rig.open();
      const goal = arm.shifted(arm.read(), 0.1);
      assert.equal(await arm.enable(), 'ok');
      await arm.run(600, goal);
      near(rig.sim.arm.motors[2]!.positionRad, goal[2]!, 5e-3);
    });
  });

  it('is rejected with a model of other joints, or with a range beyond its motors’', async () => {
    await withRig('openarm', {}, async (rig) => {
      await assert.rejects(() => rig.open({}, 'piper'), mismatch(/7/));
      const offsetsRad = [12, 0, 0, 0, 0, 0, 0];
      await assert.rejects(() => rig.open({ offsetsRad }), mismatch(/joint1 exceeds its motor’s/));
    });
  });

  it('names a motor that does not reply', async () => {
    await withRig('openarm', {}, async (rig) => {
      rig.sim.arm.motors[4]!.mute = true;
      rig.sim.arm.motors[4]!.take = () => null;
      await assert.rejects(
        () => rig.open(),
        (error) =>
          error instanceof TeleopError &&
          error.code === 'robot-silent' &&
          /joint5 \(id 5\)/.test(error.message),
      );
    });
  });

  it('holds when one motor fails, reports which and why, and recovers when enabled', async () => {
    await withRig('openarm', {}, async (rig) => {
      const arm = await rig.open();
      assert.equal(await arm.enable(), 'ok');
      const rest = await arm.run(100);
      rig.sim.arm.motors[5]!.fail(0xb);
      await arm.run(60, arm.shifted(rest, 0.5), false);
      assert.match(arm.driver.fault, /joint6 reports an overheated driver/);
      assert.ok(arm.answers.has('fault'));
      const held = await arm.run(100);
      assert.ok(
        rig.sim.arm.motors.every(({ enabled }, i) => enabled === (i !== 5)),
        'the others hold',
      );
      near(held[0]!, rest[0]!, 0.05, 'and stopped moving');
      assert.equal(await arm.enable(), 'ok');
      assert.equal(arm.driver.fault, '');
      near((await arm.run(100))[0]!, held[0]!, 2e-3);
      assert.deepEqual([...arm.answers], ['ok']);
      assert.ok(rig.sim.arm.allEnabled, 'including the failed one');
      rig.sim.arm.motors[2]!.status = 0;
      await arm.run(60, null, false);
      assert.match(arm.driver.fault, /joint3 lost its power/);
    });
  });

  it('does not touch motors that another host has enabled in another control mode', async () => {
    await withRig('openarm', {}, async (rig) => {
      const motor = rig.sim.arm.motors[3]!;
      motor.registers.set(REGISTER.controlMode, CONTROL_MODE.positionVelocity);
      motor.status = 1;
      const arm = await rig.open();
      assert.equal(await arm.enable(), 'fault');
      assert.match(arm.driver.fault, /joint4 is already enabled in another control mode/);
      await arm.run(150, null, false);
      assert.ok(motor.enabled, 'it may carry the arm');
      assert.ok(
        rig.sim.arm.motors.every(({ enabled }, i) => enabled === (i === 3)),
        'the others lose power again',
      );
    });
  });

  it('reports a motor that goes silent, and the others hold', async () => {
    await withRig('openarm', {}, async (rig) => {
      const arm = await rig.open({ feedbackTimeoutMs: 250 });
      assert.equal(await arm.enable(), 'ok');
      rig.sim.arm.motors[1]!.mute = true;
      for (let i = 0; i < 100 && arm.driver.fault === ''; i++) await arm.run(20, null, false);
      assert.match(arm.driver.fault, /no reply from joint2 for 250 ms/);
      assert.equal(arm.driver.enable(arm.nowNs), 'fault');
      assert.ok(rig.sim.arm.allEnabled);
    });
  });

  it('stays up on stop and on dispose; cuts power only if configured', async () => {
    for (const [onStop, stays] of [
      ['hold', true],
      ['damp', true],
      ['disable', false],
    ] as const)
      await withRig('openarm', {}, async (rig) => {
        const arm = await rig.open({ onStop });
        assert.equal(await arm.enable(), 'ok');
        await arm.run(100, arm.shifted(arm.read(), 0.3));
        await sleep(50); // The last cycle's commands may still be in the terminal.
        rig.sim.tick(performance.now());
        rig.commands.length = 0;
        arm.driver.stop(arm.nowNs);
        await until('the stop at all motors', () => {
          rig.sim.tick(performance.now());
          return rig.commands.length >= 8;
        });
        assert.equal(rig.commands.length, 8, 'one command for each motor');
        assert.equal(rig.sim.arm.allEnabled, stays, `${onStop}, at once`);
        await arm.run(100);
        assert.equal(rig.sim.arm.allEnabled, stays, onStop);
        const kp = Number.parseInt(rig.commands.at(-8)!.slice(-9, -6), 16);
        if (stays) assert.equal(kp === 0, onStop === 'damp', `${onStop}: ${rig.commands.at(-8)}`);
        assert.equal(arm.driver.fault, '');
        arm.driver.dispose();
        await sleep(30);
        assert.equal(rig.sim.arm.allEnabled, stays);
      });
  });

  it('reconnects after its adapter was unplugged, and moves only once enabled', async () => {
    await withRig('openarm', {}, async (rig) => {
      const arm = await rig.open();
      assert.equal(await arm.enable(), 'ok');
      rig.unplug();
      await arm.run(50, null, false);
      assert.match(arm.driver.fault, /is lost/);
      await rig.plugIn();
      await arm.run(500, null, false);
      const rest = arm.read();
      near((await arm.run(100, arm.shifted(rest, 0.3), false))[0]!, rest[0]!, 2e-3);
      assert.ok(
        rig.sim.arm.motors.every(({ enabled }) => !enabled),
        'nothing powered it',
      );
      assert.equal(await arm.enable(), 'ok');
    });
  });

  it('stays inside the model’s range for any target', async () => {
    await withRig('openarm', {}, async (rig) => {
      const arm = await rig.open();
      const goal = arm.read();
      goal[5] = 1.2;
      assert.equal(await arm.enable(), 'ok');
      near((await arm.run(600, goal))[5]!, 0.785398, 0.01);
    });
  });

  it('rejects a target that is not a number and holds', async () => {
    await withRig('openarm', {}, async (rig) => {
      const arm = await rig.open();
      assert.equal(await arm.enable(), 'ok');
      const target = Float64Array.from(arm.read());
      target[3] = Number.NaN;
      assert.equal(arm.driver.write(arm.nowNs, target, 0), 'fault');
      assert.match(arm.driver.fault, /not a number/);
      await arm.run(50, null, false);
      assert.ok(rig.sim.arm.allEnabled);
    });
  });

  it('uses CAN FD or classic CAN as configured', async () => {
    for (const fd of [true, false])
      await withRig('openarm', {}, async (rig) => {
        await rig.open({ fd });
        assert.ok(rig.commands.length > 0);
        assert.ok(rig.commands.every((text) => text.includes('##1') === fd));
      });
  });

  it('follows the model’s signs, whichever way its motors turn', async () => {
    await withRig('openarm', {}, async (rig) => {
      const directions = [-1, 1, 1, 1, 1, 1, 1];
      const arm = await rig.open({ directions, offsetsRad: [0.2, 0, 0, 0, 0, 0, 0] });
      near(arm.read()[0]!, 0.2, 1e-3);
      assert.equal(await arm.enable(), 'ok');
      await arm.run(500, [0.5, ...arm.read().slice(1)]);
      near(rig.sim.arm.motors[0]!.positionRad, -0.3, 5e-3);
    });
  });

  it('does not lag by its damping: the motors receive the target velocity', async () => {
    const lagOf = async (feedForward: boolean): Promise<number> => {
      let lag = 0;
      await withRig('openarm', {}, async (rig) => {
        const arm = await rig.open({ feedForward, kd: [5, 2.5, 2, 2, 0.7, 0.6, 0.5] });
        const target = Float64Array.from(arm.read());
        assert.equal(await arm.enable(), 'ok');
        for (let i = 0; i < 60; i++) {
          await arm.run(5);
          target[0] = target[0]! + 0.005;
          arm.driver.write(arm.nowNs, target, 0);
        }
        lag = target[0]! - rig.sim.arm.motors[0]!.positionRad;
      });
      return lag;
    };
    const [without, withIt] = [await lagOf(false), await lagOf(true)];
    assert.ok(withIt < without / 2, `${withIt} against ${without}`);
  });
});

describe('a VLAI L1 arm over CAN', { skip }, () => {
  it('uses the OpenArm driver with its own settings and gains', async () => {
    await withRig('vlai-l1', {}, async (rig) => {
      const arm = await rig.open();
      const goal = arm.shifted(arm.read(), 0.1);
      assert.equal(await arm.enable(), 'ok');
      near((await arm.run(600, goal))[0]!, goal[0]!, 5e-3);
    });
  });
});

describe('a DK1 follower', { skip, concurrency: 8 }, () => {
  it('homes its gripper to the open end first, then closes it by its stroke', async () => {
    await withRig('dk1', {}, async (rig) => {
      const arm = await rig.open();
      const rest = arm.read();
      const gripper = rig.sim.arm.motors[6]!;
      assert.equal(await arm.enable(), 'ok');
      near(gripper.positionRad, 0.4, 0.01, 'at its end');
      near(arm.read()[1]!, rest[1]!, 2e-3, 'the joints stayed');
      near(arm.reading.gripper, 0, 0.01);
      const target = Float64Array.from(rest);
      for (let i = 0; i < 1000 && gripper.positionRad > 0.41 - 4.7; i++) {
        arm.driver.write(arm.nowNs, target, 1);
        await arm.run(5);
      }
      await arm.run(20);
      near(gripper.positionRad, 0.4 - 4.7, 0.02, 'closed');
      near(arm.reading.gripper, 1, 0.01);
      assert.equal(gripper.registers.get(REGISTER.controlMode), CONTROL_MODE.positionForce);
      arm.driver.stop(arm.nowNs);
      assert.equal(await arm.enable(), 'ok');
      near(gripper.positionRad, 0.4 - 4.7, 0.02, 'homes only once');
    });
  });

  it('moves by the motors’ own position loop if configured', async () => {
    await withRig('dk1', {}, async (rig) => {
      const arm = await rig.open({ control: 'position-velocity', gripper: { homing: false } });
      const goal = arm.shifted(arm.read(), 0.1);
      assert.equal(await arm.enable(), 'ok');
      near((await arm.run(500, goal))[1]!, goal[1]!, 0.005);
      assert.ok(rig.commands.some((text) => text.startsWith('102#')));
    });
  });

  it('rejects settings that contradict each other', async () => {
    await withRig('dk1', {}, async (rig) => {
      const bad = (options: Record<string, unknown>) =>
        assert.rejects(
          () => rig.open(options),
          (error) => error instanceof TeleopError && error.code === 'bad-config',
        );
      await bad({ fd: true });
      await bad({ control: 'position-velocity', onStop: 'damp' });
      await bad({ ids: [1, 2, 3, 4, 5, 5] });
      await bad({ kd: [20, 5, 4, 1, 1, 1] });
      assert.equal(ARMS.dk1.facts.motors.length, 6);
    });
  });
});
