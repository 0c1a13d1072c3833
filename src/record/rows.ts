import type { EpisodeRow } from '../core/recording.ts';
import type { MessageRecord } from './mcap/records.ts';
import { type RowMessage, readFloat64MultiArray, readJointState, TOPICS } from './schemas.ts';

/** The channels a row is put together from. */
export const ROW_TOPICS: readonly string[] = [TOPICS.command, TOPICS.state, TOPICS.row];

/** Puts rows together from the messages of a file, in the file's order. */
export class RowAssembler {
  readonly #joints: number;
  readonly #commands = new Map<number, number[]>();
  readonly #states = new Map<number, number[]>();

  constructor(joints: number) {
    this.#joints = joints;
  }

  /** The row, once its last message came; null otherwise, and for a row of which a part is not there. */
  add(topic: string, { sequence, data }: MessageRecord): EpisodeRow | null {
    if (topic === TOPICS.command) this.#commands.set(sequence, this.#angles(readFloat64MultiArray(data)));
    else if (topic === TOPICS.state)
      this.#states.set(sequence, this.#angles(readJointState(data)?.positions));
    return topic === TOPICS.row ? this.#row(sequence, data) : null;
  }

  #row(sequence: number, data: Uint8Array): EpisodeRow | null {
    const row = parseJson(data) as RowMessage | null;
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

const utf8 = new TextDecoder('utf-8');

/** Null where the bytes are no JSON. */
export function parseJson(data: Uint8Array): Record<string, unknown> | null {
  try {
    return JSON.parse(utf8.decode(data)) as Record<string, unknown> | null;
  } catch {
    return null;
  }
}
