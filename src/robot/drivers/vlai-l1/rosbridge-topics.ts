// UNVERIFIED ON HARDWARE: the vendor publishes no TCP protocol; this is the standard ROS bridge.
import type { Clock } from '../../../core/time/clock.ts';
import type { JointState } from '../../buses/dds/ros2.ts';
import type { VlaiRosConfig } from './config.ts';
import { Rosbridge } from './rosbridge.ts';
import type { ArmTopics, TopicEvents } from './topics.ts';

const ARRAY = 'std_msgs/msg/Float64MultiArray';
const TEXT = 'std_msgs/msg/String';
const STATE = 'sensor_msgs/msg/JointState';

/** The node's topics through a rosbridge server on the robot. */
export async function openRosbridgeTopics(
  config: VlaiRosConfig,
  events: TopicEvents,
  clock: Clock,
): Promise<ArmTopics> {
  const { url, jointsTopic, gripperTopic, chassisTopic, leftStateTopic, rightStateTopic } = config;
  const bridge = await Rosbridge.open({
    url,
    publishes: { [jointsTopic]: ARRAY, [gripperTopic]: ARRAY, [chassisTopic]: TEXT },
    subscribes: { [leftStateTopic]: STATE, [rightStateTopic]: STATE },
    onMessage: (topic, message) => {
      const state = stateOf(message);
      if (state === null) events.onRejected('malformed');
      else events.onState(topic === leftStateTopic ? 'left' : 'right', state, clock.nowNs());
    },
    onRejected: (reason) => events.onRejected(reason),
  });
  const layout = { dim: [], data_offset: 0 };
  return {
    name: `rosbridge ${url}`,
    get trouble() {
      return bridge.trouble;
    },
    publish: (jointsRad, grippers) =>
      bridge.publish(jointsTopic, { layout, data: [...jointsRad] }) &&
      (grippers === null || bridge.publish(gripperTopic, { layout, data: [...grippers] })),
    stopChassis: () => void bridge.publish(chassisTopic, { data: 'stop' }),
    until: (condition, timeoutMs) => bridge.until(condition, timeoutMs),
    close: () => bridge.close(),
  };
}

/** The parts of a sensor_msgs/JointState that are used; null if it is not one. */
export function stateOf(message: unknown): JointState | null {
  if (typeof message !== 'object' || message === null) return null;
  const { name, position, velocity } = message as Record<string, unknown>;
  if (!isList(name, 'string') || !isList(position, 'number')) return null;
  return {
    stampNs: 0,
    frameId: '',
    names: name as string[],
    positions: position as number[],
    velocities: isList(velocity, 'number') ? (velocity as number[]) : [],
    efforts: [],
  };
}

const MAX_LENGTH = 64;

const isList = (value: unknown, type: 'string' | 'number'): boolean =>
  Array.isArray(value) && value.length <= MAX_LENGTH && value.every((item) => typeof item === type);
