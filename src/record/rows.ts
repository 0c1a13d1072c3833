import type { EpisodeRow } from '../messages/recording.ts';
import { parseRow } from './episode-schema.ts';
import type { MessageRecord } from './mcap/records.ts';
import { readFloat64MultiArray, readJointState, TOPICS } from './schemas.ts';

/** The channels that make up a row. */
export const ROW_TOPICS: readonly string[] = [TOPICS.command, TOPICS.state, TOPICS.row];

/** Assembles rows from the messages of a file, in file order. */
export class RowAssembler {
  readonly #joints: number;
  readonly #commands = new Map<number, number[]>();
  readonly #states = new Map<number, number[]>();

  constructor(joints: number) {
    this.#joints = joints;
  }

  /** The row once its last message has arrived; null before that, and for an incomplete row. */
  add(topic: string, { sequence, data }: MessageRecord): EpisodeRow | null {
    if (topic === TOPICS.command) this.#commands.set(sequence, this.#angles(readFloat64MultiArray(data)));
    else if (topic === TOPICS.state)
      this.#states.set(sequence, this.#angles(readJointState(data)?.positions));
    return topic === TOPICS.row ? this.#row(sequence, data) : null;
  }

  #row(sequence: number, data: Uint8Array): EpisodeRow | null {
    const row = parseRow(data);
    const [commandRad, stateRad] = [this.#commands.get(sequence), this.#states.get(sequence)];
    this.#commands.clear();
    this.#states.clear();
    const isWhole = commandRad?.length === this.#joints && stateRad?.length === this.#joints;
    return row !== null && isWhole ? { ...row, commandRad, stateRad } : null;
  }

  #angles(values: Float64Array | null | undefined): number[] {
    return Array.from(values?.subarray(0, this.#joints) ?? []);
  }
}
