import type { FeelStatus } from '../messages/telemetry.ts';
import type { TraceRecord } from '../messages/trace-record.ts';
import { FeelMeter, feelFigures } from '../trace/feel.ts';
import { CAUSE_WORDS, type Cause } from '../trace/feel-cause.ts';
import { MotionCorrelator, type MotionLatency } from '../trace/motion-latency.ts';
import { LIVE_HOLD_NS, Sequencer } from '../trace/sequencer.ts';
import { jointsCount, jointsReader } from './joints-ring.ts';

const ESTIMATE_NS = 1e9;
/** A little more than a minute. */
const KEPT_WINDOWS = 64;

/**
 * Live estimate of how the run feels and how much the joints lag. For the main thread: it has no deadline.
 */
export class LiveFeel {
  readonly #meter = new FeelMeter({ keepWindows: KEPT_WINDOWS });
  readonly #sequencer = new Sequencer((record, session) => this.#meter.add(record, session), {
    holdNs: LIVE_HOLD_NS,
  });
  readonly #readJoints: ReturnType<typeof jointsReader>;
  readonly #correlator: MotionCorrelator;
  #estimatedNs = 0;
  #motion: MotionLatency | null = null;

  constructor(joints: SharedArrayBuffer) {
    this.#readJoints = jointsReader(joints);
    this.#correlator = new MotionCorrelator(jointsCount(joints));
  }

  /** Takes records in the order they are closed; does not keep them. */
  add(record: TraceRecord): void {
    this.#sequencer.push(record);
  }

  /**
   * Takes the joints received since, and updates the estimate once a second. `offsetNs`: robot − operator.
   */
  motion(nowNs: number, offsetNs: number): MotionLatency | null {
    this.#readJoints((kind, ns, _seq, anglesRad) => {
      if (kind === 'state') this.#correlator.state(ns - offsetNs, anglesRad);
      else if (kind === 'command') this.#correlator.command(ns, anglesRad);
      else this.#correlator.clear();
    });
    if (Math.abs(nowNs - this.#estimatedNs) < ESTIMATE_NS) return this.#motion;
    this.#estimatedNs = nowNs;
    this.#motion = this.#correlator.estimate();
    return this.#motion;
  }

  /** Null until the first second has been evaluated. */
  feel(): FeelStatus | null {
    const verdict = this.#meter.verdict();
    const { seconds } = verdict;
    const last = seconds.at(-1);
    if (last === undefined) return null;
    const { deviating, ticks, isBad, cause } = last;
    const bad = seconds.slice(-KEPT_WINDOWS).filter((second) => second.isBad);
    return {
      ...feelFigures(verdict),
      last: { off: deviating, ticks, isBad, cause: wordsOf(cause) },
      bad: bad.map(({ startNs, endNs, cause: why }) => ({
        fromS: startNs / 1e9,
        toS: endNs / 1e9,
        cause: wordsOf(why),
      })),
    };
  }
}

const wordsOf = (cause: Cause | null): string => (cause === null ? '' : CAUSE_WORDS[cause]);
