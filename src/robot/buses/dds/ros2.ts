import { type CdrReader, type CdrWriter, payloadReader } from '../../../core/cdr.ts';
import type { Topic } from './local-topics.ts';

/** A ROS 2 message type: its name on DDS, the hash that newer ROS 2 requires, and its codec. */
export interface MessageType<T> {
  readonly ddsName: string;
  /** RIHS01, of the type's description. */
  readonly hash: string;
  write(out: CdrWriter, message: T): void;
  read(cdr: CdrReader): T;
}

export interface Float64MultiArray {
  data: ArrayLike<number>;
}

export interface JointState {
  /** Wall clock, like ROS time. */
  stampNs: number;
  frameId: string;
  names: readonly string[];
  positions: ArrayLike<number>;
  velocities: ArrayLike<number>;
  efforts: ArrayLike<number>;
}

export const float64MultiArray: MessageType<Float64MultiArray> = {
  ddsName: 'std_msgs::msg::dds_::Float64MultiArray_',
  hash: 'RIHS01_1025ddc6b9552d191f89ef1a8d2f60f3d373e28b283d8891ddcc974e8c55397f',
  write(out, { data }) {
    // No dimensions, no offset.
    out.u32(0);
    out.u32(0);
    out.f64s(data);
  },
  read(cdr) {
    const dimensions = cdr.count(12);
    for (let i = 0; i < dimensions && cdr.ok; i++) {
      cdr.string();
      cdr.u32();
      cdr.u32();
    }
    const offset = cdr.u32();
    const data = cdr.f64s();
    return { data: offset === 0 ? data : data.subarray(offset) };
  },
};

/** std_msgs/String. */
export const text: MessageType<{ data: string }> = {
  ddsName: 'std_msgs::msg::dds_::String_',
  hash: 'RIHS01_df668c740482bbd48fb39d76a70dfd4bd59db1288021743503259e948f6b1a18',
  write(out, { data }) {
    out.string(data);
  },
  read: (cdr) => ({ data: cdr.string() }),
};

export const jointState: MessageType<JointState> = {
  ddsName: 'sensor_msgs::msg::dds_::JointState_',
  hash: 'RIHS01_a13ee3a330e346c9d87b5aa18d24e11690752bd33a0350f11c5882bc9179260e',
  write(out, { stampNs, frameId, names, positions, velocities, efforts }) {
    out.i32(Math.floor(stampNs / 1e9));
    out.u32(Math.floor(stampNs % 1e9));
    out.string(frameId);
    out.strings(names);
    out.f64s(positions);
    out.f64s(velocities);
    out.f64s(efforts);
  },
  read(cdr) {
    const seconds = cdr.i32();
    return {
      stampNs: seconds * 1e9 + cdr.u32(),
      frameId: cdr.string(),
      names: cdr.strings(),
      positions: cdr.f64s(),
      velocities: cdr.f64s(),
      efforts: cdr.f64s(),
    };
  },
};

/** The message in a sample's payload; null if invalid. */
export function readMessageOf<T>(type: MessageType<T>, payload: Uint8Array): T | null {
  const cdr = payloadReader(payload);
  if (cdr === null) return null;
  const message = type.read(cdr);
  return cdr.ok ? message : null;
}

const NAME = /^\/?(?:[A-Za-z_][A-Za-z0-9_]*)(?:\/[A-Za-z_][A-Za-z0-9_]*)*$/;

/** Whether it is a valid ROS 2 topic name. */
export const isTopicName = (name: string): boolean => NAME.test(name) && !name.includes('__');

/** The DDS name of a ROS 2 topic. Services would be `rq/…Request` and `rr/…Reply` beside `rt/…`. */
export const ros2Topic = (
  name: string,
  type: { ddsName: string; hash: string },
  qos: { reliable: boolean; depth?: number },
): Topic => ({
  topic: `rt/${name.replace(/^\//, '')}`,
  type: type.ddsName,
  reliable: qos.reliable,
  transientLocal: false,
  depth: qos.depth ?? 1,
  userData: `typehash=${type.hash};`,
});
