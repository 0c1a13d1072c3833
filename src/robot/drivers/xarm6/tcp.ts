import type { Clock } from '../../../core/time/clock.ts';
import { MessageCutter } from '../../buses/message-cutter.ts';
import { TcpLink } from '../../buses/tcp-link.ts';
import {
  encodeXarm,
  isXarmReply,
  XARM_FLAG,
  XARM_HEAD_BYTES,
  XARM_MAX_BYTES,
  xarmTotalBytes,
} from '../../buses/xarm-frame.ts';
import {
  decodeReport,
  encodeServoJoint,
  REPORT_HEAD_BYTES,
  REPORT_MAX_BYTES,
  reportTotalBytes,
  SERVO_FRAME_BYTES,
  XARM,
  type XarmReport,
} from './codec.ts';

const JOINTS = 6;
const POLL_MS = 100;
const COMMAND_SILENCE_MS = 1000;
const REPORT_SILENCE_MS = 500;
/** Differences over shorter spans are mostly arrival jitter. */
const MIN_SPAN_NS = 5e6;
const VELOCITY_SHARE = 0.5;

export interface XarmEvents {
  /** A report arrived, or the error codes changed. */
  event(): void;
  down(why: string): void;
  /** Every 100 ms, on the event loop. */
  beat(): void;
}

/** Both connections to a control box: commands with replies, and the report stream. They reconnect. */
export class XarmTcp {
  readonly report: XarmReport = {
    ...{ state: 0, mode: 0 },
    positionsRad: new Float64Array(JOINTS),
    effortsNm: new Float64Array(JOINTS).fill(Number.NaN),
  };
  readonly velocitiesRadS = new Float64Array(JOINTS);
  /** Arrival time of the newest report on our clock. NaN before the first. */
  reportNs = Number.NaN;
  errorCode = 0;
  warningCode = 0;
  /** "axes,type,serial numbers,version" as the control box reports it. */
  version = '';
  /** Messages that violate the protocol. */
  malformed = 0;
  readonly #clock: Clock;
  readonly #events: XarmEvents;
  readonly #command: TcpLink;
  readonly #reports: TcpLink;
  readonly #commandCutter = new MessageCutter(XARM_HEAD_BYTES, XARM_MAX_BYTES, xarmTotalBytes);
  readonly #reportCutter = new MessageCutter(REPORT_HEAD_BYTES, REPORT_MAX_BYTES, reportTotalBytes);
  readonly #servoFrame = Buffer.alloc(SERVO_FRAME_BYTES);
  readonly #previousRad = new Float64Array(JOINTS);
  readonly #takeReply = (message: Buffer): boolean => this.#reply(message);
  readonly #takeReport = (message: Buffer): boolean => this.#onReport(message);
  readonly #waiting = new Map<number, (state: number) => void>();
  readonly #poll: NodeJS.Timeout;
  #transaction = 0;
  #reporting = false;

  constructor(host: string, commandPort: number, reportPort: number, clock: Clock, events: XarmEvents) {
    this.#clock = clock;
    this.#events = events;
    this.#command = new TcpLink(
      { host, port: commandPort, silenceMs: COMMAND_SILENCE_MS },
      {
        up: () => this.#begin(),
        bytes: (chunk) => this.#feed(this.#command, this.#commandCutter, chunk, this.#takeReply),
        down: (why) => this.#lost(why),
      },
    );
    this.#reports = new TcpLink(
      { host, port: reportPort, silenceMs: REPORT_SILENCE_MS },
      {
        up: () => this.#reportCutter.restart(),
        bytes: (chunk) => this.#feed(this.#reports, this.#reportCutter, chunk, this.#takeReport),
        down: (why) => this.#lost(why),
      },
    );
    this.#poll = setInterval(() => {
      this.send(XARM.getError);
      events.beat();
    }, POLL_MS);
  }

  /** Commands get replies and reports arrive. */
  get ready(): boolean {
    return this.#command.up && this.version !== '' && this.#reporting;
  }

  /**
   * Sends a command; only the reply's state byte is used. Returns its transaction; 0 without a connection.
   */
  send(func: number, parameters: readonly number[] = []): number {
    const transaction = this.#next();
    return this.#command.send(encodeXarm(transaction, func, parameters)) ? transaction : 0;
  }

  /** Sends a command and resolves with its reply's state byte; −1 if the connection ended first. */
  ask(func: number, parameters: readonly number[] = []): Promise<number> {
    const transaction = this.send(func, parameters);
    if (transaction === 0) return Promise.resolve(-1);
    return new Promise((resolve) => this.#waiting.set(transaction, resolve));
  }

  /** False while the last target is still buffered: old targets must not queue up. Hot path. */
  servo(positionsRad: Float64Array): boolean {
    if (!this.#command.clear) return false;
    encodeServoJoint(this.#servoFrame, this.#next(), positionsRad);
    return this.#command.send(this.#servoFrame);
  }

  dispose(): void {
    clearInterval(this.#poll);
    this.#forget();
    this.#command.dispose();
    this.#reports.dispose();
  }

  #next(): number {
    this.#transaction = (this.#transaction % 0xffff) + 1;
    return this.#transaction;
  }

  #begin(): void {
    this.#commandCutter.restart();
    this.version = '';
    this.send(XARM.version);
  }

  #feed(link: TcpLink, cutter: MessageCutter, chunk: Buffer, take: (message: Buffer) => boolean): void {
    if (cutter.push(chunk, take)) return;
    this.malformed++;
    link.drop('message with an impossible length');
  }

  #lost(why: string): void {
    this.#reporting = false;
    this.#forget();
    this.#events.down(why);
  }

  #forget(): void {
    for (const done of this.#waiting.values()) done(-1);
    this.#waiting.clear();
  }

  #reply(message: Buffer): boolean {
    if (!isXarmReply(message)) {
      this.malformed++;
      return true;
    }
    const [func, state] = [message[6]!, message[7]!];
    const transaction = message.readUInt16BE(0);
    const done = this.#waiting.get(transaction);
    if (done !== undefined) {
      this.#waiting.delete(transaction);
      done(state);
    }
    if (func === XARM.version && message.length > 8)
      this.version = message.toString('latin1', 8).replaceAll('\0', '').trim();
    else if (func === XARM.getError && message.length >= 10) this.#codes(message[8]!, message[9]!);
    // The codes arrive with the next reply; do not wait for it to set the flag.
    else if ((state & XARM_FLAG.error) !== 0 && this.errorCode === 0) this.send(XARM.getError);
    return true;
  }

  #codes(error: number, warning: number): void {
    if (error === this.errorCode && warning === this.warningCode) return;
    this.errorCode = error;
    this.warningCode = warning;
    this.#events.event();
  }

  #onReport(message: Buffer): boolean {
    const { report } = this;
    const nowNs = this.#clock.nowNs();
    this.#previousRad.set(report.positionsRad);
    if (!decodeReport(message, report)) {
      this.malformed++;
      return true;
    }
    const spanNs = Math.max(MIN_SPAN_NS, nowNs - this.reportNs);
    if (!this.#reporting || Number.isNaN(spanNs)) this.velocitiesRadS.fill(0);
    else
      for (let i = 0; i < JOINTS; i++) {
        const seen = ((report.positionsRad[i]! - this.#previousRad[i]!) / spanNs) * 1e9;
        this.velocitiesRadS[i] = this.velocitiesRadS[i]! + VELOCITY_SHARE * (seen - this.velocitiesRadS[i]!);
      }
    this.reportNs = nowNs;
    this.#reporting = true;
    this.#events.event();
    return true;
  }
}
