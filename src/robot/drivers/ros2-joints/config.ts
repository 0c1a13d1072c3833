import { z } from 'zod';
import { MAX_DOMAIN_ID } from '../../buses/dds/ids.ts';
import { isTopicName } from '../../buses/dds/ros2.ts';

const topic = z.string().max(128).refine(isTopicName, 'not a ROS 2 topic name');
const ipv4 = z.ipv4();

export const ros2JointsConfig = z.strictObject({
  domainId: z.int().min(0).max(MAX_DOMAIN_ID).default(0).describe('the robot’s ROS_DOMAIN_ID'),
  interfaceAddress: ipv4
    .default('127.0.0.1')
    .describe('IPv4 address of this machine on the robot’s network; 127.0.0.1: nodes on this machine only'),
  commandTopic: topic
    .default('/orca_hand/command')
    .describe('std_msgs/Float64MultiArray: joint targets in radians'),
  stateTopic: topic
    .default('/orca_hand/joint_states')
    .describe('sensor_msgs/JointState: joint positions in radians'),
  joints: z
    .array(z.string().min(1))
    .default([])
    .describe('names in the order of the command’s numbers, one per joint of the model; empty: the model’s'),
  commandReliability: z
    .enum(['reliable', 'best-effort'])
    .default('reliable')
    .describe('reliable reaches every kind of subscriber'),
  stateReliability: z
    .enum(['reliable', 'best-effort'])
    .default('best-effort')
    .describe('best-effort receives from every kind of publisher'),
  feedbackTimeoutMs: z
    .number()
    .min(20)
    .max(5000)
    .default(200)
    .describe('joint states older than this are a fault'),
  connectTimeoutMs: z
    .number()
    .min(100)
    .max(60_000)
    .default(5000)
    .describe('how long to look for the robot’s node on open'),
  allowOtherCommanders: z
    .boolean()
    .default(false)
    .describe('enable even while another node publishes the command topic'),
  peers: z.array(ipv4).max(16).default([]).describe('hosts that multicast does not reach'),
  allow: z.array(ipv4).max(64).default([]).describe('hosts to accept messages from; empty: all'),
});

export type Ros2JointsConfig = z.infer<typeof ros2JointsConfig>;
