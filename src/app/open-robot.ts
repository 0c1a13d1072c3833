import { randomBytes } from 'node:crypto';
import { Counters } from '../core/counters.ts';
import { SnapshotBoard } from '../core/memory/snapshot.ts';
import { DurationHistogram } from '../core/statistics/histogram.ts';
import type { Clock } from '../core/time/clock.ts';
import { estopFlag, leaseOverFlag, windDownFlag } from '../messages/role-flags.ts';
import { carriedGripper } from '../robot/carried-gripper.ts';
import { LoggedDriver } from '../robot/driver-log.ts';
import { RobotLoop, type RobotParts } from '../robot/loop.ts';
import type { PriorJson } from '../robot/playout/adaptive/prior.ts';
import type { PlayoutPolicy } from '../robot/playout/playout-policy.ts';
import { rigPolicy } from '../robot/playout/rig-policy.ts';
import { SharedPlayout } from '../robot/playout/shared.ts';
import { FlightRecorder } from '../robot/supervisor/flight-recorder.ts';
import type { Transition } from '../robot/supervisor/states.ts';
import { type RobotArm, TwoArmRobot } from '../robot/two-arm-robot.ts';
import { sharedClock } from '../wire/clock-identity.ts';
import { GuardedHandler } from '../wire/guarded-handler.ts';
import type { Outbox, Reactor } from '../wire/reactor.ts';
import { RobotTunnel } from '../wire/secure/robot-tunnel.ts';
import { type OpenDriver, openDriver } from './open-driver.ts';
import { socketsAfter } from './open-operator.ts';
import { type ArmStart, armsOf, type ControlStart } from './role-memory.ts';

/** The driver thread tolerates this many times the control-loop silence that causes a hold. */
const CONTROL_SILENCE = 1.5;
const LINK_SOCKETS = 3;

/** Reports of the robot role to the rest of its process. */
export interface RobotHooks {
  onReady: () => void;
  onTransition: (arm: ArmStart, transition: Transition) => void;
  onLearnt: (network: string, prior: PriorJson) => void;
}

/** Runs the robot role, from opening its drivers to leaving the robot at rest. */
export async function runRobot(
  start: ControlStart,
  reactor: Reactor,
  clock: Clock,
  hooks: RobotHooks,
): Promise<void> {
  const arms = armsOf(start);
  const counters = new Counters(start.memory.counters);
  const drivers: OpenDriver[] = [];
  try {
    for (const arm of arms) drivers.push(await openArmDriver(arm, counters, clock));
    const policies = armPolicies(start);
    const startNs = clock.nowNs();
    const opened = arms.map((arm, i) =>
      openArm(start, arm, i === 0 ? reactor : socketsAfter(i * LINK_SOCKETS, reactor), {
        ...{ counters, clock, startNs, policy: policies[i]!, driver: drivers[i]!.driver },
        shared: sharedClock(reactor),
        onLearnt: i === 0 ? hooks.onLearnt : () => {},
        onTransition: (transition) => hooks.onTransition(arm, transition),
        onFinished: () => reactor.stop(),
      }),
    );
    hooks.onReady();
    await reactor.run(guarded(opened, counters));
  } finally {
    // Whatever ended the loop, including a bug of our own, the robot comes to rest.
    await Promise.all(drivers.map((driver) => driver.close()));
  }
}

/** Two arms share their due times. */
function armPolicies(start: ControlStart): PlayoutPolicy[] {
  const policy = rigPolicy(start.rig);
  if (start.second === null) return [policy];
  const shared = new SharedPlayout(policy);
  return [shared.first, shared.second];
}

function guarded(opened: readonly RobotArm[], counters: Counters): GuardedHandler {
  const [first, second] = opened as [RobotArm, RobotArm?];
  const cause = 'a datagram could not be handled';
  if (second === undefined)
    return new GuardedHandler(first.handler, counters, (nowNs) => first.loop.supervisor.estop(cause, nowNs));
  const both = new TwoArmRobot([first, second]);
  return new GuardedHandler(both, counters, (nowNs) => both.estop(cause, nowNs));
}

async function openArmDriver(
  { rig, model }: ArmStart,
  counters: Counters,
  clock: Clock,
): Promise<OpenDriver> {
  const { driver, options, commandTimeoutMs, feedbackTimeoutMs, freeMotion, driverLog } = rig.robot;
  const opened = await openDriver(driver, options, model, clock, {
    counters,
    controlSilenceMs: CONTROL_SILENCE * commandTimeoutMs,
    feedbackTimeoutMs,
    freeMotion,
    gripper: carriedGripper(rig.robot),
  });
  if (driverLog === '') return opened;
  return { ...opened, driver: new LoggedDriver(opened.driver, driverLog, model.joints.length) };
}

type OwnParts = Pick<
  RobotParts,
  | 'counters'
  | 'clock'
  | 'startNs'
  | 'policy'
  | 'driver'
  | 'shared'
  | 'onLearnt'
  | 'onTransition'
  | 'onFinished'
>;

function openArm(start: ControlStart, arm: ArmStart, outbox: Outbox, own: OwnParts): RobotArm {
  const { rig, model, memory } = arm;
  const keys = rig.link.transport === 'zmq' ? [] : arm.keys;
  const tunnel =
    keys.length === 0
      ? null
      : new RobotTunnel(outbox, keys, () => randomBytes(4).readUInt32LE(), own.counters, {
          viewers: start.viewers,
        });
  const loop = new RobotLoop({
    ...own,
    rig,
    model,
    priors: start.priors,
    outbox: tunnel ?? outbox,
    boot: start.identity,
    lateness: new DurationHistogram(memory.lateness),
    board: new SnapshotBoard(memory.board),
    world: new SnapshotBoard(memory.world),
    flight: new FlightRecorder(memory.flight),
    neighbour: arm.neighbour,
    pair: memory.pair,
    topics: memory.topics,
    windDown: windDownFlag(memory),
    fleet: { estop: estopFlag(memory), leaseOver: leaseOverFlag(memory) },
  });
  tunnel?.attach(loop);
  return { name: arm.side ?? '', loop, handler: tunnel ?? loop, model, pair: memory.pair };
}
