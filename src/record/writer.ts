import { renameSync } from 'node:fs';
import { syncFolderOf } from '../files/write-whole.ts';
import type { RobotModel } from '../geometry/robot-model.ts';
import { BASE_LINK, LinkPoses, urdfOf } from '../geometry/robot-urdf.ts';
import type { MotorReport } from '../messages/motor-health.ts';
import type { EpisodeInfo, EpisodeRow, ReceivedFrame } from '../messages/recording.ts';
import type { WorldTelemetry } from '../messages/telemetry.ts';
import { TRACE_FIELDS, type TraceRecord } from '../messages/trace-record.ts';
import { compressedVideo, FOXGLOVE_SCHEMAS, rawAudio } from './foxglove/messages.ts';
import { McapFileWriter } from './mcap/file-writer.ts';
import {
  CAMERA_TOPIC,
  DEPTH_FORMAT,
  DEPTH_TOPIC,
  EPISODE_METADATA,
  frameIdOf,
  GRIPPER_NAME,
  JSON_SCHEMAS,
  MessageEncoder,
  ROS2_SCHEMAS,
  SUMMARY_METADATA,
  TOPICS,
  traceKey,
} from './schemas.ts';

export const PART_ENDING = '.mcap.part';
export const EPISODE_ENDING = '.mcap';

/** Numbers are buffered for at most this long before they are flushed; pictures are also limited by size. */
const FLUSH_NS = 100e6;
/** Interval of disk syncs: shortens the wait at the end and limits the loss after a power failure. */
const SYNC_NS = 2e9;
/** Of chunks: numbers, then pictures. */
export const LANE_BYTES = [256 * 1024, 256 * 1024];
export const PICTURE_LANE = 1;
/** Poses of the links are for viewers: no more often than they draw. */
const TF_NS = 33e6;

/** What is known when an episode starts. */
export interface EpisodeStart {
  /** The known part of EpisodeInfo. */
  info: EpisodeInfo;
  rig: unknown;
  version: string;
  /** Adds the robot's description and poses. */
  model?: RobotModel;
  /** The writing process. */
  owner?: { pid: number; host: string };
  /** The same instant on both clocks; all times in the file derive from it. */
  startNs: number;
  wallNs: bigint;
}

type FixedTopic = 'command' | 'state' | 'target' | 'row' | 'trace' | 'event';

interface CameraChannels {
  channel: number;
  /** Of the picture written last. */
  captureNs: number;
  sequence: number;
  depthChannel: number | null;
  depths: number;
}

interface ArmChannels {
  poses: LinkPoses;
  tf: number;
  tool: number;
  tfNs: number;
  tfs: number;
}

/**
 * Writes one episode with blocking calls: run it on its own thread. The file ends in `.mcap.part` until it is
 * closed. Throws file system errors; what was flushed before is still in the file.
 */
export class EpisodeWriter {
  readonly #file: McapFileWriter;
  readonly #start: EpisodeStart;
  readonly #names: string[];
  readonly #schemas = new Map<string, number>();
  readonly #encoder = new MessageEncoder();
  readonly #channels: Record<FixedTopic, number>;
  readonly #arm: ArmChannels | null;
  #torqueChannel: number | null = null;
  #motorChannel: number | null = null;
  #motorReports = 0;
  readonly #cameras = new Map<string, CameraChannels>();
  #soundChannel: number | null = null;
  #soundBlocks = 0;
  #worldChannel: number | null = null;
  #worlds = 0;
  readonly #values: Float64Array;
  readonly #finalPath: string;
  #flushedNs: number;
  #syncedNs: number;
  #sequence = 0;
  #events = 0;
  #traces = 0;

  /** `path`: path of the finished episode, `<dir>/<id>.mcap`. */
  constructor(path: string, start: EpisodeStart) {
    const { info, rig, version, owner } = start;
    this.#start = start;
    this.#finalPath = path;
    this.#flushedNs = this.#syncedNs = start.startNs;
    this.#names = info.hasGripper ? [...info.joints, GRIPPER_NAME] : info.joints;
    this.#values = new Float64Array(this.#names.length);
    const header = { profile: 'ros2', library: `farhand ${version}` };
    this.#file = new McapFileWriter(`${path}.part`, header, LANE_BYTES);
    try {
      this.#file.metadata(EPISODE_METADATA, { json: JSON.stringify({ ...info, rig, owner }) });
      this.#channels = this.#declare(info.cameras);
      this.#arm = this.#describe(start);
    } catch (cause) {
      this.#file.remove();
      throw cause;
    }
  }

  get sizeBytes(): number {
    return this.#file.sizeBytes;
  }

  get path(): string {
    return this.#file.path;
  }

  #jsonChannel(topic: string, name: keyof typeof JSON_SCHEMAS): number {
    const schema = this.#file.schema(name, 'jsonschema', JSON.stringify(JSON_SCHEMAS[name]));
    return this.#file.channel(topic, schema, 'json', 0);
  }

  #ros(name: keyof typeof ROS2_SCHEMAS): number {
    return this.#schema(name, 'ros2msg', ROS2_SCHEMAS[name]);
  }

  /** Written with the first channel that uses it. */
  #schema(name: string, encoding: string, text: string | Uint8Array): number {
    const known = this.#schemas.get(name) ?? this.#file.schema(name, encoding, text);
    this.#schemas.set(name, known);
    return known;
  }

  /** The robot's description, written at once, and the channels of its poses. */
  #describe({ model, startNs }: EpisodeStart): ArmChannels | null {
    const urdf = model === undefined ? null : urdfOf(model);
    if (model === undefined || urdf === null) return null;
    const channel = (topic: string, type: keyof typeof ROS2_SCHEMAS) =>
      this.#file.channel(topic, this.#ros(type), 'cdr', 0);
    const description = channel(TOPICS.description, 'std_msgs/msg/String');
    const tf = channel(TOPICS.tf, 'tf2_msgs/msg/TFMessage');
    const tool = channel(TOPICS.tool, 'geometry_msgs/msg/PoseStamped');
    this.#put(description, 0, this.wallNsAt(startNs), this.#encoder.string(urdf));
    return { poses: new LinkPoses(model), tf, tool, tfNs: Number.NEGATIVE_INFINITY, tfs: 0 };
  }

  /** Whether rows get the pose of the tool. */
  get hasTool(): boolean {
    return this.#arm !== null;
  }

  #declare(cameras: readonly string[]): Record<FixedTopic, number> {
    const file = this.#file;
    const ros = (name: keyof typeof ROS2_SCHEMAS) => this.#ros(name);
    const joints = ros('sensor_msgs/msg/JointState');
    const array = ros('std_msgs/msg/Float64MultiArray');
    const channels = {
      command: file.channel(TOPICS.command, array, 'cdr', 0),
      state: file.channel(TOPICS.state, joints, 'cdr', 0),
      target: file.channel(TOPICS.target, joints, 'cdr', 0),
      row: this.#jsonChannel(TOPICS.row, 'farhand.Row'),
      trace: this.#jsonChannel(TOPICS.trace, 'farhand.Trace'),
      event: this.#jsonChannel(TOPICS.event, 'farhand.Event'),
    };
    for (const camera of cameras) {
      const channel = this.#pictureChannel(camera);
      const nothingYet = { captureNs: Number.NaN, sequence: 0, depthChannel: null, depths: 0 };
      this.#cameras.set(camera, { channel, ...nothingYet });
    }
    return channels;
  }

  #pictureChannel(camera: string): number {
    const topic = `${CAMERA_TOPIC}${camera}`;
    return this.#isVideo
      ? this.#foxgloveChannel(topic, 'foxglove.CompressedVideo')
      : this.#file.channel(topic, this.#ros('sensor_msgs/msg/CompressedImage'), 'cdr', PICTURE_LANE);
  }

  #foxgloveChannel(topic: string, name: keyof typeof FOXGLOVE_SCHEMAS): number {
    const schema = this.#schema(name, 'protobuf', FOXGLOVE_SCHEMAS[name]);
    return this.#file.channel(topic, schema, 'protobuf', PICTURE_LANE);
  }

  get #isVideo(): boolean {
    return this.#start.info.video === 'h264';
  }

  /** Converts an operator time to wall-clock time. */
  wallNsAt(operatorNs: number): bigint {
    return this.#start.wallNs + BigInt(Math.round(operatorNs - this.#start.startNs));
  }

  /** One row with the pictures it refers to; each picture is written once. */
  row(row: EpisodeRow, sampledNs: number, pictures: ReadonlyMap<string, ReceivedFrame>): void {
    const timeNs = this.wallNsAt(sampledNs);
    for (const [camera, frame] of pictures) this.#picture(camera, frame, timeNs);
    const { commandRad, stateRad, effort = [], velocityRadS, torqueNm, toolPose: _, ...rest } = row;
    const sequence = this.#sequence++;
    const { command, state, target } = this.#channels;
    const commanded = this.#vector(commandRad, row.commandGripper);
    this.#put(command, sequence, timeNs, this.#encoder.float64MultiArray(commanded));
    this.#put(target, sequence, timeNs, this.#encoder.jointState(timeNs, this.#names, commanded));
    const measured = this.#vector(stateRad, row.stateGripper);
    const efforts = effort.slice(0, this.#names.length);
    const speeds = this.#perName(velocityRadS);
    this.#put(
      state,
      sequence,
      timeNs,
      this.#encoder.jointState(timeNs, this.#names, measured, speeds, efforts),
    );
    if (torqueNm !== undefined) this.#torque(sequence, timeNs, torqueNm);
    this.#poses(sequence, timeNs, sampledNs, stateRad);
    // The row comes last: once it is in the file, everything it refers to is too.
    this.#put(this.#channels.row, sequence, timeNs, jsonBytes(rest));
  }

  /** One value for each name: a gripper has none. */
  #perName(values: readonly number[] | undefined): readonly number[] {
    if (values === undefined) return [];
    return this.#start.info.hasGripper ? [...values, Number.NaN] : values;
  }

  #torque(sequence: number, timeNs: bigint, torqueNm: readonly number[]): void {
    this.#torqueChannel ??= this.#file.channel(
      TOPICS.torque,
      this.#ros('std_msgs/msg/Float64MultiArray'),
      'cdr',
      0,
    );
    this.#put(this.#torqueChannel, sequence, timeNs, this.#encoder.float64MultiArray(torqueNm));
  }

  #poses(sequence: number, timeNs: bigint, sampledNs: number, stateRad: readonly number[]): void {
    const arm = this.#arm;
    if (arm === null) return;
    arm.poses.update(stateRad);
    this.#put(arm.tool, sequence, timeNs, this.#encoder.poseStamped(timeNs, BASE_LINK, arm.poses.tool));
    if (sampledNs - arm.tfNs < TF_NS) return;
    arm.tfNs = sampledNs;
    this.#put(arm.tf, arm.tfs++, timeNs, this.#encoder.transforms(timeNs, arm.poses.links));
  }

  #picture(camera: string, frame: ReceivedFrame, timeNs: bigint): void {
    const seen = this.#cameras.get(camera);
    if (seen === undefined || seen.captureNs === frame.captureNs) return;
    seen.captureNs = frame.captureNs;
    const stampNs = this.#captureWallNs(frame);
    const id = frameIdOf(camera, frame.captureNs);
    if (!this.#isVideo) {
      const data = this.#encoder.compressedImage(stampNs, id, frame.encoding, frame.bytes);
      this.#put(seen.channel, seen.sequence++, timeNs, data);
    }
    if (frame.depth === undefined) return;
    seen.depthChannel ??= this.#file.channel(
      `${DEPTH_TOPIC}${camera}`,
      this.#ros('sensor_msgs/msg/CompressedImage'),
      'cdr',
      PICTURE_LANE,
    );
    const depth = this.#encoder.compressedImage(stampNs, id, DEPTH_FORMAT, frame.depth);
    this.#put(seen.depthChannel, seen.depths++, timeNs, depth);
  }

  #captureWallNs({ captureOperatorNs, arrivedNs }: ReceivedFrame): bigint {
    return this.wallNsAt(Number.isFinite(captureOperatorNs) ? captureOperatorNs : arrivedNs);
  }

  /** An encoded picture of an episode with video: every one, in order, and before the rows that refer to it. */
  video(frame: ReceivedFrame, annexB: Uint8Array): void {
    const seen = this.#cameras.get(frame.camera);
    if (seen === undefined) return;
    const id = frameIdOf(frame.camera, frame.captureNs);
    const timeNs = this.wallNsAt(Math.max(frame.arrivedNs, this.#start.startNs));
    this.#put(seen.channel, seen.sequence++, timeNs, compressedVideo(this.#captureWallNs(frame), id, annexB));
  }

  /** A block of sound whose first sample was taken at `atNs`. */
  sound(atNs: number, samples: Uint8Array, rateHz: number): void {
    this.#soundChannel ??= this.#foxgloveChannel(TOPICS.sound, 'foxglove.RawAudio');
    const timeNs = this.wallNsAt(atNs);
    this.#put(this.#soundChannel, this.#soundBlocks++, timeNs, rawAudio(timeNs, samples, rateHz));
  }

  #vector(jointsRad: readonly number[], gripper: number): Float64Array {
    this.#values.set(jointsRad);
    if (this.#start.info.hasGripper) this.#values[jointsRad.length] = gripper;
    return this.#values;
  }

  /** A closed command; unknown fields are null. */
  trace(record: TraceRecord, atNs: number): void {
    const fields: Record<string, number | null> = {};
    for (const name of TRACE_FIELDS)
      fields[traceKey(name)] = Number.isNaN(record[name]) ? null : record[name];
    this.#put(this.#channels.trace, this.#traces++, this.wallNsAt(atNs), jsonBytes(fields));
  }

  /** Condition of the motors; the channel exists only in recordings of robots that report it. */
  motors(atNs: number, motors: MotorReport): void {
    this.#motorChannel ??= this.#jsonChannel(TOPICS.motors, 'farhand.Motors');
    const data = jsonBytes({ operatorNs: atNs, ...motors });
    this.#put(this.#motorChannel, this.#motorReports++, this.wallNsAt(atNs), data);
  }

  /** The simulated world; the channel exists only in recordings of one. */
  world(atNs: number, world: WorldTelemetry): void {
    this.#worldChannel ??= this.#jsonChannel(TOPICS.world, 'farhand.World');
    this.#put(this.#worldChannel, this.#worlds++, this.wallNsAt(atNs), jsonBytes(world));
  }

  event(atNs: number, event: string, detail: string): void {
    const data = jsonBytes({ atNs, event, detail });
    this.#put(this.#channels.event, this.#events++, this.wallNsAt(atNs), data);
  }

  #put(channelId: number, sequence: number, timeNs: bigint, data: Uint8Array): void {
    this.#file.message({ channelId, sequence, timeNs, data });
  }

  /** Call often: flushes what has waited long enough. */
  flushIfDue(nowNs: number): void {
    if (nowNs - this.#flushedNs < FLUSH_NS) return;
    this.#flushedNs = nowNs;
    this.#file.flush();
    if (nowNs - this.#syncedNs < SYNC_NS) return;
    this.#syncedNs = nowNs;
    this.#file.sync();
  }

  /** Completes the file with the episode's summary and renames it to its final name, or to `intoPath`. */
  close(info: EpisodeInfo, intoPath = this.#finalPath): string {
    this.#file.metadata(SUMMARY_METADATA, { json: JSON.stringify(info) });
    this.#file.end();
    renameSync(this.#file.path, intoPath);
    syncFolderOf(intoPath);
    return intoPath;
  }

  /** Whether the file still has a name: data written to a deleted file is lost. */
  get isNamed(): boolean {
    return this.#file.isNamed;
  }

  /** Closes the unfinished file; deletes it if no row can be recovered. Returns whether the file remains. */
  abandon(): boolean {
    const isWorthKeeping = this.#file.hasChunks && this.#file.isNamed;
    if (isWorthKeeping) this.#file.close();
    else this.#file.remove();
    return isWorthKeeping;
  }

  discard(): void {
    this.#file.remove();
  }
}

const encoder = new TextEncoder();
const jsonBytes = (value: unknown): Uint8Array => encoder.encode(JSON.stringify(value));
