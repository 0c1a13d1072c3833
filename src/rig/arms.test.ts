import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { TeleopError } from '../core/errors.ts';
import { armRigs, oneArm } from './arms.ts';
import { loadRig, rigNames } from './rig.ts';
import { loadModel } from './robot-models.ts';

const two = (...overrides: string[]) => loadRig('two-arms', overrides).config;
const fails = (run: () => unknown, message: RegExp) =>
  assert.throws(
    run,
    (error) => error instanceof TeleopError && message.test(error.message) && error.hint !== '',
  );

describe('rigs of two arms', () => {
  it('a rig without arms is its own only arm', () => {
    const { config } = loadRig('demo', []);
    assert.deepEqual(armRigs(config), [{ side: null, rig: config }]);
  });

  it('each arm is a complete rig: its own settings over the common ones, its own ports and hand', () => {
    const [left, right] = armRigs(two('robot.speedPercent=40', 'arms.left.robot.speedPercent=20'));
    assert.deepEqual([left!.side, right!.side], ['left', 'right']);
    assert.deepEqual([left!.rig.robot.speedPercent, right!.rig.robot.speedPercent], [20, 40]);
    assert.deepEqual([left!.rig.link.commandPort, right!.rig.link.commandPort], [4770, 4750]);
    assert.deepEqual([left!.rig.handedness, right!.rig.handedness], ['left', 'right']);
    assert.deepEqual([left!.rig.arms, left!.rig.trace.dir], [null, 'traces/left']);
  });

  it('each arm knows where the other one stands', () => {
    const [left, right] = armRigs(two());
    assert.deepEqual(left!.rig.robot.pair?.baseXyzM, [0, -0.7, 0]);
    assert.deepEqual(right!.rig.robot.pair?.baseXyzM, [0, 0.7, 0]);
    assert.equal(left!.rig.robot.pair?.port, right!.rig.robot.pair?.otherPort);
    for (const { rig } of armRigs(two('arms.apart=true'))) assert.equal(rig.robot.pair, null);
  });

  it('rejects two machines without a statement that the arms cannot meet', () => {
    const far = 'arms.left.link.robotHost=192.168.1.20';
    fails(() => armRigs(two(far)), /two machines/);
    assert.equal(armRigs(two(far, 'arms.apart=true'))[0]!.rig.link.robotHost, '192.168.1.20');
  });

  it('names what is wrong with the settings of an arm', () => {
    fails(() => armRigs(two('arms.left.robot.speedPercent=400')), /robot\.speedPercent.*arms\.left/);
    fails(() => armRigs(two('arms.left.robot.sped=4')), /unknown setting "robot.sped" \(from arms\.left\)/);
    fails(() => armRigs(two('link.transport=websocket')), /link\.transport=udp/);
    fails(() => oneArm(two(), 'middle'), /no arm "middle"/);
    fails(() => oneArm(loadRig('demo', []).config, 'left'), /no arm "left"/);
  });

  it('every shipped rig of two arms has models, different ports and different buses', () => {
    const rigs = rigNames().map((name) => loadRig(name, []).config);
    const pairs = rigs.filter(({ arms }) => arms !== null);
    assert.ok(pairs.length >= 5);
    for (const rig of pairs) {
      const [left, right] = armRigs(rig);
      for (const { rig } of [left!, right!]) loadModel(rig.model);
      assert.notEqual(left!.rig.link.commandPort, right!.rig.link.commandPort);
      if (rig.robot.driver !== 'sim')
        assert.notDeepEqual(left!.rig.robot.options, right!.rig.robot.options, rig.name);
      assert.notEqual(left!.rig.robot.pair, null, `${rig.name} keeps the arms apart`);
    }
  });
});
