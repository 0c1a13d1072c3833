import { CdrReader, CdrWriter, ENCAPSULATION, ENCAPSULATION_BYTES, payloadReader } from '../core/cdr.ts';
import type { EpisodeRow } from '../messages/recording.ts';
import type { TraceRecord } from '../messages/trace-record.ts';

/** Names in a recording. They are public: docs/recording.md describes the layout. */
export const TOPICS = {
  command: '/farhand/command',
  state: '/farhand/joint_states',
  target: '/farhand/target',
  row: '/farhand/row',
  trace: '/farhand/trace',
  event: '/farhand/event',
  motors: '/farhand/motors',
  sound: '/farhand/sound',
  world: '/farhand/world',
  torque: '/farhand/torque',
  tool: '/farhand/tool',
  /** Names that viewers look for. */
  description: '/robot_description',
  tf: '/tf',
} as const;
export const CAMERA_TOPIC = '/farhand/camera/';
export const DEPTH_TOPIC = '/farhand/depth/';
/** The format of distances, as ROS names it: 16 bits, one channel, millimetres. */
export const DEPTH_FORMAT = '16UC1; png compressed ';
export const EPISODE_METADATA = 'farhand.episode';
export const SUMMARY_METADATA = 'farhand.summary';
export const GRIPPER_NAME = 'gripper';
/** Key of a field on the topic `trace`. `sampledNs` keeps the key that existing readers use. */
export const traceKey = (field: keyof TraceRecord): string => (field === 'sampledNs' ? 'getStateNs' : field);

const RULE = '='.repeat(80);
const HEADER = `${RULE}
MSG: std_msgs/Header
builtin_interfaces/Time stamp
string frame_id
${RULE}
MSG: builtin_interfaces/Time
int32 sec
uint32 nanosec
`;

const POSE_PARTS = `${RULE}
MSG: geometry_msgs/Quaternion
float64 x
float64 y
float64 z
float64 w
`;

/** ROS 2 message definitions, each with its dependencies. */
export const ROS2_SCHEMAS = {
  'std_msgs/msg/Float64MultiArray': `std_msgs/MultiArrayLayout layout
float64[] data
${RULE}
MSG: std_msgs/MultiArrayLayout
std_msgs/MultiArrayDimension[] dim
uint32 data_offset
${RULE}
MSG: std_msgs/MultiArrayDimension
string label
uint32 size
uint32 stride
`,
  'sensor_msgs/msg/JointState': `std_msgs/Header header
string[] name
float64[] position
float64[] velocity
float64[] effort
${HEADER}`,
  'geometry_msgs/msg/PoseStamped': `std_msgs/Header header
geometry_msgs/Pose pose
${RULE}
MSG: geometry_msgs/Pose
geometry_msgs/Point position
geometry_msgs/Quaternion orientation
${RULE}
MSG: geometry_msgs/Point
float64 x
float64 y
float64 z
${POSE_PARTS}${HEADER}`,
  'tf2_msgs/msg/TFMessage': `geometry_msgs/TransformStamped[] transforms
${RULE}
MSG: geometry_msgs/TransformStamped
std_msgs/Header header
string child_frame_id
geometry_msgs/Transform transform
${RULE}
MSG: geometry_msgs/Transform
geometry_msgs/Vector3 translation
geometry_msgs/Quaternion rotation
${RULE}
MSG: geometry_msgs/Vector3
float64 x
float64 y
float64 z
${POSE_PARTS}${HEADER}`,
  'std_msgs/msg/String': `string data
`,
  'sensor_msgs/msg/CompressedImage': `std_msgs/Header header
string format
uint8[] data
${HEADER}`,
} as const;

const object = (properties: Record<string, object>) => ({ type: 'object', properties });
const number = { type: 'number' };
const text = { type: 'string' };
const maybe = { type: ['number', 'null'] };
/** One value per joint. */
const perMotor = { type: 'array', items: maybe };

/** JSON Schemas of our channels. */
export const JSON_SCHEMAS = {
  'farhand.Row': object({
    index: number,
    timeNs: number,
    seq: number,
    engaged: { type: 'boolean' },
    source: text,
    intervention: { type: 'boolean' },
    disagreementRad: number,
    commandGripper: number,
    stateGripper: number,
    supervisor: text,
    limitedBy: text,
    subtask: text,
    oneWayNs: maybe,
    uncertaintyNs: maybe,
    playoutDelayNs: maybe,
    frames: {
      type: 'object',
      additionalProperties: object({ captureNs: number, ageNs: number, stale: { type: 'boolean' } }),
    },
  }),
  'farhand.Trace': { type: 'object', additionalProperties: maybe },
  'farhand.Event': object({ atNs: number, event: text, detail: text }),
  'farhand.Motors': object({
    operatorNs: number,
    temperatureC: perMotor,
    currentA: perMotor,
    voltageV: perMotor,
    level: perMotor,
  }),
  'farhand.World': object({
    task: text,
    seed: number,
    round: number,
    elapsedS: number,
    limitS: number,
    score: number,
    outcome: text,
    held: number,
    baseM: perMotor,
    poses: perMotor,
  }),
} as const;

/** A row as a JSON message: the joints are in separate channels. */
export type RowMessage = Omit<
  EpisodeRow,
  'commandRad' | 'stateRad' | 'effort' | 'velocityRadS' | 'torqueNm' | 'toolPose'
>;

/** The pose of a link's frame in its parent's: x, y, z (m), then a quaternion x, y, z, w. */
export interface FrameTransform {
  parent: string;
  child: string;
  pose: ArrayLike<number>;
}

/** Encodes into memory that the next call reuses; grows as needed. */
export class MessageEncoder {
  #cdr = new CdrWriter(new Uint8Array(64 * 1024));

  float64MultiArray(values: ArrayLike<number>): Uint8Array {
    return this.#encode(64 + values.length * 8, (cdr) => {
      cdr.u32(0);
      cdr.u32(0);
      cdr.f64s(values);
    });
  }

  /** `velocities` and `efforts` may be empty: unknown. */
  jointState(
    stampNs: bigint,
    names: readonly string[],
    positions: ArrayLike<number>,
    velocities: ArrayLike<number> = [],
    efforts: ArrayLike<number> = [],
  ): Uint8Array {
    return this.#encode(128 + names.length * 72 + names.join('').length * 4, (cdr) => {
      header(cdr, stampNs, '');
      cdr.strings(names);
      cdr.f64s(positions);
      cdr.f64s(velocities);
      cdr.f64s(efforts);
    });
  }

  /** x, y, z (m), then a quaternion x, y, z, w. */
  poseStamped(stampNs: bigint, frameId: string, pose: ArrayLike<number>): Uint8Array {
    return this.#encode(128 + frameId.length * 4, (cdr) => {
      header(cdr, stampNs, frameId);
      for (let i = 0; i < 7; i++) cdr.f64(pose[i]!);
    });
  }

  transforms(stampNs: bigint, transforms: readonly FrameTransform[]): Uint8Array {
    const texts = transforms.reduce((sum, { parent, child }) => sum + parent.length + child.length, 0);
    return this.#encode(64 + transforms.length * 128 + texts * 4, (cdr) => {
      cdr.u32(transforms.length);
      for (const { parent, child, pose } of transforms) {
        header(cdr, stampNs, parent);
        cdr.string(child);
        for (let i = 0; i < 7; i++) cdr.f64(pose[i]!);
      }
    });
  }

  string(text: string): Uint8Array {
    return this.#encode(64 + text.length * 4, (cdr) => cdr.string(text));
  }

  compressedImage(stampNs: bigint, frameId: string, format: string, bytes: Uint8Array): Uint8Array {
    return this.#encode(256 + frameId.length * 4 + bytes.length, (cdr) => {
      header(cdr, stampNs, frameId);
      cdr.string(format);
      cdr.u32(bytes.length);
      cdr.raw(bytes);
    });
  }

  #encode(atMostBytes: number, write: (cdr: CdrWriter) => void): Uint8Array {
    if (this.#cdr.bytes.length < atMostBytes) this.#cdr = new CdrWriter(new Uint8Array(2 * atMostBytes));
    this.#cdr.begin(ENCAPSULATION.cdrLe);
    write(this.#cdr);
    if (!this.#cdr.ok) throw new Error(`a message is larger than ${atMostBytes} bytes`);
    return this.#cdr.bytes.subarray(0, this.#cdr.length);
  }
}

function header(cdr: CdrWriter, stampNs: bigint, frameId: string): void {
  cdr.i32(Number(stampNs / 1_000_000_000n));
  cdr.u32(Number(stampNs % 1_000_000_000n));
  cdr.string(frameId);
}

/** The numbers of a Float64MultiArray; null if the payload is not one. */
export function readFloat64MultiArray(payload: Uint8Array): Float64Array | null {
  const cdr = payloadReader(payload);
  if (cdr === null || cdr.u32() !== 0) return null;
  cdr.u32();
  const values = cdr.f64s();
  return cdr.ok ? values : null;
}

/** The pose of a PoseStamped, as `EpisodeRow.toolPose`; null if the payload is not one. */
export function readPose(payload: Uint8Array): number[] | null {
  const cdr = payloadReader(payload);
  if (cdr === null) return null;
  cdr.i32();
  cdr.u32();
  cdr.string();
  const pose = Array.from({ length: 7 }, () => cdr.f64());
  return cdr.ok && pose.every(Number.isFinite) ? pose : null;
}

/** The numbers of a JointState; null if the payload is not one. */
export function readJointState(
  payload: Uint8Array,
): { names: string[]; positions: Float64Array; velocities: Float64Array; efforts: Float64Array } | null {
  const cdr = payloadReader(payload);
  if (cdr === null) return null;
  cdr.i32();
  cdr.u32();
  cdr.string();
  const names = cdr.strings();
  const positions = cdr.f64s();
  if (!cdr.ok) return null;
  const velocities = cdr.f64s();
  const efforts = cdr.f64s();
  const none = new Float64Array(0);
  return { names, positions, velocities: cdr.ok ? velocities : none, efforts: cdr.ok ? efforts : none };
}

/** `<camera>:<captureNs>`, the frame_id of every picture. */
export const frameIdOf = (camera: string, captureNs: number): string => `${camera}:${captureNs}`;

/**
 * A picture's capture time on the camera host's clock, from the first bytes of its message; NaN if
 * unreadable.
 */
export function captureOf(head: Uint8Array): number {
  if (head.length < ENCAPSULATION_BYTES) return Number.NaN;
  const cdr = new CdrReader(head, ENCAPSULATION_BYTES, head.length, head[1] === ENCAPSULATION.cdrLe);
  cdr.i32();
  cdr.u32();
  const frameId = cdr.string();
  return cdr.ok ? captureIn(frameId) : Number.NaN;
}

/** The capture time in a frame id; NaN if there is none. */
export function captureIn(frameId: string): number {
  const captured = frameId.slice(frameId.lastIndexOf(':') + 1);
  return captured !== '' ? Number(captured) : Number.NaN;
}

/** Bytes of a CompressedImage; null if the payload is not one. A view, not a copy. */
export function readCompressedImage(payload: Uint8Array): { captureNs: number; bytes: Uint8Array } | null {
  const cdr = payloadReader(payload);
  if (cdr === null) return null;
  cdr.i32();
  cdr.u32();
  cdr.string();
  cdr.string();
  const count = cdr.u32();
  const at = cdr.take(count);
  if (at < 0) return null;
  return { captureNs: captureOf(payload), bytes: payload.subarray(at, at + count) };
}
