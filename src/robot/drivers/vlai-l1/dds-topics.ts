// UNVERIFIED ON HARDWARE

import { CdrWriter, ENCAPSULATION } from '../../../core/cdr.ts';
import type { Clock } from '../../../core/time/clock.ts';
import { DdsNode } from '../../buses/dds/node.ts';
import { float64MultiArray, jointState, readMessageOf, ros2Topic, text } from '../../buses/dds/ros2.ts';
import type { TopicWriter } from '../../buses/dds/topic-writer.ts';
import type { VlaiRosConfig } from './config.ts';
import type { ArmTopics, Side, TopicEvents } from './topics.ts';

const BYTES = 512;

/** The node's topics over DDS. */
export async function openDdsTopics(
  config: VlaiRosConfig,
  events: TopicEvents,
  clock: Clock,
): Promise<ArmTopics> {
  const { domainId, interfaceAddress, peers } = config;
  const node = await DdsNode.open({ domainId, interfaceAddress, peers, allow: [], name: 'farhand' }, clock);
  const { participant } = node;
  const out = new CdrWriter(new Uint8Array(BYTES));
  // If the other arm's process publishes for both, a second publisher would conflict.
  const isQuiet = config.partner !== null && !config.partner.speaks;
  const writers = (isQuiet ? [] : [config.jointsTopic, config.gripperTopic]).map((name) =>
    participant.addWriter(ros2Topic(name, float64MultiArray, { reliable: true })),
  );
  const chassis = participant.addWriter(ros2Topic(config.chassisTopic, text, { reliable: true }));
  const listen = (side: Side, name: string) =>
    participant.addReader(ros2Topic(name, jointState, { reliable: false }), (sample, _writer, nowNs) => {
      if (sample.gone !== 0) return;
      const state = readMessageOf(jointState, sample.payload);
      if (state === null) events.onRejected('malformed');
      else events.onState(side, state, nowNs);
    });
  listen('left', config.leftStateTopic);
  listen('right', config.rightStateTopic);
  node.start();
  const [joints, grippers] = writers;
  const message: { data: ArrayLike<number> } = { data: [] };
  const write = (writer: TopicWriter, data: Float64Array, nowNs: number): boolean => {
    message.data = data;
    out.begin(ENCAPSULATION.cdrLe);
    float64MultiArray.write(out, message);
    return writer.write(out.bytes.subarray(0, out.length), node.wallNs, nowNs);
  };
  return {
    name: `ROS 2 domain ${domainId} on ${interfaceAddress}`,
    get trouble() {
      if (joints === undefined) return '';
      if (joints.matched === 0) return `no node subscribes to ${config.jointsTopic}`;
      const rivals = participant.rivals(joints.data.topic);
      return rivals > 0 ? `another node publishes ${config.jointsTopic}` : '';
    },
    publish(jointsRad, values, nowNs) {
      if (joints === undefined || !write(joints, jointsRad, nowNs)) return false;
      return values === null || !grippers?.matched || write(grippers, values, nowNs);
    },
    stopChassis: (nowNs) => {
      if (chassis.matched === 0) return;
      out.begin(ENCAPSULATION.cdrLe);
      text.write(out, { data: 'stop' });
      chassis.write(out.bytes.subarray(0, out.length), node.wallNs, nowNs);
    },
    until: (condition, timeoutMs) => node.until(condition, timeoutMs),
    close: () => void node.close(),
  };
}
