import { CdrWriter, ENCAPSULATION } from '../core/cdr.ts';
import { monotonicClock } from '../core/time/clock.ts';
import { openTelemetryFeed } from '../desk/telemetry-feed.ts';
import type { Telemetry } from '../messages/telemetry.ts';
import type { Rig } from '../rig/rig.ts';
import { rigModel } from '../rig/robot-models.ts';
import { DdsNode, type DdsSettings } from '../robot/buses/dds/node.ts';
import { float64MultiArray, jointState, type MessageType, ros2Topic } from '../robot/buses/dds/ros2.ts';
import type { TopicWriter } from '../robot/buses/dds/topic-writer.ts';

const BYTES = 16_384;

export interface Ros2Bridge {
  /** Messages published so far, and the number of subscribers. */
  counts(): { states: number; commands: number; stateReaders: number; commandReaders: number };
  close(): Promise<void>;
}

/**
 * Publishes a running operator to ROS 2: its measurements as joint states, its commands as numbers. Publishes
 * only while the robot answers, commands only while it follows, and accepts nothing from ROS 2.
 */
export async function startRos2Bridge(rig: Rig, settings: DdsSettings, prefix: string): Promise<Ros2Bridge> {
  const names = rigModel(rig).joints.map((joint) => joint.name);
  const node = await DdsNode.open(settings, monotonicClock);
  const { participant } = node;
  const qos = { reliable: true };
  const states = participant.addWriter(ros2Topic(`${prefix}/joint_states`, jointState, qos));
  const commands = participant.addWriter(ros2Topic(`${prefix}/command`, float64MultiArray, qos));
  const out = new CdrWriter(new Uint8Array(BYTES));
  const publish = <T>(writer: TopicWriter, type: MessageType<T>, message: T) => {
    out.begin(ENCAPSULATION.cdrLe);
    type.write(out, message);
    if (out.ok) writer.write(out.bytes.subarray(0, out.length), node.wallNs, monotonicClock.nowNs());
  };
  const onTelemetry = ({ link, robot, commandedRad }: Telemetry) => {
    if (robot === null || !link.connected || !isPose(robot.measuredRad, names.length)) return;
    const stampNs = node.wallNs - (link.stateAgeMs ?? 0) * 1e6;
    const positions = robot.measuredRad;
    publish(states, jointState, { stampNs, frameId: '', names, positions, velocities: [], efforts: [] });
    if (robot.state === 'engaged' && isPose(commandedRad, names.length))
      publish(commands, float64MultiArray, { data: commandedRad });
  };
  node.start();
  const feed = openTelemetryFeed(rig, onTelemetry);
  return {
    counts: () => ({
      states: states.written,
      commands: commands.written,
      stateReaders: states.matched,
      commandReaders: commands.matched,
    }),
    async close() {
      feed.close();
      await node.close();
    },
  };
}

const isPose = (angles: unknown, joints: number): angles is number[] =>
  Array.isArray(angles) && angles.length === joints && angles.every((angle) => Number.isFinite(angle));
