import { NS_PER_MS, NS_PER_S } from '../core/time/clock.ts';
import { OUTCOMES, SEGMENTS, type TraceRecord } from '../messages/trace-record.ts';
import { Bunches, type BunchFigures } from '../trace/bunches.ts';
import type { FeelFigures } from '../trace/feel.ts';
import { readTraceParts } from '../trace/read-file.ts';
import { createReport } from '../trace/report.ts';
import { segmentsNs } from '../trace/segments.ts';
import { Sequencer } from '../trace/sequencer.ts';

/** The first second of a process measures the compiler, not the link. */
export const WARM_UP_S = 1;

/** One run of one transport. */
export interface Slice {
  /** Sent after the warm-up. */
  commands: number;
  lost: number;
  /** Per command: until the robot acted on it or on a newer one. */
  actedMs: Float64Array;
  longestWireMs: number;
  bunches: BunchFigures;
  feel: FeelFigures;
}

const LOST = OUTCOMES.indexOf('lost');
const REJECTED = OUTCOMES.indexOf('rejected');
const WIRE = SEGMENTS.indexOf('wire');

/** `fromNs`: when the measurement began, operator's clock. */
export async function readSlice(tracePath: string, fromNs = Number.NEGATIVE_INFINITY): Promise<Slice> {
  const report = createReport();
  const taken = new SliceMeter();
  const inOrder = new Sequencer((record) => taken.add(record));
  await readTraceParts(tracePath, (record) => {
    if (record.sampledNs < fromNs) return;
    report.add(record);
    inOrder.push(record);
  });
  inOrder.flush();
  return { ...taken.figures(), feel: report.finish().feel };
}

class SliceMeter {
  readonly #sampledNs: number[] = [];
  readonly #appliedNs: number[] = [];
  readonly #bunches = new Bunches();
  readonly #segments = new Float64Array(SEGMENTS.length);
  #firstNs = Number.NaN;
  #lost = 0;
  #longestNs = 0;

  /** In send order. */
  add(record: TraceRecord): void {
    const { sampledNs, appliedNs, offsetNs, outcome } = record;
    if (Number.isNaN(this.#firstNs)) this.#firstNs = sampledNs;
    // Rejected commands were meant for a robot that followed nobody.
    if (sampledNs - this.#firstNs < WARM_UP_S * NS_PER_S || outcome === REJECTED) return;
    this.#bunches.add(record);
    segmentsNs(record, this.#segments);
    if (this.#segments[WIRE]! > this.#longestNs) this.#longestNs = this.#segments[WIRE]!;
    if (outcome === LOST) this.#lost++;
    this.#sampledNs.push(sampledNs);
    this.#appliedNs.push(appliedNs - offsetNs);
  }

  figures(): Omit<Slice, 'feel'> {
    const acted: number[] = [];
    let actedNs = Number.NaN;
    // The last ones have nothing newer; what was never acted on is not known.
    for (let i = this.#sampledNs.length - 1; i >= 0; i--) {
      const appliedNs = this.#appliedNs[i]!;
      if (appliedNs < actedNs || Number.isNaN(actedNs)) actedNs = appliedNs;
      if (!Number.isNaN(actedNs)) acted.push((actedNs - this.#sampledNs[i]!) / NS_PER_MS);
    }
    return {
      commands: this.#sampledNs.length,
      lost: this.#lost,
      actedMs: Float64Array.from(acted),
      longestWireMs: this.#longestNs / NS_PER_MS,
      bunches: this.#bunches.figures(),
    };
  }
}
