import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import * as roslib from 'roslib';
import { DualArm } from '../../sim/vlai-l1/dual-arm.ts';
import { openRosNode } from '../../sim/vlai-l1/ros-node.ts';
import { RosbridgeServer } from '../../sim/vlai-l1/rosbridge-server.ts';
import { loadPlugin, pluginConfig } from '../../src/app/registry.ts';
import { TeleopError } from '../../src/core/errors.ts';
import { monotonicClock } from '../../src/core/time/clock.ts';
import { stateOf } from '../../src/robot/drivers/vlai-l1/rosbridge-topics.ts';
import { Arm } from '../../src/testing/driver-bench.ts';
import { freeUdpPorts } from '../../src/wire/transports/free-ports.ts';
import { fixtureModel } from '../contract/driver-fixture.ts';

const STEP_MS = 5;
let nextDomainId = 100 + (process.pid % 100);

/** The parts of roslib used here; its declarations do not resolve from an ES module. */
interface Roslib {
  Ros: new (options: {
    url: string;
  }) => { on(event: string, listener: (value: unknown) => void): void; close(): void };
  Topic: new (
    options: object,
  ) => { subscribe(listener: (message: State) => void): void; publish(message: object): void };
  Service: new (
    options: object,
  ) => {
    callService(request: object, done: (answer: unknown) => void, failed: (why: string) => void): void;
  };
}
type State = { name: string[]; position: number[] };
const { Ros, Topic, Service } = roslib as unknown as Roslib;

const near = (actual: readonly number[], expected: readonly number[], byRad: number): void => {
  for (const [i, rad] of expected.entries())
    assert.ok(Math.abs(actual[i]! - rad) <= byRad, `joint ${i + 1}: ${actual[i]} is not ${rad}`);
};

/** The vendor's node with both arms, in this process, over either transport. */
async function withDual(
  via: 'ros2' | 'rosbridge',
  work: (
    dual: DualArm,
    open: (more?: object, side?: 'right' | 'left') => Promise<Arm>,
    server: RosbridgeServer | null,
  ) => Promise<void>,
): Promise<void> {
  const dual = new DualArm();
  const domainId = nextDomainId++;
  const server = via === 'rosbridge' ? await RosbridgeServer.open(dual, 0) : null;
  const node = via === 'ros2' ? await openRosNode(dual, domainId) : null;
  const ticker = setInterval(() => {
    dual.advance(STEP_MS / 1000);
    server?.publish();
    node?.publish();
  }, STEP_MS);
  const arms: Arm[] = [];
  const open = async (more: object = {}, side: 'right' | 'left' = 'right'): Promise<Arm> => {
    const model = fixtureModel(`vlai-l1-${side}`);
    const plugin = await loadPlugin('driver', 'vlai-l1');
    const ros = { domainId, url: `ws://127.0.0.1:${server?.port ?? 1}`, feedbackTimeoutMs: 2000, ...more };
    const config = pluginConfig('driver', 'vlai-l1', plugin, { via, side, ros });
    const arm = new Arm(await plugin.open(config, model, monotonicClock), model, true);
    arms.push(arm);
    await arm.settle();
    return arm;
  };
  try {
    await work(dual, open, server);
  } finally {
    for (const arm of arms) arm.driver.dispose();
    clearInterval(ticker);
    server?.close();
    await node?.close();
  }
}

describe('VLAI L1 through its ROS 2 node', { concurrency: 6 }, () => {
  for (const via of ['rosbridge', 'ros2'] as const)
    it(`${via}: holds, moves one arm without the other, stops`, async () => {
      await withDual(via, async (dual, open) => {
        const arm = await open();
        const rest = arm.read();
        const other = [...dual.arms.left.positionsRad];
        assert.ok(!dual.arms.right.wasCommanded, 'opening commands nothing');
        assert.equal(await arm.enable(), 'ok');
        await arm.run(100);
        near(arm.read(), rest, 1e-6);
        assert.deepEqual(dual.grippers, [0, 0], 'grippers stay unchanged');
        const goal = arm.shifted(rest, 0.2);
        await arm.run(500, goal);
        near([...dual.arms.right.positionsRad], goal, 0.01);
        assert.deepEqual([...dual.arms.left.positionsRad], other);
        assert.ok(Math.abs(dual.grippers[1]! - -0.5236) < 1e-6, 'half open');
        arm.driver.stop(arm.nowNs);
        const held = await arm.run(200, arm.shifted(goal, 0.5));
        near(held, goal, 0.05);
        assert.equal(arm.driver.fault, '');
        assert.equal(dual.rejected, 0);
        assert.equal(dual.homed, 0, 'never uses the homing service, which ignores our limits');
        assert.ok(dual.chassis.includes('stop'));
      });
    });

  for (const via of ['rosbridge', 'ros2'] as const)
    it(`${via}: two processes drive both arms, one of them publishes for both`, async () => {
      await withDual(via, async (dual, open) => {
        const [one = 0, two = 0] = await freeUdpPorts(2);
        const [right, left] = await Promise.all([
          open({ partner: { port: one, otherPort: two, speaks: true, timeoutMs: 500 } }),
          open({ partner: { port: two, otherPort: one, speaks: false, timeoutMs: 500 } }, 'left'),
        ]);
        const rest = { right: right.read(), left: left.read() };
        const both = (ms: number, toRight: number[] | null, toLeft: number[] | null) =>
          Promise.all([right.run(ms, toRight, false), left.run(ms, toLeft, false)]);
        await both(50, null, null);
        assert.ok(!dual.arms.right.wasCommanded && !dual.arms.left.wasCommanded, 'neither is enabled');
        assert.deepEqual(await Promise.all([left.enable(), both(60, null, null)]).then(([a]) => a), 'ok');
        const leftGoal = left.shifted(rest.left, 0.15);
        await both(500, null, leftGoal);
        near([...dual.arms.left.positionsRad], leftGoal, 0.02);
        near([...dual.arms.right.positionsRad], rest.right, 1e-6);
        assert.equal(await right.enable(), 'ok');
        const rightGoal = right.shifted(rest.right, 0.1);
        await both(500, rightGoal, leftGoal);
        near([...dual.arms.right.positionsRad], rightGoal, 0.02);
        near([...dual.arms.left.positionsRad], leftGoal, 0.02);
        left.driver.stop(left.nowNs);
        await both(100, rightGoal, left.shifted(leftGoal, 0.3));
        near([...dual.arms.left.positionsRad], leftGoal, 0.02);
        assert.equal(await Promise.all([left.enable(), both(60, rightGoal, null)]).then(([a]) => a), 'ok');
        right.driver.dispose();
        await left.run(800, leftGoal, false);
        assert.match(left.driver.fault, /publishes for both, is silent/);
        near([...dual.arms.left.positionsRad], leftGoal, 0.02);
      });
    });

  it('reports a fault when the server goes, and reconnects with it', async () => {
    await withDual('rosbridge', async (dual, open, server) => {
      const arm = await open();
      assert.equal(await arm.enable(), 'ok');
      const { port } = server!;
      server!.close();
      await arm.run(100, null, false);
      assert.match(arm.driver.fault, /closed the connection/);
      assert.notEqual(await arm.enable(), 'ok');
      const again = await RosbridgeServer.open(dual, port);
      const ticker = setInterval(() => again.publish(), STEP_MS);
      await arm.run(900, null, false);
      assert.equal(await arm.enable(), 'ok');
      clearInterval(ticker);
      again.close();
    });
  });

  it('counts and ignores invalid joint states', async () => {
    await withDual('rosbridge', async (_dual, open, server) => {
      const arm = await open();
      const rest = arm.read();
      const topic = '/xarm_right/joint_states';
      const names = Array.from({ length: 7 }, (_, i) => `xarm_joint${i + 1}`);
      const bad = [
        'no json',
        '[1]',
        JSON.stringify({ op: 'publish', topic: '/other', msg: {} }),
        JSON.stringify({ op: 'publish', topic, msg: { name: names, position: [1, 2] } }),
        JSON.stringify({ op: 'publish', topic, msg: { name: names, position: Array(7).fill('1') } }),
        JSON.stringify({ op: 'publish', topic, msg: { name: ['a'], position: [1] } }),
        JSON.stringify({ op: 'publish', topic, msg: null }),
      ];
      for (const text of bad) server!.broadcast(text);
      await arm.run(50);
      assert.equal(arm.driver.busErrors, bad.length);
      near(arm.read(), rest, 1e-9);
      assert.equal(stateOf({ name: [], position: Array(65).fill(0) }), null);
    });
  });

  it('reports what is missing without joint states or without a server', async () => {
    await withDual('rosbridge', async (_dual, open) => {
      const silent = (pattern: RegExp) => (error: unknown) =>
        error instanceof TeleopError && error.code === 'robot-silent' && pattern.test(error.message);
      const connectTimeoutMs = 200;
      await assert.rejects(
        () => open({ rightStateTopic: '/nobody', connectTimeoutMs }),
        silent(/no message on \/nobody/),
      );
      await assert.rejects(
        () => open({ jointNames: [...'abcdefg'], connectTimeoutMs }),
        silent(/joint-missing/),
      );
      await assert.rejects(
        () => open({ url: 'ws://127.0.0.1:1' }),
        (error) => error instanceof TeleopError && error.code === 'robot-unreachable',
      );
    });
  });

  it('roslib’s client works with the simulated server', async () => {
    const dual = new DualArm();
    const server = await RosbridgeServer.open(dual, 0);
    const ros = new Ros({ url: `ws://127.0.0.1:${server.port}` });
    try {
      await new Promise<void>((resolve, reject) => {
        ros.on('connection', () => resolve());
        ros.on('error', reject);
      });
      const state = new Topic({
        ros,
        name: '/xarm_left/joint_states',
        messageType: 'sensor_msgs/msg/JointState',
      });
      const received = new Promise<{ name: string[]; position: number[] }>((resolve) =>
        state.subscribe(resolve),
      );
      const ticker = setInterval(() => server.publish(), STEP_MS);
      const { name, position } = await received;
      clearInterval(ticker);
      assert.equal(name[0], 'xarm_joint1');
      assert.deepEqual(position, [...dual.arms.left.positionsRad]);
      const joints = new Topic({
        ros,
        name: '/dual_xarm/joints',
        messageType: 'std_msgs/msg/Float64MultiArray',
      });
      joints.publish({ layout: { dim: [], data_offset: 0 }, data: Array(14).fill(0.1) });
      const home = new Service({ ros, name: '/robot_go_home', serviceType: 'std_srvs/srv/Trigger' });
      const answer = await new Promise<unknown>((resolve, reject) =>
        home.callService({}, resolve, (error) => reject(new Error(error))),
      );
      assert.deepEqual(answer, { success: true, message: '' });
      assert.ok(dual.arms.left.wasCommanded && dual.homed === 1 && dual.rejected === 0);
    } finally {
      ros.close();
      server.close();
    }
  });
});
