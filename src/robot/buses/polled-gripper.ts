import type { Clock } from '../../core/time/clock.ts';
import type { TickStatus } from '../../messages/robot-state.ts';
import { emptyGripperReading, type Gripper, type GripperReading } from '../gripper.ts';
import { Refused, until } from './wait.ts';

/** The gripper itself reports that something is wrong; a reply that did not come is only `Refused`. */
export class GripperFault extends Refused {}

/** One gripper's protocol. Its promises reject with `Refused`, whose message is for the operator. */
export interface GripperLink {
  /** Why there is no connection; empty while there is one. */
  readonly trouble: string;
  readonly busErrors: number;
  /** Makes it ready to follow; the fingers must not move. */
  prepare(signal: AbortSignal): Promise<void>;
  /** Writes the target unless it is NaN, then fills in what the gripper reports. */
  cycle(target: number, out: GripperReading): Promise<void>;
  /** Hands the system the bytes that end the motion. */
  stop(): void;
  close(): void;
}

const PERIOD_MS = 10;
const OLD_MS = 500;
/** So many requests in a row without a reply are a fault. Counted, not timed: a pause of this process is no fault. */
const MAX_REFUSALS = 5;
const OPEN_TIMEOUT_MS = 3000;

type Phase = 'off' | 'enabling' | 'enabled';

/** A gripper whose device is asked a hundred times a second; the last target wins. */
export class PolledGripper implements Gripper {
  readonly #link: GripperLink;
  readonly #clock: Clock;
  readonly #reading = emptyGripperReading();
  readonly #next = emptyGripperReading();
  #abort = new AbortController();
  #phase: Phase = 'off';
  #target = Number.NaN;
  #fault = '';
  /** A fault not yet answered with `stop` or `enable`. */
  #alarm = false;
  /** Enabling failed, and `enable` has not reported it yet. */
  #failed = false;
  /** Why the last cycle brought no reading. */
  #refusal = '';
  #refusals = 0;
  #disposed = false;

  constructor(link: GripperLink, clock: Clock) {
    this.#link = link;
    this.#clock = clock;
    void this.#run();
  }

  /** Resolves when the device has reported its position; rejects with `Refused`. */
  ready(): Promise<void> {
    const why = () => this.#link.trouble || this.#refusal || 'no reply';
    return until(
      () => !Number.isNaN(this.#reading.robotNs),
      OPEN_TIMEOUT_MS,
      why,
      new AbortController().signal,
    );
  }

  get fault(): string {
    return this.#fault;
  }

  get busErrors(): number {
    return this.#link.busErrors;
  }

  enable(_nowNs: number): TickStatus {
    if (this.#disposed) return 'fault';
    this.#alarm = false;
    if (this.#phase === 'enabled') return 'ok';
    if (this.#phase === 'enabling') return 'stale';
    if (this.#failed) {
      this.#failed = false;
      return 'fault';
    }
    this.#phase = 'enabling';
    this.#abort = new AbortController();
    return 'stale';
  }

  read(nowNs: number, out: GripperReading): TickStatus {
    if (this.#disposed) return 'fault';
    const { robotNs, position, forceN } = this.#reading;
    const isOld = nowNs - robotNs > OLD_MS * 1e6;
    out.robotNs = Math.min(robotNs, nowNs);
    out.position = position;
    out.forceN = forceN;
    if (this.#alarm) return 'fault';
    return Number.isNaN(robotNs) || isOld ? 'stale' : 'ok';
  }

  write(_nowNs: number, position: number): TickStatus {
    if (this.#disposed || this.#alarm) return 'fault';
    if (this.#phase !== 'enabled') return this.#fault === '' ? 'ok' : 'fault';
    if (!(position >= 0 && position <= 1)) {
      this.#fail(`position ${position} rejected: not between 0 and 1`);
      return 'fault';
    }
    this.#target = position;
    return 'ok';
  }

  stop(_nowNs: number): void {
    this.#alarm = false;
    this.#failed = false;
    this.#release();
  }

  dispose(): void {
    if (this.#disposed) return;
    this.#release();
    this.#disposed = true;
    this.#link.close();
  }

  #release(): void {
    this.#abort.abort();
    if (this.#phase !== 'off' && !this.#disposed) this.#link.stop();
    this.#phase = 'off';
    this.#target = Number.NaN;
  }

  #fail(why: string): void {
    this.#fault = why;
    if (this.#phase === 'off') return;
    if (this.#phase === 'enabling') this.#failed = true;
    else this.#alarm = true;
    this.#release();
  }

  async #run(): Promise<void> {
    while (!this.#disposed) {
      if (this.#link.trouble !== '') this.#fail(this.#link.trouble);
      else await this.#turn();
      await new Promise((resolve) => setTimeout(resolve, PERIOD_MS));
    }
  }

  async #turn(): Promise<void> {
    const { signal } = this.#abort;
    const isEnabling = this.#phase === 'enabling';
    try {
      if (isEnabling) await this.#link.prepare(signal);
      await this.#link.cycle(this.#phase === 'enabled' ? this.#target : Number.NaN, this.#next);
      this.#next.robotNs = this.#clock.nowNs();
      Object.assign(this.#reading, this.#next);
      this.#refusal = '';
      this.#refusals = 0;
      // Only now: the reading is fresh, however long the preparation took.
      if (isEnabling && !signal.aborted) this.#begin();
    } catch (error) {
      if (!(error instanceof Refused)) throw error;
      this.#refusal = error.message;
      this.#refusals++;
      // One lost reply stops nothing: silence does. A gripper that is not in use may be in any state.
      const isSilent = this.#refusals >= MAX_REFUSALS;
      const isFatal = error instanceof GripperFault && this.#phase !== 'off';
      if (isSilent || (isFatal && !signal.aborted)) this.#fail(error.message);
    }
  }

  #begin(): void {
    this.#fault = '';
    this.#phase = 'enabled';
  }
}
