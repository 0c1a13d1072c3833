import type { RobotModel } from '../geometry/robot-model.ts';
import { BASE_LINK, LinkPoses, urdfOf } from '../geometry/robot-urdf.ts';
import type { ReceivedFrame } from '../messages/recording.ts';
import type { Telemetry } from '../messages/telemetry.ts';
import {
  CAMERA_TOPIC,
  frameIdOf,
  GRIPPER_NAME,
  JSON_SCHEMAS,
  MessageEncoder,
  ROS2_SCHEMAS,
  TOPICS,
} from '../record/schemas.ts';

/** A topic as viewers see it: named and encoded as in a recording. */
export interface LiveTopic {
  topic: string;
  encoding: 'cdr' | 'json';
  schemaName: string;
  schemaEncoding: 'ros2msg' | 'jsonschema';
  schema: string;
}

/** Topics that only a live stream has. */
const LIVE_TOPICS = { latency: '/farhand/latency', status: '/farhand/status' } as const;

const number = { type: ['number', 'null'] };
const text = { type: 'string' };
const LIVE_SCHEMAS: Record<string, object> = {
  ...JSON_SCHEMAS,
  'farhand.Latency': {
    type: 'object',
    properties: { seq: number, oneWayMs: number, playoutMs: number, queueDepth: number, outcome: text },
  },
  'farhand.Status': {
    type: 'object',
    properties: { state: text, cause: text, limitedBy: text, input: text, mode: text, clearanceM: number },
  },
};

type RosType = keyof typeof ROS2_SCHEMAS;

const ros = (topic: string, schemaName: RosType): LiveTopic => ({
  ...{ topic, encoding: 'cdr', schemaName, schemaEncoding: 'ros2msg', schema: ROS2_SCHEMAS[schemaName] },
});
const json = (topic: string, schemaName: string): LiveTopic => ({
  ...{ topic, encoding: 'json', schemaName, schemaEncoding: 'jsonschema' },
  schema: JSON.stringify(LIVE_SCHEMAS[schemaName]),
});

/** Bytes are valid until the next call. */
export type Publish = (topic: string, timeNs: bigint, bytes: Uint8Array) => void;

/** Turns telemetry and pictures into messages. `wanted`: a topic that nobody reads is not encoded. */
export class LiveTopics {
  readonly topics: readonly LiveTopic[];
  readonly #names: string[];
  readonly #values: Float64Array;
  readonly #poses: LinkPoses | null;
  readonly #description: string | null;
  readonly #encoder = new MessageEncoder();
  readonly #wanted: (topic: string) => boolean;
  readonly #publish: Publish;

  constructor(
    model: RobotModel,
    cameras: readonly string[],
    wanted: (topic: string) => boolean,
    publish: Publish,
  ) {
    this.#wanted = wanted;
    this.#publish = publish;
    const joints = model.joints.map(({ name }) => name);
    this.#names = model.gripper ? [...joints, GRIPPER_NAME] : joints;
    this.#values = new Float64Array(this.#names.length);
    this.#description = urdfOf(model);
    this.#poses = this.#description === null ? null : new LinkPoses(model);
    this.topics = [
      ros(TOPICS.state, 'sensor_msgs/msg/JointState'),
      ros(TOPICS.target, 'sensor_msgs/msg/JointState'),
      ros(TOPICS.command, 'std_msgs/msg/Float64MultiArray'),
      ...(this.#poses === null
        ? []
        : [
            ros(TOPICS.description, 'std_msgs/msg/String'),
            ros(TOPICS.tf, 'tf2_msgs/msg/TFMessage'),
            ros(TOPICS.tool, 'geometry_msgs/msg/PoseStamped'),
          ]),
      json(LIVE_TOPICS.status, 'farhand.Status'),
      json(LIVE_TOPICS.latency, 'farhand.Latency'),
      json(TOPICS.world, 'farhand.World'),
      json(TOPICS.motors, 'farhand.Motors'),
      ...cameras.map((name) => ros(`${CAMERA_TOPIC}${name}`, 'sensor_msgs/msg/CompressedImage')),
    ];
  }

  /** What a new reader of the robot's description needs at once. */
  description(): Uint8Array | null {
    return this.#description === null ? null : this.#encoder.string(this.#description);
  }

  telemetry(telemetry: Telemetry, wallNs: bigint): void {
    const { robot, link, commandedRad, world, closed, operator, input } = telemetry;
    for (const { seq, oneWayMs, playoutMs, queueDepth, outcome } of closed)
      this.#json(LIVE_TOPICS.latency, wallNs, { seq, oneWayMs, playoutMs, queueDepth, outcome });
    if (world) this.#json(TOPICS.world, wallNs, world);
    if (robot === null || !link.connected) return;
    const stampNs = wallNs - BigInt(Math.round((link.stateAgeMs ?? 0) * 1e6));
    const { state, cause, limitedBy, clearanceM, motors, measuredRad, gripper, externalNm } = robot;
    const status = { state, cause, limitedBy, input: input.active, mode: operator.mode, clearanceM };
    this.#json(LIVE_TOPICS.status, stampNs, status);
    if (motors) this.#json(TOPICS.motors, stampNs, { operatorNs: telemetry.operatorNs, ...motors });
    if (!this.#isPose(measuredRad)) return;
    if (this.#wanted(TOPICS.state)) {
      const efforts = externalNm ? [...externalNm, Number.NaN].slice(0, this.#names.length) : [];
      const values = this.#vector(measuredRad, gripper);
      this.#send(TOPICS.state, stampNs, this.#encoder.jointState(stampNs, this.#names, values, [], efforts));
    }
    this.#links(measuredRad, stampNs);
    if (commandedRad !== null && this.#isPose(commandedRad)) this.#commands(commandedRad, gripper, wallNs);
  }

  picture(frame: ReceivedFrame, wallNs: bigint): void {
    const topic = `${CAMERA_TOPIC}${frame.camera}`;
    if (frame.encoding !== 'jpeg' || !this.#wanted(topic)) return;
    const id = frameIdOf(frame.camera, frame.captureNs);
    this.#send(topic, wallNs, this.#encoder.compressedImage(wallNs, id, frame.encoding, frame.bytes));
  }

  #commands(commandedRad: readonly number[], gripper: number, wallNs: bigint): void {
    const values = this.#vector(commandedRad, gripper);
    if (this.#wanted(TOPICS.target))
      this.#send(TOPICS.target, wallNs, this.#encoder.jointState(wallNs, this.#names, values));
    if (this.#wanted(TOPICS.command))
      this.#send(TOPICS.command, wallNs, this.#encoder.float64MultiArray(values));
  }

  #links(measuredRad: readonly number[], stampNs: bigint): void {
    const poses = this.#poses;
    const isWanted = this.#wanted(TOPICS.tf) || this.#wanted(TOPICS.tool);
    if (poses === null || !isWanted) return;
    poses.update(measuredRad);
    if (this.#wanted(TOPICS.tf))
      this.#send(TOPICS.tf, stampNs, this.#encoder.transforms(stampNs, poses.links));
    if (this.#wanted(TOPICS.tool))
      this.#send(TOPICS.tool, stampNs, this.#encoder.poseStamped(stampNs, BASE_LINK, poses.tool));
  }

  #vector(jointsRad: readonly number[], gripper: number): Float64Array {
    this.#values.set(jointsRad);
    if (this.#names.length > jointsRad.length) this.#values[jointsRad.length] = gripper;
    return this.#values;
  }

  #json(topic: string, timeNs: bigint, message: unknown): void {
    if (this.#wanted(topic)) this.#send(topic, timeNs, new TextEncoder().encode(JSON.stringify(message)));
  }

  #send(topic: string, timeNs: bigint, bytes: Uint8Array): void {
    this.#publish(topic, timeNs, bytes);
  }

  #isPose(angles: readonly number[]): boolean {
    const joints = this.#names.length - Number(this.#names.at(-1) === GRIPPER_NAME);
    return angles.length === joints && angles.every((angle) => Number.isFinite(angle));
  }
}
