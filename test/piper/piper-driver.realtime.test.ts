import assert from 'node:assert/strict';
import { once } from 'node:events';
import { describe, it } from 'node:test';
import { Worker } from 'node:worker_threads';
import { loadPlugin, pluginConfig } from '../../src/app/registry.ts';
import { TeleopError } from '../../src/core/errors.ts';
import { shortFrame } from '../../src/robot/drivers/piper/frames.ts';
import type { Arm } from '../../src/testing/driver-bench.ts';
import { needs } from '../needs.ts';
import { model, withRig } from './piper-rig.ts';

const START = { startRad: [0.1, 1, -1, 0, 0.3, 0] };
const skip = needs('Linux');

function near(actual: readonly number[], expected: readonly number[], byRad: number): void {
  for (const [i, rad] of expected.entries())
    assert.ok(Math.abs(actual[i]! - rad) <= byRad, `joint ${i + 1}: ${actual[i]} is not ${rad}`);
}

const used = async (arm: Arm, work: () => Promise<void>) => {
  try {
    await work();
  } finally {
    arm.driver.dispose();
  }
};

// Each on an arm of its own, which mostly waits.
describe('Piper driver and its arm', { skip, concurrency: 4 }, () => {
  it('sends mode, joints and gripper in each cycle, at a quarter of the speed', async () => {
    await withRig(START, async (rig) => {
      const arm = await rig.open();
      await used(arm, async () => {
        assert.equal(await arm.enable(), 'ok');
        const enabling = rig.commands.filter((text) => text === '471#0702000000000000');
        assert.ok(enabling.length >= 2, 'repeated until all six reported');
        await arm.run(50);
        rig.commands.length = 0;
        await arm.run(100, START.startRad);
        const cycle = ['151', '155', '156', '157', '159'];
        const ids = rig.commands.map((text) => text.slice(0, 3));
        const from = ids.indexOf('151');
        for (let i = from; i + 5 <= ids.length && i < from + 50; i += 5)
          assert.deepEqual(ids.slice(i, i + 5), cycle);
        assert.ok(ids.length >= 75, `${ids.length} frames in 20 cycles`);
        assert.ok(rig.commands.includes('151#0101190000000000'));
        assert.ok(rig.commands.includes('159#000088B803E80100'), 'half closed is 35 mm');
      });
    });
  });

  it('repeats the last target without new writes, in case a frame was lost', async () => {
    await withRig(START, async (rig) => {
      const arm = await rig.open();
      await used(arm, async () => {
        assert.equal(await arm.enable(), 'ok');
        rig.commands.length = 0;
        await arm.run(300);
        assert.ok(rig.commands.filter((text) => text.startsWith('155#')).length >= 5);
      });
    });
  });

  it('reaches a target in pose mode, where the arm solves for the joints', async () => {
    await withRig(START, async (rig) => {
      const arm = await rig.open({ control: 'pose', speedPercent: 50 });
      await used(arm, async () => {
        const rest = arm.read();
        assert.equal(await arm.enable(), 'ok');
        near(await arm.run(200), rest, 2e-3);
        const goal = [0.25, 1.15, -1.1, 0.05, 0.35, 0.1];
        near(await arm.run(1500, goal), goal, 5e-3);
        assert.ok(rig.commands.some((text) => text.startsWith('152#')));
      });
    });
  });

  it('clamps targets to the model’s range', async () => {
    await withRig(START, async (rig) => {
      const arm = await rig.open({ speedPercent: 100 });
      await used(arm, async () => {
        assert.equal(await arm.enable(), 'ok');
        await arm.run(600, [0.1, -0.5, 0.5, 0, 0.3, 0]);
        assert.equal(arm.driver.fault, '');
        assert.equal(rig.sim.arm.limitBits, 0);
        assert.equal(arm.driver.write(arm.nowNs, new Float64Array(6).fill(Number.NaN), 0), 'fault');
        assert.match(arm.driver.fault, /not a number/);
      });
    });
  });

  it('opens and closes the gripper: 0 is open', async () => {
    await withRig(START, async (rig) => {
      const arm = await rig.open();
      await used(arm, async () => {
        assert.equal(await arm.enable(), 'ok');
        assert.equal(arm.reading.gripper, 1, 'closed at the start');
        const target = Float64Array.from(arm.read());
        for (let i = 0; i < 160; i++) {
          arm.driver.write(arm.nowNs, target, 0);
          await arm.run(5);
        }
        assert.ok(Math.abs(arm.reading.gripper) < 0.01);
        assert.ok(Math.abs(rig.sim.arm.gripperM - 0.07) < 1e-4);
      });
    });
  });

  it('reports an external stop once, and does not end it by itself', async () => {
    await withRig(START, async (rig) => {
      const arm = await rig.open();
      await used(arm, async () => {
        assert.equal(await arm.enable(), 'ok');
        rig.sim.arm.take(shortFrame(0x150, 1));
        await arm.run(100, START.startRad);
        assert.ok(arm.answers.has('fault'));
        assert.equal(arm.driver.fault, 'the arm is in emergency stop');
        rig.commands.length = 0;
        await arm.run(500);
        assert.deepEqual([...arm.answers], ['ok'], 'reported once');
        assert.equal(rig.commands.join(), '');
        assert.equal(await arm.enable(), 'ok');
        assert.equal(arm.driver.fault, '');
        assert.ok(rig.commands.includes('150#0200000000000000'));
      });
    });
  });

  it('reports a missing joint, and cannot be enabled without it', async () => {
    await withRig(START, async (rig) => {
      const arm = await rig.open();
      await used(arm, async () => {
        assert.equal(await arm.enable(), 'ok');
        rig.sim.arm.loseJoint(2);
        await arm.run(100);
        assert.equal(arm.driver.fault, 'the arm lost communication with a joint (joint 3)');
        assert.equal(await arm.enable(), 'fault');
        assert.match(arm.driver.fault, /joint 3/);
      });
    });
  });

  it('does not drop the arm over an unreachable target', async () => {
    await withRig(START, async (rig) => {
      const arm = await rig.open();
      await used(arm, async () => {
        assert.equal(await arm.enable(), 'ok');
        await arm.run(400);
        const { take } = rig.sim.arm;
        rig.sim.arm.take = () => {};
        rig.sim.arm.status = 2;
        await arm.run(50);
        assert.equal(arm.driver.fault, 'the arm found no inverse-kinematics solution for its target pose');
        rig.sim.arm.take = take;
        assert.equal(await arm.enable(), 'ok');
        assert.equal((await arm.run(400)).length, 6);
        assert.equal(arm.driver.fault, '');
        assert.ok(!rig.commands.includes('150#0200000000000000'));
      });
    });
  });

  it('detects a joint without power, and an arm switched to teach mode', async () => {
    await withRig(START, async (rig) => {
      const arm = await rig.open();
      await used(arm, async () => {
        assert.equal(await arm.enable(), 'ok');
        await arm.run(50);
        rig.sim.arm.motion.power(4, false);
        await arm.run(150);
        assert.equal(arm.driver.fault, 'joint 5 lost its power');
        assert.equal(await arm.enable(), 'ok');
        await arm.run(400);
        rig.sim.arm.take = () => {};
        rig.sim.arm.controlMode = 2;
        await arm.run(50);
        assert.equal(arm.driver.fault, 'the arm left CAN control for teach');
      });
    });
  });

  it('reconnects with the adapter, stops the arm, and waits to be enabled', async () => {
    await withRig(START, async (rig) => {
      const arm = await rig.open();
      await used(arm, async () => {
        assert.equal(await arm.enable(), 'ok');
        rig.unplug();
        await arm.run(300, START.startRad, false);
        assert.ok(arm.answers.has('fault') && !arm.answers.has('ok'));
        assert.match(arm.driver.fault, /^slcan .* is lost/);
        rig.commands.length = 0;
        await rig.plugIn();
        await arm.run(1500, START.startRad, false);
        assert.deepEqual(rig.commands, ['150#0100000000000000'], 'only the pending stop');
        assert.notEqual(arm.driver.fault, '', 'until it is enabled');
        assert.equal(rig.sim.arm.motion.allPowered, false);
        assert.equal(await arm.enable(), 'ok');
        assert.equal(arm.driver.fault, '');
      });
    });
  });

  it('switches a leader arm to follower, also behind an adapter that never acknowledges', async () => {
    await withRig({ ...START, leader: true, acknowledges: false }, async (rig) => {
      const arm = await rig.open();
      await used(arm, async () => {
        assert.ok(rig.commands.includes('470#FC00000000000000'));
        near(arm.read(), START.startRad, 1e-4);
      });
    });
  });

  it('rejects a model whose zero does not match the arm’s', async () => {
    await withRig({ ...START, firmware: 'old' }, async (rig) => {
      await assert.rejects(
        () => rig.open(),
        (error) =>
          error instanceof TeleopError &&
          error.code === 'model-mismatch' &&
          error.message.includes('1.5-2') &&
          error.hint.includes('piper-old'),
      );
      const old = structuredClone(model);
      old.joints[1]!.modifiedDh!.thetaRad = (-174.22 * Math.PI) / 180;
      old.joints[2]!.modifiedDh!.thetaRad = (-100.78 * Math.PI) / 180;
      (await rig.open({}, old)).driver.dispose();
      await assert.rejects(() => rig.open({ firmware: 'new' }, old), TeleopError);
    });
  });

  it('reports a silent arm', async () => {
    await withRig(START, async (rig) => {
      rig.sim.tick = () => rig.sim.adapter.poll();
      await assert.rejects(
        () => rig.open(),
        (error) =>
          error instanceof TeleopError && error.code === 'robot-silent' && /no frame/.test(error.message),
      );
    });
  });
});

describe('Piper driver in a worker', { skip }, () => {
  it('works, and the worker ends by itself', async () => {
    await withRig(START, async (rig) => {
      const worker = new Worker(new URL('./driver-in-worker.js', import.meta.url), {
        workerData: `slcan:${rig.link}`,
      });
      const [done, code] = await Promise.all([once(worker, 'message'), once(worker, 'exit')]);
      const { enabled, positionsRad, answers } = done[0] as Record<string, unknown>;
      assert.equal(enabled, 'ok');
      assert.deepEqual(answers, ['ok']);
      near(positionsRad as number[], START.startRad, 2e-3);
      assert.equal(code[0], 0);
    });
  });
});

describe('Piper settings', () => {
  it('reject MIT mode', async () => {
    const plugin = await loadPlugin('driver', 'piper');
    assert.throws(
      () => pluginConfig('driver', 'piper', plugin, { control: 'mit' }),
      (error) => error instanceof TeleopError && /can damage the arm/.test(error.message),
    );
    assert.throws(() => pluginConfig('driver', 'piper', plugin, { bus: 'can0' }), /socketcan:can0/);
  });
});
