import { z } from 'zod';
import { armConfig } from '../../buses/damiao/arm-config.ts';
import { VLAI_L1 } from '../../buses/damiao/arms.ts';
import { MAX_DOMAIN_ID } from '../../buses/dds/ids.ts';
import { isTopicName } from '../../buses/dds/ros2.ts';

const topic = (name: string) =>
  z.string().max(128).refine(isTopicName, 'not a ROS 2 topic name').default(name);
const JOINTS = 7;
const port = z.int().min(1).max(65_535);

/** Both arms of one robot, each driven by its own process on this machine. */
const partnerConfig = z.strictObject({
  port: port.describe('UDP port of this process, on loopback'),
  otherPort: port.describe('UDP port of the other arm’s process'),
  speaks: z.boolean().describe('this process publishes for both arms; true for one of the two'),
  timeoutMs: z
    .number()
    .min(20)
    .max(1000)
    .default(100)
    .describe('no message from the other process for this long is a fault'),
});

/** The vendor's ROS 2 node. The order of numbers in its messages is not documented, so it can be set. */
const rosConfig = z.strictObject({
  order: z
    .enum(['left-first', 'right-first'])
    .default('left-first')
    .describe('which arm the first half of a command is for'),
  directions: z
    .array(z.literal([1, -1]))
    .length(JOINTS)
    .default(Array(JOINTS).fill(1))
    .describe('-1 if the node’s sign is opposite to the model’s joint'),
  jointsTopic: topic('/dual_xarm/joints').describe('std_msgs/Float64MultiArray: targets of both arms'),
  gripperTopic: topic('/dual_xarm/gripperpos').describe('std_msgs/Float64MultiArray: both grippers'),
  leftStateTopic: topic('/xarm_left/joint_states').describe('sensor_msgs/JointState of the left arm'),
  rightStateTopic: topic('/xarm_right/joint_states').describe('sensor_msgs/JointState of the right arm'),
  jointNames: z
    .array(z.string().min(1))
    .length(JOINTS)
    .default(Array.from({ length: JOINTS }, (_, i) => `xarm_joint${i + 1}`))
    .describe('names of the joints in the state, in the order of the model'),
  chassisTopic: topic('/chassis/cmd').describe('std_msgs/String: receives a stop together with the arm'),
  stopChassis: z.boolean().default(true).describe('stop the chassis together with the arm'),
  gripperOpenRad: z.number().min(-3).max(3).default(-1.0472).describe('gripper value when open'),
  gripperClosedRad: z.number().min(-3).max(3).default(0).describe('gripper value when closed'),
  partner: partnerConfig
    .nullable()
    .default(null)
    .describe('the other arm’s process, if both arms are driven at once'),
  domainId: z.int().min(0).max(MAX_DOMAIN_ID).default(0).describe('ros2: the robot’s ROS_DOMAIN_ID'),
  interfaceAddress: z
    .ipv4()
    .default('127.0.0.1')
    .describe('ros2: IPv4 address of this machine on its network'),
  peers: z.array(z.ipv4()).max(16).default([]).describe('ros2: hosts that multicast does not reach'),
  url: z
    .string()
    .regex(/^wss?:\/\//, 'write ws://HOST:PORT')
    .default('ws://127.0.0.1:9090')
    .describe('rosbridge: address of its server'),
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
    .describe('how long to look for the robot on open'),
});
export type VlaiRosConfig = z.infer<typeof rosConfig>;

export const vlaiConfig = z.strictObject({
  via: z
    .enum(['can', 'ros2', 'rosbridge'])
    .default('can')
    .describe('can: the motors directly; ros2: the vendor’s node over DDS; rosbridge: the same over TCP'),
  side: z.enum(['right', 'left']).default('right').describe('ros2, rosbridge: which arm this is'),
  can: armConfig(VLAI_L1).prefault({}).describe('settings of `via: can`'),
  ros: rosConfig.prefault({}).describe('settings of `via: ros2` and `via: rosbridge`'),
});
export type VlaiConfig = z.infer<typeof vlaiConfig>;
