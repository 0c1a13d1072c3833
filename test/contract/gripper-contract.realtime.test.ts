import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { loadPlugin, ownPluginNames } from '../../src/app/registry.ts';
import type { GripperPlugin } from '../../src/robot/gripper.ts';
import { GripperBench, testGripper } from '../../src/testing/gripper-contract.ts';
import { GRIPPERS } from './gripper-fixtures.ts';

const plugins = new Map<string, GripperPlugin<unknown>>();
for (const name of ownPluginNames('gripper')) plugins.set(name, await loadPlugin('gripper', name));

it('grippers are all in this suite', () => {
  assert.deepEqual([...new Set(GRIPPERS.map(({ plugin }) => plugin))].sort(), [...plugins.keys()]);
});

describe('grippers and their devices', { concurrency: GRIPPERS.length }, () => {
  for (const fixture of GRIPPERS) testGripper(fixture.name, plugins.get(fixture.plugin)!, fixture);
});

describe('Robotiq’s faults', { concurrency: 2 }, () => {
  const bench = new GripperBench('robotiq-2f', plugins.get('robotiq-2f')!, GRIPPERS[0]!);
  it('are reported at once', async () => {
    await bench.with(async (hand, device) => {
      assert.equal(await hand.enable(), 'ok');
      device.tell!('fault');
      for (let i = 0; i < 40 && hand.gripper.fault === ''; i++) await hand.run(50, 0.5);
      assert.match(hand.gripper.fault, /overcurrent/);
      assert.equal(await hand.enable(), 'fault', 'not before it is cleared');
    });
  });

  it('a gripper that is not activated is not moved without permission', async () => {
    const { startSimProcess } = await import('./sim-process.ts');
    const sim = await startSimProcess(['robotiq-2f', '--port', '0', '--reset']);
    const socketPort = Number(/port (\d+)/.exec(sim.ready)![1]);
    const armHost = '127.0.0.1';
    try {
      const careful = await bench.open({ armHost, options: { socketPort } });
      try {
        assert.equal(await careful.enable(), 'fault');
        assert.match(careful.gripper.fault, /activate=true/);
      } finally {
        careful.gripper.dispose();
      }
      const bold = await bench.open({ armHost, options: { socketPort, activate: true } });
      try {
        assert.equal(await bold.enable(), 'ok', bold.gripper.fault);
        await bold.reach(0.4);
      } finally {
        bold.gripper.dispose();
      }
    } finally {
      await sim.stop();
    }
  });
});
