import { type Percentiles, percentiles } from '../../src/core/statistics/percentiles.ts';
import type { ClosedCommand } from '../../src/messages/telemetry.ts';
import { SEGMENTS } from '../../src/messages/trace-record.ts';

/** How much the page keeps, and how much the Operate page shows. */
export const WINDOW_S = 60;
export const RECENT_S = 10;
/** One minute at 200 Hz; older commands are removed. */
const MAX_COMMANDS = 12_000;

/** Commands of the last minute, ordered by hand sample. Lost commands close late and are inserted in order. */
export class LatencyWindow {
  readonly #commands: ClosedCommand[] = [];
  /** Page clock − operator clock, seconds. Only for scrolling the chart between messages. */
  #shiftS = Number.NaN;

  get commands(): readonly ClosedCommand[] {
    return this.#commands;
  }

  add(closed: readonly ClosedCommand[], pageS: number): void {
    for (const command of closed) this.#insert(command);
    const newest = this.#commands.at(-1);
    if (newest && closed.length > 0) {
      const shiftS = pageS - newest.atS;
      const jumped = !(Math.abs(shiftS - this.#shiftS) < 1);
      this.#shiftS = jumped ? shiftS : this.#shiftS + (shiftS - this.#shiftS) * 0.05;
    }
    this.#prune(pageS);
  }

  /** Estimated operator time now. */
  nowS(pageS: number): number {
    return pageS - this.#shiftS;
  }

  clear(): void {
    this.#commands.length = 0;
    this.#shiftS = Number.NaN;
  }

  /** Index of the first command within the last `seconds`. */
  firstOf(seconds: number): number {
    const newestS = this.#commands.at(-1)?.atS ?? 0;
    let [low, high] = [0, this.#commands.length];
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (this.#commands[middle]!.atS < newestS - seconds) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  /** One-way times of the commands applied within the last `seconds`. */
  oneWayMs(seconds: number): number[] {
    const found: number[] = [];
    for (let i = this.firstOf(seconds); i < this.#commands.length; i++) {
      const { oneWayMs } = this.#commands[i]!;
      if (oneWayMs !== null) found.push(oneWayMs);
    }
    return found;
  }

  /** Of the newest scheduled command. A median over a second would hide how the delay moves. */
  playout(): { delayMs: number | null; depth: number | null } {
    for (let i = this.#commands.length - 1; i >= 0; i--) {
      const { playoutMs, queueDepth } = this.#commands[i]!;
      if (playoutMs !== null) return { delayMs: playoutMs, depth: queueDepth };
    }
    return { delayMs: null, depth: null };
  }

  /** Percentiles of each segment over the commands applied within the last `seconds`. */
  segments(seconds: number): (Percentiles | null)[] {
    const recent = this.#commands.slice(this.firstOf(seconds));
    const whole = recent.filter((command) => command.oneWayMs !== null);
    return SEGMENTS.map((_, i) => percentiles(whole.map((command) => command.segmentsMs[i] ?? Number.NaN)));
  }

  #insert(command: ClosedCommand): void {
    let at = this.#commands.length;
    while (at > 0 && this.#commands[at - 1]!.atS > command.atS) at--;
    this.#commands.splice(at, 0, command);
  }

  #prune(pageS: number): void {
    const oldestS = this.nowS(pageS) - WINDOW_S - 0.5;
    let expired = Math.max(0, this.#commands.length - MAX_COMMANDS);
    while (expired < this.#commands.length && this.#commands[expired]!.atS < oldestS) expired++;
    if (expired > 0) this.#commands.splice(0, expired);
  }
}
