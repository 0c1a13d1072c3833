import { percentiles } from '../core/statistics/percentiles.ts';
import { badWindowsOf, TICK_MS } from '../core/statistics/smoothness.ts';
import { NS_PER_S } from '../core/time/clock.ts';
import type { EpisodeQuality, EpisodeRow } from '../messages/recording.ts';
import type { TraceRecord } from '../messages/trace-record.ts';
import { FigureMeter } from './figures.ts';

/**
 * Jerk is the third difference of the measured angles over steps of this length, which filters encoder noise.
 */
const JERK_STEP_S = 0.05;
/** The first ticks of an engagement may jump while its delay settles. */
const WARM_TICKS = 50;
const SHORTEST_RUN = 100;

/** Collects the inputs of an episode's quality; rows and closed commands in order. */
export class QualityMeter {
  readonly #rateHz: number;
  readonly #stride: number;
  readonly #recent: { timeNs: number; stateRad: readonly number[] }[] = [];
  readonly #jerkRadS3: number[] = [];
  readonly #frameAgeMs: number[] = [];
  readonly #oneWayMs: number[] = [];
  /** Of engaged rows, in order. */
  readonly #engagedSeqs: number[] = [];
  /** By seq: when the hand was sampled and when the robot acted, operator clock. */
  readonly #acts = new Map<number, { sampledNs: number; appliedNs: number }>();
  readonly #figures = new FigureMeter();
  #rows = 0;
  #staleRows = 0;

  constructor(rateHz: number) {
    this.#rateHz = rateHz;
    this.#stride = Math.max(1, Math.round(JERK_STEP_S * rateHz));
  }

  row(row: EpisodeRow): void {
    this.#rows++;
    const frames = Object.values(row.frames);
    if (frames.some(({ stale }) => stale)) this.#staleRows++;
    if (frames.length > 0) this.#frameAgeMs.push(Math.max(...frames.map(({ ageNs }) => ageNs)) / 1e6);
    if (row.oneWayNs !== null) this.#oneWayMs.push(row.oneWayNs / 1e6);
    if (row.engaged && row.supervisor === 'engaged') this.#engagedSeqs.push(row.seq);
    this.#jerk(row);
    this.#figures.row(row.timeNs / NS_PER_S, row.commandRad, row.stateRad);
  }

  trace(record: Pick<TraceRecord, 'seq' | 'sampledNs' | 'appliedNs' | 'offsetNs'>): void {
    const { seq, sampledNs } = record;
    this.#acts.set(seq, { sampledNs, appliedNs: record.appliedNs - record.offsetNs });
  }

  #jerk({ timeNs, stateRad }: EpisodeRow): void {
    const recent = this.#recent;
    recent.push({ timeNs, stateRad });
    if (recent.length > 3 * this.#stride + 1) recent.shift();
    if (recent.length <= 3 * this.#stride) return;
    const [a, b, c, d] = [0, 1, 2, 3].map((i) => recent[i * this.#stride]!);
    const stepS = (d!.timeNs - a!.timeNs) / 3e9;
    // Rows were skipped in between: without even steps there is no difference.
    if (Math.abs(stepS - this.#stride / this.#rateHz) > 0.2 / this.#rateHz) return;
    let most = 0;
    for (let j = 0; j < stateRad.length; j++) {
      const third = d!.stateRad[j]! - 3 * c!.stateRad[j]! + 3 * b!.stateRad[j]! - a!.stateRad[j]!;
      most = Math.max(most, Math.abs(third) / stepS ** 3);
    }
    this.#jerkRadS3.push(most);
  }

  result(skippedRows: number): Omit<EpisodeQuality, 'refusedBy'> {
    const share = (part: number, of: number) => (of === 0 ? 0 : part / of);
    return {
      skippedShare: share(skippedRows, this.#rows + skippedRows),
      staleShare: share(this.#staleRows, this.#rows),
      jerkP95RadS3: p95(this.#jerkRadS3),
      frameAgeP95Ms: p95(this.#frameAgeMs),
      oneWayP95Ms: p95(this.#oneWayMs),
      badWindows: this.#badWindows(),
      figures: this.#figures.result(),
    };
  }

  get staleRows(): number {
    return this.#staleRows;
  }

  /** Counts each engagement separately: between them there is nothing to follow. */
  #badWindows(): number {
    let bad = 0;
    let run: number[] = [];
    const end = () => {
      bad += this.#badIn(run);
      run = [];
    };
    for (const seq of this.#engagedSeqs) {
      const next = (run.at(-1) ?? seq - 1) + 1;
      // A skipped row lacks an entry here, but its command was sent.
      if (seq < next || seq - next > this.#rateHz) end();
      else for (let missed = next; missed < seq; missed++) run.push(missed);
      run.push(seq);
    }
    end();
    return bad;
  }

  /** As defined in docs/playout.md: time from sampling to the robot acting on a command at least as new. */
  #badIn(seqs: readonly number[]): number {
    if (seqs.length < SHORTEST_RUN) return 0;
    const latencyMs = new Float64Array(seqs.length);
    let nextNs = Number.NaN;
    for (let i = seqs.length - 1; i >= 0; i--) {
      const act = this.#acts.get(seqs[i]!);
      const appliedNs = act?.appliedNs ?? Number.NaN;
      if (!Number.isNaN(appliedNs)) nextNs = Number.isNaN(nextNs) ? appliedNs : Math.min(nextNs, appliedNs);
      latencyMs[i] = (nextNs - (act?.sampledNs ?? Number.NaN)) / 1e6;
    }
    const known = latencyMs.filter((ms) => !Number.isNaN(ms));
    return badWindowsOf(at100Hz(known, this.#rateHz), WARM_TICKS);
  }
}

function at100Hz(values: Float64Array, rateHz: number): Float64Array {
  const perTick = (rateHz * TICK_MS) / 1000;
  if (perTick === 1) return values;
  return Float64Array.from(
    { length: Math.floor(values.length / perTick) },
    (_, i) => values[Math.floor(i * perTick)]!,
  );
}

const p95 = (values: readonly number[]): number | null => percentiles(values)?.p95 ?? null;
