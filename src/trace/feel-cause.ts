import { SEGMENTS } from '../messages/trace-record.ts';

/** Why a tick's latency differed from what the operator had adapted to. */
export const CAUSES = [
  ...SEGMENTS,
  'lost',
  'dropped',
  'rejected',
  'missed-tick',
  'late-wake',
  'outage',
  'robot-stall',
  'input',
  'fault',
] as const;
export type Cause = (typeof CAUSES)[number];

export const CAUSE_WORDS: Record<Cause, string> = {
  pipeline: 'the operator’s mapping was slow',
  serialise: 'the operator was slow to send',
  wire: 'the network was slow',
  receive: 'the robot was slow to receive',
  playout: 'the playout delay changed',
  apply: 'the driver or its bus was slow',
  lost: 'commands or their receipts were lost',
  dropped: 'commands arrived after newer ones',
  rejected: 'the robot rejected commands',
  'missed-tick': 'the operator’s loop missed ticks',
  'late-wake': 'the robot’s loop woke late',
  outage: 'the network delivered no commands in time',
  'robot-stall': 'the robot’s control loop stalled',
  input: 'the input device was silent',
  fault: 'the robot stopped itself because of a fault',
};

const SEGMENT_COUNT = SEGMENTS.length;
const HISTORY = 201;

/** Learns the usual duration of each segment, to find the one responsible for an unusual tick. */
export class Blame {
  readonly #recent = new Float64Array(HISTORY * SEGMENT_COUNT);
  readonly #usual = new Float64Array(SEGMENT_COUNT);
  #count = 0;
  /** Medians need a sort: they are refreshed on demand, at most once per this many ticks. */
  #freshUntil = 0;

  /** Segments of an applied command. */
  learn(segments: Float64Array): void {
    this.#recent.set(segments, (this.#count++ % HISTORY) * SEGMENT_COUNT);
  }

  /**
   * The segment that deviates most from its usual value in the direction of the error; ignores NaN segments.
   */
  segmentOf(segments: Float64Array, isLate: boolean): number {
    this.#refresh();
    let worst = -1;
    let most = 0;
    for (let i = 0; i < SEGMENT_COUNT; i++) {
      const excessNs = (segments[i]! - this.#usual[i]!) * (isLate ? 1 : -1);
      if (excessNs > most) {
        most = excessNs;
        worst = i;
      }
    }
    return worst;
  }

  /** How much longer than usual a segment took. */
  excessNs(segments: Float64Array, segment: number): number {
    this.#refresh();
    return segments[segment]! - this.#usual[segment]!;
  }

  #refresh(): void {
    if (this.#count < this.#freshUntil) return;
    this.#freshUntil = this.#count + 20;
    const kept = Math.min(this.#count, HISTORY);
    const column = new Float64Array(kept);
    for (let i = 0; i < SEGMENT_COUNT; i++) {
      for (let k = 0; k < kept; k++) column[k] = this.#recent[k * SEGMENT_COUNT + i]!;
      column.sort();
      this.#usual[i] = column[kept >> 1] ?? 0;
    }
  }
}
