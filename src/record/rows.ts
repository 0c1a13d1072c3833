import type { EpisodeRow } from '../messages/recording.ts';
import { parseRow } from './episode-schema.ts';
import type { MessageRecord } from './mcap/records.ts';
import { readFloat64MultiArray, readJointState, readPose, TOPICS } from './schemas.ts';

/** The channels that make up a row. */
export const ROW_TOPICS: readonly string[] = [
  TOPICS.command,
  TOPICS.state,
  TOPICS.torque,
  TOPICS.tool,
  TOPICS.row,
];

/** Assembles rows from the messages of a file, in file order. */
export class RowAssembler {
  readonly #joints: number;
  readonly #commands = new Map<number, number[]>();
  readonly #states = new Map<number, number[]>();
  /** What not every recording has. */
  #extra: Pick<EpisodeRow, 'effort' | 'velocityRadS' | 'torqueNm' | 'toolPose'> = {};

  constructor(joints: number) {
    this.#joints = joints;
  }

  /** The row once its last message has arrived; null before that, and for an incomplete row. */
  add(topic: string, { sequence, data }: MessageRecord): EpisodeRow | null {
    if (topic === TOPICS.command) this.#commands.set(sequence, this.#angles(readFloat64MultiArray(data)));
    else if (topic === TOPICS.state) this.#takeState(sequence, data);
    else if (topic === TOPICS.torque) this.#takeTorque(data);
    else if (topic === TOPICS.tool) this.#takeTool(data);
    return topic === TOPICS.row ? this.#row(sequence, data) : null;
  }

  #takeState(sequence: number, data: Uint8Array): void {
    const state = readJointState(data);
    this.#states.set(sequence, this.#angles(state?.positions));
    const efforts = state?.efforts;
    const isWhole = efforts !== undefined && efforts.length > 0 && efforts.length === state?.names.length;
    if (isWhole && efforts.every(Number.isFinite)) this.#extra.effort = [...efforts];
    const speeds = this.#angles(state?.velocities);
    if (speeds.length === this.#joints && speeds.every(Number.isFinite)) this.#extra.velocityRadS = speeds;
  }

  #takeTorque(data: Uint8Array): void {
    const torqueNm = this.#angles(readFloat64MultiArray(data));
    if (torqueNm.length === this.#joints && torqueNm.every(Number.isFinite)) this.#extra.torqueNm = torqueNm;
  }

  #takeTool(data: Uint8Array): void {
    const toolPose = readPose(data);
    if (toolPose !== null) this.#extra.toolPose = toolPose;
  }

  #row(sequence: number, data: Uint8Array): EpisodeRow | null {
    const row = parseRow(data);
    const [commandRad, stateRad] = [this.#commands.get(sequence), this.#states.get(sequence)];
    this.#commands.clear();
    this.#states.clear();
    const isWhole = commandRad?.length === this.#joints && stateRad?.length === this.#joints;
    const extra = this.#extra;
    this.#extra = {};
    return row !== null && isWhole ? { ...row, commandRad, stateRad, ...extra } : null;
  }

  #angles(values: Float64Array | null | undefined): number[] {
    return Array.from(values?.subarray(0, this.#joints) ?? []);
  }
}
