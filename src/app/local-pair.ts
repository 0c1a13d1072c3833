import { randomBytes } from 'node:crypto';
import { Counters } from '../core/counters.ts';
import { SnapshotBoard } from '../core/memory/snapshot.ts';
import { DurationHistogram } from '../core/statistics/histogram.ts';
import type { Clock } from '../core/time/clock.ts';
import type { RobotModel } from '../geometry/robot-model.ts';
import { ROBOT_BOARD } from '../messages/robot-board.ts';
import type { PackedTrace } from '../messages/trace-record.ts';
import { BOARD } from '../operator/board.ts';
import { jointsKeeper, jointsRing } from '../operator/joints-ring.ts';
import { OperatorLoop } from '../operator/loop.ts';
import type { RowFeed } from '../operator/row-feed.ts';
import type { OpenInput } from '../operator/sampler.ts';
import type { Rig } from '../rig/rig.ts';
import type { Driver } from '../robot/driver.ts';
import { RobotLoop } from '../robot/loop.ts';
import { createPolicy } from '../robot/playout/policy.ts';
import { type DatagramHandler, type Outbox, type Peer, peerOf } from '../wire/reactor.ts';
import { OperatorTunnel } from '../wire/secure/operator-tunnel.ts';
import { RobotTunnel } from '../wire/secure/robot-tunnel.ts';
import type { LocalNetwork } from '../wire/transports/local.ts';
import { openInputs } from './open-operator.ts';
import { loadPlugin, pluginConfig } from './registry.ts';

const HOST = '127.0.0.1';
const ROBOT_PORTS = [4750, 4751, 4752] as const;
const OPERATOR_PORTS = [5750, 5751, 5752, 5753] as const;
/** Ports of the robot are below it. */
export const FIRST_OPERATOR_PORT = 5000;

export interface LocalPairOptions {
  rig: Rig;
  model: RobotModel;
  clock: Clock;
  network: LocalNetwork;
  sealed: boolean;
  /** Replaces the simulated arm. */
  driver?: Driver;
  /** Replaces the inputs of the rig. */
  inputs?: ReadonlyMap<string, OpenInput>;
  onClosed?: (record: PackedTrace) => void;
  /** Feeds a recorder. */
  rows?: RowFeed;
  /** Receives every datagram as it is sent. */
  onSend?: (bytes: Uint8Array) => void;
}

export interface LocalPair {
  robot: RobotLoop;
  operator: OperatorLoop;
  /** The loops, behind their tunnels if the link is sealed. */
  robotHandler: DatagramHandler;
  operatorHandler: DatagramHandler;
  robotCounters: Counters;
  operatorCounters: Counters;
  /** Addresses of the sockets: command, state, sync, and the operator's desk. */
  robotPeers: Peer[];
  operatorPeers: Peer[];
}

/** Both roles in one thread over a local network: for warm-up, measurement and tests. */
export async function joinLocally(options: LocalPairOptions): Promise<LocalPair> {
  const { rig, model, clock, network, sealed, onSend } = options;
  const joints = model.joints.length;
  const tap = (outbox: Outbox): Outbox => (onSend === undefined ? outbox : tapped(outbox, onSend));
  const robotEnd = network.endpoint(HOST, ROBOT_PORTS);
  const operatorEnd = network.endpoint(HOST, OPERATOR_PORTS);
  const robotPeers = ROBOT_PORTS.map((port) => peerOf(HOST, port));
  const [command = 0, state = 0, sync = 0] = robotPeers;
  const [robotCounters, operatorCounters] = [new Counters(), new Counters()];
  const psk = new Uint8Array(randomBytes(32));
  const [robotOutbox, operatorOutbox] = [tap(robotEnd.outbox), tap(operatorEnd.outbox)];
  const robotTunnel = sealed ? new RobotTunnel(robotOutbox, [psk], newIndex, robotCounters) : null;
  const operatorTunnel = sealed
    ? new OperatorTunnel(operatorOutbox, psk, robotPeers, clock, operatorCounters)
    : null;
  const shared = { rig, model, clock, windDown: new Int32Array(1), onFinished: () => {} };
  const plugin = await loadPlugin('driver', 'sim');
  const robot = new RobotLoop({
    ...shared,
    priors: {},
    onLearnt: () => {},
    driver: options.driver ?? (await plugin.open(pluginConfig('driver', 'sim', plugin, {}), model, clock)),
    policy: createPolicy(rig.robot.playout),
    outbox: robotTunnel ?? robotOutbox,
    boot: 1,
    counters: robotCounters,
    lateness: new DurationHistogram(),
    board: SnapshotBoard.create(ROBOT_BOARD.size(joints)),
    onTransition: () => {},
  });
  const operator = new OperatorLoop({
    ...shared,
    inputs: options.inputs ?? (await openInputs(rig, clock, (reason) => operatorCounters.add(reason))),
    outbox: operatorTunnel ?? operatorOutbox,
    robot: { command, state, sync },
    session: 1,
    counters: operatorCounters,
    lateness: new DurationHistogram(),
    board: SnapshotBoard.create(BOARD.size(joints)),
    onClosed: options.onClosed ?? (() => {}),
    ...(options.rows === undefined ? {} : { rows: options.rows }),
    onJoints: jointsKeeper(joints, jointsRing(joints, 2).buffer),
  });
  robotTunnel?.attach(robot);
  operatorTunnel?.attach(operator);
  const [robotHandler, operatorHandler] = [robotTunnel ?? robot, operatorTunnel ?? operator];
  robotEnd.attach(robotHandler);
  operatorEnd.attach(operatorHandler);
  const operatorPeers = OPERATOR_PORTS.map((port) => peerOf(HOST, port));
  return {
    robot,
    operator,
    robotHandler,
    operatorHandler,
    robotCounters,
    operatorCounters,
    robotPeers,
    operatorPeers,
  };
}

function tapped(outbox: Outbox, onSend: (bytes: Uint8Array) => void): Outbox {
  return {
    send(socket, bytes, length, to) {
      onSend(bytes.slice(0, length));
      return outbox.send(socket, bytes, length, to);
    },
  };
}

const newIndex = (): number => randomBytes(4).readUInt32LE();
