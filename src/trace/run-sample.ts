import { NS_PER_S } from '../core/time/clock.ts';
import { HOPS, OUTCOMES, type TraceRecord } from '../messages/trace-record.ts';
import { type Feel, FeelMeter } from './feel.ts';
import { handToMotionNs, hopsNs, oneWayNs } from './segments.ts';
import { Sequencer } from './sequencer.ts';

/** What is compared between two runs; one column each. */
export const COMPARED = ['oneWay', 'variation', ...HOPS, 'handToMotion'] as const;
export type Compared = (typeof COMPARED)[number];

/** Seconds of a run, evenly sampled if there are too many, each with its values per column. */
export interface RunSample {
  commands: number;
  seconds: Float64Array[][];
  /** One group of seconds is kept out of this many. */
  stride: number;
  uncertaintyNs: number;
  feel: Feel;
}

const MAX_SECONDS = 1200;
/** Seconds stay together in groups of this size, because neighbours are correlated. */
export const GROUP_S = 5;

/** Collects a run for comparison, in bounded memory. */
export class RunSampler {
  readonly #sequencer = new Sequencer((record, session) => this.#take(record, session));
  readonly #feel = new FeelMeter();
  readonly #scratch = new Float64Array(HOPS.length);
  #kept: { group: number; columns: number[][] }[] = [];
  #stride = 1;
  #second = -1;
  #secondsSeen = 0;
  #open: number[][] | null = null;
  #session = -1;
  #previousNs = Number.NaN;
  #commands = 0;
  #uncertaintyNs = 0;

  add(record: TraceRecord): void {
    this.#sequencer.push(record);
  }

  finish(): RunSample {
    this.#sequencer.flush();
    this.#feel.finish();
    return {
      commands: this.#commands,
      seconds: this.#kept.map(({ columns }) => columns.map((column) => Float64Array.from(column))),
      stride: this.#stride,
      uncertaintyNs: this.#uncertaintyNs,
      feel: this.#feel.verdict(),
    };
  }

  #take(record: TraceRecord, session: number): void {
    this.#feel.add(record, session);
    this.#commands++;
    if (record.uncertaintyNs > this.#uncertaintyNs) this.#uncertaintyNs = record.uncertaintyNs;
    if (session !== this.#session) this.#previousNs = Number.NaN;
    const second = session * 2 ** 32 + Math.floor(record.sampledNs / NS_PER_S);
    if (second !== this.#second) this.#openSecond(second);
    this.#session = session;
    const outcome = OUTCOMES[record.outcome];
    if (outcome !== 'applied' && outcome !== 'late') return;
    const totalNs = oneWayNs(record);
    hopsNs(record, this.#scratch);
    const variationNs = Math.abs(totalNs - this.#previousNs);
    this.#previousNs = totalNs;
    if (this.#open === null) return;
    const values = [totalNs, variationNs, ...this.#scratch, handToMotionNs(record)];
    for (let i = 0; i < values.length; i++) if (!Number.isNaN(values[i])) this.#open[i]!.push(values[i]!);
  }

  #openSecond(second: number): void {
    this.#second = second;
    const group = Math.floor(this.#secondsSeen++ / GROUP_S);
    this.#open = null;
    if (group % this.#stride !== 0) return;
    this.#open = COMPARED.map(() => []);
    this.#kept.push({ group, columns: this.#open });
    if (this.#kept.length <= MAX_SECONDS) return;
    this.#stride *= 2;
    this.#kept = this.#kept.filter((kept) => kept.group % this.#stride === 0);
  }
}
