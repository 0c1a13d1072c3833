import assert from 'node:assert/strict';
import path from 'node:path';
import { after, before, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { type RoleHandle, startRole } from '../../src/app/role.ts';
import { SnapshotBoard } from '../../src/core/memory/snapshot.ts';
import { monotonicClock } from '../../src/core/time/clock.ts';
import { readRobotBoard } from '../../src/messages/robot-board.ts';
import { loadRig } from '../../src/rig/rig.ts';
import { loadModel } from '../../src/rig/robot-models.ts';
import { DdsNode } from '../../src/robot/buses/dds/node.ts';
import { float64MultiArray, jointState, readMessageOf, ros2Topic } from '../../src/robot/buses/dds/ros2.ts';
import { createKey, writeKeyFile } from '../../src/wire/secure/key-file.ts';
import { freeUdpPorts } from '../../src/wire/transports/free-ports.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { farhand, type Running, startFarhand } from './farhand.ts';
import { FaultRig } from './fault-rig.ts';

const DOMAIN = 60 + (process.pid % 40);
const MODEL = loadModel('ur3');
const NAMES = MODEL.joints.map(({ name }) => name);
const isNear = (a: ArrayLike<number>, b: ArrayLike<number>, byRad: number): boolean =>
  Array.from(a).every((angle, i) => Math.abs(angle - b[i]!) < byRad);

describe('farhand bridge ros2', () => {
  const prefix = `/bridge_${process.pid}`;
  const states: number[][] = [];
  const commands: number[][] = [];
  let rig: FaultRig;
  let bridge: Running;
  let node: DdsNode;

  before(async () => {
    const [port] = await freeUdpPorts(1);
    rig = await FaultRig.start([`console.telemetryPort=${port}`]);
    const settings = { domainId: DOMAIN, interfaceAddress: '127.0.0.1', peers: [], allow: [], name: 'test' };
    node = await DdsNode.open(settings, monotonicClock);
    const qos = { reliable: true };
    node.participant.addReader(ros2Topic(`${prefix}/joint_states`, jointState, qos), ({ payload }) => {
      const message = readMessageOf(jointState, payload)!;
      assert.deepEqual(message.names, NAMES);
      assert.ok(Math.abs(message.stampNs / 1e6 - Date.now()) < 2000, 'wall clock');
      states.push([...Array.from(message.positions)]);
    });
    node.participant.addReader(ros2Topic(`${prefix}/command`, float64MultiArray, qos), ({ payload }) => {
      commands.push([...Array.from(readMessageOf(float64MultiArray, payload)!.data)]);
    });
    node.start();
    const where = ['--domain', String(DOMAIN), '--prefix', prefix];
    bridge = startFarhand(['bridge', 'ros2', ...where, `console.telemetryPort=${port}`]);
    await bridge.waitFor(/bridge: .*joint_states/);
  });
  after(async () => {
    await bridge.end();
    await node.close();
    await rig.close();
  });

  it('publishes what the robot measures and what the operator commands, about 30 times a second', async () => {
    assert.ok(await node.until(() => states.length > 0 && commands.length > 0, 5000), bridge.stderr());
    const [s, c] = [states.length, commands.length];
    await sleep(2000);
    for (const count of [states.length - s, commands.length - c])
      assert.ok(count > 35 && count < 75, `${count} in 2 s`);
    assert.ok(isNear(states.at(-1)!, rig.last.measuredRad, 0.1));
    assert.ok(isNear(commands.at(-1)!, rig.last.measuredRad, 0.3));
    const moved = states.map((pose) => pose[0]!);
    assert.ok(Math.max(...moved) - Math.min(...moved) > 0.01, 'it moves');
  });

  it('publishes nothing without data', async () => {
    await rig.operator.end();
    await sleep(300);
    const [s, c] = [states.length, commands.length];
    await sleep(700);
    assert.deepEqual([states.length, commands.length], [s, c]);
  });

  it('rejects unknown arguments', async () => {
    for (const args of [
      ['ros1'],
      ['ros2', '--domain', '999'],
      ['ros2', '--interface', 'eth0'],
      ['ros2', '--prefix', 'a b'],
    ]) {
      const { code, stderr } = await farhand(['bridge', ...args]);
      assert.equal(code, 2, args.join(' '));
      assert.match(stderr, /bad-option/);
    }
  });
});

describe('a robot behind a ROS 2 node', () => {
  const prefix = `/node_${process.pid}`;
  let node: Running;
  let robot: RoleHandle;
  let operator: Running;
  const seen: { state: string; cause: string; measuredRad: ArrayLike<number> }[] = [];
  let sampler: NodeJS.Timeout;

  before(async () => {
    const folder = temporaryFolder();
    const keyFile = path.join(folder, 'test.key');
    writeKeyFile(keyFile, { name: 'test', key: createKey(), createdAt: '2026-01-01T00:00:00Z' });
    const ports = await freeUdpPorts(5);
    const keys = [
      'link.commandPort',
      'link.statePort',
      'link.syncPort',
      'console.deskPort',
      'console.telemetryPort',
    ];
    const common = [
      `link.keyFile=${keyFile}`,
      `trace.dir=${folder}`,
      ...keys.map((key, i) => `${key}=${ports[i]}`),
    ];
    const joints = ['--joints', NAMES.join(), `--start=${MODEL.homeRad.join()}`];
    node = startFarhand(['sim', 'ros2-hand', '--domain', String(DOMAIN), '--prefix', prefix, ...joints]);
    await node.waitFor(/ready/);
    const topics = [
      `commandTopic=${prefix}/command`,
      `stateTopic=${prefix}/joint_states`,
      `domainId=${DOMAIN}`,
    ];
    const options = topics.map((option) => `robot.options.${option}`);
    robot = startRole(
      'robot',
      loadRig('demo', [...common, 'robot.driver=ros2-joints', ...options]).config,
      () => {},
    );
    await robot.ready;
    const board = new SnapshotBoard(robot.memory.board);
    sampler = setInterval(() => {
      const snapshot = readRobotBoard(board, NAMES.length);
      if (snapshot !== null) seen.push(snapshot);
    }, 5);
    operator = startFarhand(['operator', ...common]);
  });
  after(async () => {
    clearInterval(sampler);
    await operator.end();
    robot.windDown();
    await robot.done;
    await node.end();
  });

  const until = async (condition: () => boolean, withinMs = 20_000) => {
    const endMs = performance.now() + withinMs;
    while (!condition()) {
      assert.ok(performance.now() < endMs, JSON.stringify(seen.at(-1)));
      await sleep(5);
    }
  };

  it('follows the hand', async () => {
    await until(() => seen.at(-1)?.state === 'engaged');
    const from = seen.length;
    await sleep(2500);
    assert.equal(seen.at(-1)?.state, 'engaged', seen.at(-1)?.cause);
    const turned = seen.slice(from).map(({ measuredRad }) => measuredRad[0]!);
    assert.ok(Math.max(...turned) - Math.min(...turned) > 0.02, 'it moves');
  });

  it('is stopped when the node dies', async () => {
    node.process.kill('SIGKILL');
    await until(() => seen.at(-1)?.state === 'stopped', 2000);
    assert.match(seen.at(-1)!.cause, /joint states|feedback|driver/);
  });
});
