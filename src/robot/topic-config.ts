import { z } from 'zod';
import { MAX_DOMAIN_ID } from './buses/dds/ids.ts';
import { isTopicName } from './buses/dds/ros2.ts';

const topic = z.string().max(128).refine(isTopicName, 'not a ROS 2 topic name');

/** The robot as a ROS 2 node: commands in, joint states out. */
export const topicConfig = z.strictObject({
  domainId: z.int().min(0).max(MAX_DOMAIN_ID).default(0).describe('ROS_DOMAIN_ID'),
  interfaceAddress: z
    .ipv4()
    .default('127.0.0.1')
    .describe('IPv4 address of this machine on the nodes’ network; 127.0.0.1: nodes on this machine only'),
  commandTopic: topic
    .default('/orca_hand/command')
    .describe('std_msgs/Float64MultiArray: joint targets in radians, in the model’s order'),
  stateTopic: topic
    .default('/orca_hand/joint_states')
    .describe('sensor_msgs/JointState: what the robot measures'),
  stateHz: z.number().min(1).max(500).default(100).describe('joint states per second'),
  arm: z
    .enum(['never', 'first-command'])
    .default('never')
    .describe('first-command: commands on the topic arm the robot; never: it stays idle and only publishes'),
  approachRadS: z
    .number()
    .min(0.1)
    .max(6)
    .default(1)
    .describe('joint speed after engaging, until the robot has caught up with the commands'),
  peers: z.array(z.ipv4()).max(16).default([]).describe('hosts that multicast does not reach'),
  allow: z.array(z.ipv4()).max(64).default([]).describe('hosts to accept messages from; empty: all'),
});
export type TopicConfig = z.infer<typeof topicConfig>;
