import { loadPlugin, ownPluginNames } from '../../src/app/registry.ts';
import type { DriverPlugin } from '../../src/robot/driver.ts';
import { testRobot } from '../../src/testing/driver-contract.ts';
import { fixtureModel, loadFixture } from './driver-fixture.ts';

for (const name of ownPluginNames('driver')) {
  const fixture = await loadFixture(name);
  const plugin = (await loadPlugin('driver', name)) as DriverPlugin<unknown>;
  testRobot(name, plugin, fixtureModel(fixture?.model ?? 'ur3'), fixture);
}
