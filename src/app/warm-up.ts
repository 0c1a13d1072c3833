import { randomBytes } from 'node:crypto';
import { ManualClock } from '../core/clock.ts';
import { Counters } from '../core/counters.ts';
import { DurationHistogram } from '../core/histogram.ts';
import { SnapshotBoard } from '../core/snapshot.ts';
import { createPolicy } from '../robot/playout/policy.ts';
import { peerOf } from '../wire/reactor.ts';
import { OperatorTunnel } from '../wire/secure/operator-tunnel.ts';
import { RobotTunnel } from '../wire/secure/robot-tunnel.ts';
import { LocalNetwork } from '../wire/transports/local.ts';
import { boardSize } from './operator/board.ts';
import { OperatorLoop } from './operator/loop.ts';
import { loadPlugin, pluginConfig } from './registry.ts';
import { robotBoardSize } from './robot/board.ts';
import { RobotLoop } from './robot/loop.ts';
import type { ControlStart } from './shared.ts';

const ROUNDS = 3;
const TICKS_PER_ROUND = 2000;
const ROBOT = '10.0.0.1';
const OPERATOR = '10.0.0.2';
const DELAY_NS = 50_000;

/** Optimised code dies with the objects it was specialised on, so they are kept. */
const kept: unknown[] = [];

/**
 * Drives both loops against each other on a simulated clock before the first real command, so that the compiler has
 * done its work when it matters: at 100 Hz it would otherwise take the first half minute of a session.
 * Touches no device: the simulated driver and the scripted hand stand in.
 */
export async function warmUp(start: ControlStart): Promise<void> {
  for (let round = 0; round < ROUNDS; round++) {
    const { network, clock } = await simulatedPair(start);
    network.run(clock.nowNs() + (TICKS_PER_ROUND * 1e9) / start.rig.operator.hz);
    kept.push(network);
  }
}

interface SimulatedPair {
  network: LocalNetwork;
  clock: ManualClock;
}

async function simulatedPair({ rig: given, model, keys }: ControlStart): Promise<SimulatedPair> {
  const rig = { ...given, operator: { ...given.operator, autoArm: true, input: 'scripted' } };
  const clock = new ManualClock();
  const network = new LocalNetwork(
    clock,
    (deadlineNs) => clock.advanceTo(deadlineNs),
    () => DELAY_NS,
  );
  const robotEnd = network.endpoint(ROBOT, [1, 2, 3]);
  const operatorEnd = network.endpoint(OPERATOR, [1, 2, 3, 4]);
  const [command, state, sync] = [peerOf(ROBOT, 1), peerOf(ROBOT, 2), peerOf(ROBOT, 3)];
  const psk = new Uint8Array(randomBytes(32));
  const sealed = keys.length > 0 && rig.link.transport === 'udp';
  const robotTunnel = sealed ? new RobotTunnel(robotEnd.outbox, [psk], newIndex, new Counters()) : null;
  const operatorTunnel = sealed
    ? new OperatorTunnel(operatorEnd.outbox, psk, [command, state, sync], clock, new Counters())
    : null;
  const sim = await loadPlugin('driver', 'sim');
  const hand = await loadPlugin('input', 'scripted');
  const robot = new RobotLoop({
    rig,
    model,
    driver: await sim.open(pluginConfig('driver', 'sim', sim, {}), model, clock.nowNs()),
    policy: createPolicy(rig.robot.playout),
    outbox: robotTunnel ?? robotEnd.outbox,
    clock,
    boot: 1,
    counters: new Counters(),
    lateness: new DurationHistogram(),
    board: SnapshotBoard.create(robotBoardSize(model.joints.length)),
    onTransition: () => {},
    windDown: new Int32Array(1),
    onFinished: () => {},
  });
  const device = hand.open(pluginConfig('input', 'scripted', hand, {}), clock.nowNs());
  const operator = new OperatorLoop({
    rig,
    model,
    inputs: new Map([['scripted', { device, automatic: true }]]),
    outbox: operatorTunnel ?? operatorEnd.outbox,
    clock,
    robot: { command, state, sync },
    session: 1,
    counters: new Counters(),
    lateness: new DurationHistogram(),
    board: SnapshotBoard.create(boardSize(model.joints.length)),
    onClosed: () => {},
    windDown: new Int32Array(1),
    onFinished: () => {},
  });
  robotTunnel?.attach(robot);
  operatorTunnel?.attach(operator);
  robotEnd.attach(robotTunnel ?? robot);
  operatorEnd.attach(operatorTunnel ?? operator);
  return { network, clock };
}

const newIndex = (): number => randomBytes(4).readUInt32LE();
