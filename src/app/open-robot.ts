import { randomBytes } from 'node:crypto';
import { Counters } from '../core/counters.ts';
import { SnapshotBoard } from '../core/memory/snapshot.ts';
import { DurationHistogram } from '../core/statistics/histogram.ts';
import type { Clock } from '../core/time/clock.ts';
import { estopFlag, leaseOverFlag, windDownFlag } from '../messages/role-flags.ts';
import { LoggedDriver } from '../robot/driver-log.ts';
import { RobotLoop } from '../robot/loop.ts';
import type { PriorJson } from '../robot/playout/adaptive/prior.ts';
import { rigPolicy } from '../robot/playout/rig-policy.ts';
import { FlightRecorder } from '../robot/supervisor/flight-recorder.ts';
import type { Transition } from '../robot/supervisor/states.ts';
import { GuardedHandler } from '../wire/guarded-handler.ts';
import type { Reactor } from '../wire/reactor.ts';
import { RobotTunnel } from '../wire/secure/robot-tunnel.ts';
import { carriedGripper } from './carried-gripper.ts';
import { sharedClock } from './clock-identity.ts';
import { openDriver } from './open-driver.ts';
import type { ControlStart } from './role-memory.ts';

/** The driver thread tolerates this many times the control-loop silence that causes a hold. */
const CONTROL_SILENCE = 1.5;

/** Runs the robot role, from opening its driver to leaving the robot at rest. */
export async function runRobot(
  start: ControlStart,
  reactor: Reactor,
  clock: Clock,
  onReady: () => void,
  onTransition: (transition: Transition) => void,
  onLearnt: (network: string, prior: PriorJson) => void,
): Promise<void> {
  const { rig, model, memory, identity } = start;
  const counters = new Counters(memory.counters);
  const policy = rigPolicy(rig);
  const { driver: opened, close } = await openDriver(rig.robot.driver, rig.robot.options, model, clock, {
    counters,
    controlSilenceMs: CONTROL_SILENCE * rig.robot.commandTimeoutMs,
    freeMotion: rig.robot.freeMotion,
    gripper: carriedGripper(rig.robot),
  });
  const { driverLog } = rig.robot;
  const driver = driverLog === '' ? opened : new LoggedDriver(opened, driverLog, model.joints.length);
  try {
    const keys = rig.link.transport === 'zmq' ? [] : start.keys;
    const tunnel =
      keys.length === 0
        ? null
        : new RobotTunnel(reactor, keys, () => randomBytes(4).readUInt32LE(), counters, {
            viewers: start.viewers,
          });
    const loop = new RobotLoop({
      rig,
      model,
      driver,
      policy,
      priors: start.priors,
      onLearnt,
      outbox: tunnel ?? reactor,
      clock,
      shared: sharedClock(reactor),
      boot: identity,
      counters,
      lateness: new DurationHistogram(memory.lateness),
      board: new SnapshotBoard(memory.board),
      world: new SnapshotBoard(memory.world),
      onTransition,
      flight: new FlightRecorder(memory.flight),
      neighbour: start.neighbour,
      pair: memory.pair,
      topics: memory.topics,
      windDown: windDownFlag(memory),
      fleet: { estop: estopFlag(memory), leaseOver: leaseOverFlag(memory) },
      onFinished: () => reactor.stop(),
    });
    tunnel?.attach(loop);
    onReady();
    const stop = (nowNs: number) => loop.supervisor.estop('a datagram could not be handled', nowNs);
    await reactor.run(new GuardedHandler(tunnel ?? loop, counters, stop));
  } finally {
    // Whatever ended the loop, including a bug of our own, the robot comes to rest.
    await close();
  }
}
