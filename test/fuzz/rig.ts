import { randomBytes } from 'node:crypto';
import { boardSize } from '../../src/app/operator/board.ts';
import { OperatorLoop } from '../../src/app/operator/loop.ts';
import { loadPlugin, pluginConfig } from '../../src/app/registry.ts';
import { loadModel, loadRig } from '../../src/app/rig.ts';
import { robotBoardSize } from '../../src/app/robot/board.ts';
import { RobotLoop } from '../../src/app/robot/loop.ts';
import { ManualClock } from '../../src/core/clock.ts';
import { Counters } from '../../src/core/counters.ts';
import { DurationHistogram } from '../../src/core/histogram.ts';
import { SnapshotBoard } from '../../src/core/snapshot.ts';
import { createPolicy } from '../../src/robot/playout/policy.ts';
import { type DatagramHandler, type Outbox, type Peer, peerOf } from '../../src/wire/reactor.ts';
import { OperatorTunnel } from '../../src/wire/secure/operator-tunnel.ts';
import { RobotTunnel } from '../../src/wire/secure/robot-tunnel.ts';
import { LocalNetwork } from '../../src/wire/transports/local.ts';

export const ROBOT_PORTS = [4750, 4751, 4752];
export const OPERATOR_PORTS = [5750, 5751, 5752, 5753];
const ADDRESS = '127.0.0.1';

export interface FuzzRig {
  clock: ManualClock;
  network: LocalNetwork;
  robot: RobotLoop;
  operator: OperatorLoop;
  robotHandler: DatagramHandler;
  operatorHandler: DatagramHandler;
  robotCounters: Counters;
  operatorCounters: Counters;
  /** Every datagram either side sent, as it went over the wire. */
  sent: Uint8Array[];
}

/** Both roles engaged over a simulated network, ready to be shot at. */
export async function engagedRig(sealed: boolean): Promise<FuzzRig> {
  const { config: rig } = loadRig('demo', []);
  const model = loadModel(rig.model);
  const joints = model.joints.length;
  const clock = new ManualClock();
  const network = new LocalNetwork(clock, (deadlineNs) => clock.advanceTo(deadlineNs));
  const sent: Uint8Array[] = [];
  const tap = (outbox: Outbox): Outbox => ({
    send(socket, bytes, length, to) {
      sent.push(bytes.slice(0, length));
      return outbox.send(socket, bytes, length, to);
    },
  });
  const psk = randomBytes(32);
  const peers = ROBOT_PORTS.map((port) => peerOf(ADDRESS, port)) as [Peer, Peer, Peer];
  const [robotEnd, operatorEnd] = [
    network.endpoint(ADDRESS, ROBOT_PORTS),
    network.endpoint(ADDRESS, OPERATOR_PORTS),
  ];
  const [robotCounters, operatorCounters] = [new Counters(), new Counters()];
  let index = 0;
  const robotTunnel = sealed
    ? new RobotTunnel(tap(robotEnd.outbox), [psk], () => ++index, robotCounters)
    : null;
  const operatorTunnel = sealed
    ? new OperatorTunnel(tap(operatorEnd.outbox), psk, peers, clock, operatorCounters)
    : null;
  const driverPlugin = await loadPlugin('driver', 'sim');
  const inputPlugin = await loadPlugin('input', 'scripted');
  const pagePlugin = await loadPlugin('input', 'page');
  const never = new Int32Array(1);
  const robot = new RobotLoop({
    rig,
    model,
    driver: await driverPlugin.open(pluginConfig('driver', 'sim', driverPlugin, {}), model, clock.nowNs()),
    policy: createPolicy('fixed:60'),
    outbox: robotTunnel ?? tap(robotEnd.outbox),
    clock,
    boot: 7,
    counters: robotCounters,
    lateness: new DurationHistogram(),
    board: SnapshotBoard.create(robotBoardSize(joints)),
    onTransition: () => {},
    windDown: never,
    onFinished: () => {},
  });
  const open = (plugin: typeof inputPlugin, name: string) => ({
    device: plugin.open(pluginConfig('input', name, plugin, {}), clock.nowNs()),
    automatic: plugin.automatic,
  });
  const operator = new OperatorLoop({
    rig,
    model,
    inputs: new Map([
      ['scripted', open(inputPlugin, 'scripted')],
      ['page', open(pagePlugin, 'page')],
    ]),
    outbox: operatorTunnel ?? tap(operatorEnd.outbox),
    clock,
    robot: { command: peers[0], state: peers[1], sync: peers[2] },
    session: 99,
    counters: operatorCounters,
    lateness: new DurationHistogram(),
    board: SnapshotBoard.create(boardSize(joints)),
    onClosed: () => {},
    windDown: never,
    onFinished: () => {},
  });
  robotTunnel?.attach(robot);
  operatorTunnel?.attach(operator);
  const robotHandler = robotTunnel ?? robot;
  const operatorHandler = operatorTunnel ?? operator;
  robotEnd.attach(robotHandler);
  operatorEnd.attach(operatorHandler);
  network.run(clock.nowNs() + 1.5e9);
  return {
    clock,
    network,
    robot,
    operator,
    robotHandler,
    operatorHandler,
    robotCounters,
    operatorCounters,
    sent,
  };
}
