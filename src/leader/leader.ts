// UNVERIFIED ON HARDWARE: tested on simulated motors only.

import { TeleopError } from '../core/errors.ts';
import { monotonicClock } from '../core/time/clock.ts';
import type { ForceFeedback } from './force-feedback.ts';
import type { LeaderLine } from './leader-line.ts';
import type { LeaderSink } from './sink.ts';

export interface LeaderOptions {
  /** Opens the arm's motors. */
  open(): Promise<LeaderLine>;
  hz: number;
  sink: LeaderSink;
  /** Torques of the joints; null: they move freely. */
  force: ForceFeedback | null;
}

const GOODBYES = 3;
/** Missed answers before the leader counts as lost, in cycles. */
const MAX_MISSED = 3;
/** After a pause this long, motors with a watchdog have ended their torque and take no other. */
const WATCHDOG_NS = 80e6;

/** A leader arm: its pose goes to an operator's input. */
export class Leader {
  /** Complete and incomplete cycles. */
  readonly counts = { sent: 0, missed: 0 };
  readonly #options: LeaderOptions;
  readonly #line: LeaderLine;
  readonly #startNs = monotonicClock.nowNs();
  #busy = false;
  #missed = 0;
  #appliedNs = Number.NaN;
  #isClosing = false;

  private constructor(options: LeaderOptions, line: LeaderLine) {
    this.#options = options;
    this.#line = line;
  }

  static async open(options: LeaderOptions): Promise<Leader> {
    const line = await options.open().catch((error: unknown) => {
      options.sink.close();
      throw error;
    });
    const leader = new Leader(options, line);
    try {
      await line.prepare();
      if (options.force !== null && !(await line.begin()))
        throw new TeleopError('robot-silent', 'a motor of the leader takes no torque', {
          hint: 'Switch the leader off and on again, and check that no other program uses its motors.',
        });
      line.every(options.hz, (nowNs) => void leader.#turn(nowNs));
      return leader;
    } catch (error) {
      await leader.close();
      throw error;
    }
  }

  async close(): Promise<void> {
    const { sink } = this.#options;
    this.#isClosing = true;
    await this.#line.release();
    for (let i = 0; i < GOODBYES; i++) await sink.lose(this.#seconds(monotonicClock.nowNs()));
    // What a cycle in progress has sent meanwhile ends, too.
    await this.#line.release();
    this.#line.close();
    sink.close();
  }

  async #turn(nowNs: number): Promise<void> {
    if (this.#busy || this.#isClosing) return;
    this.#busy = true;
    if (await this.#line.read()) await this.#take(nowNs);
    else await this.#miss(nowNs);
    this.#busy = false;
  }

  async #take(nowNs: number): Promise<void> {
    const { sink, force } = this.#options;
    const { jointsRad, open } = this.#line;
    const back = this.#missed >= MAX_MISSED;
    const hasPaused = monotonicClock.nowNs() - this.#appliedNs > WATCHDOG_NS;
    this.#missed = 0;
    this.counts.sent++;
    await sink.take(jointsRad, open, this.#seconds(nowNs));
    if (force === null || this.#isClosing) return;
    if (back || hasPaused) {
      force.lose();
      await this.#line.begin();
    }
    // The instant of the write, not of the read: the torque is held from then on.
    force.turn(monotonicClock.nowNs(), jointsRad, sink.follows);
    if (!this.#isClosing) await this.#line.apply(force.torquesNm);
    this.#appliedNs = monotonicClock.nowNs();
  }

  async #miss(nowNs: number): Promise<void> {
    const { sink, force } = this.#options;
    this.#missed++;
    this.counts.missed++;
    if (this.#missed < MAX_MISSED && this.counts.sent > 0) return;
    await sink.lose(this.#seconds(nowNs));
    if (force === null || this.#isClosing) return;
    force.lose();
    await this.#line.lose();
  }

  #seconds(nowNs: number): number {
    return (nowNs - this.#startNs) / 1e9;
  }
}
