import type { Clock } from '../../../core/time/clock.ts';
import { ALERT, PRESENT, REGISTER } from '../../buses/dynamixel/control-table.ts';
import { BROADCAST_ID, DYNAMIXEL_2, INSTRUCTION } from '../../buses/dynamixel/dynamixel-2.ts';
import { FastStatus } from '../../buses/dynamixel/fast-status.ts';
import { SyncWrite, syncReadPacket } from '../../buses/servo/packets.ts';
import type { Exchange, ServoBus } from '../../buses/servo/servo-bus.ts';
import type { ServoPacket } from '../../buses/servo/servo-protocol.ts';
import { signedAt } from '../../buses/servo/values.ts';

/** A fast reply: head and instruction once; error, id and CRC per motor. */
const FAST_HEAD_BYTES = 8;
const FAST_FRAME_BYTES = 4;

const presentRequest = (ids: readonly number[], instruction: number = INSTRUCTION.syncRead): Uint8Array =>
  syncReadPacket(DYNAMIXEL_2, instruction, PRESENT.address, PRESENT.size, ids);

/** First packet of a cycle: new goals, torque off, or none. */
export type Lead = 'goals' | 'release' | 'none';

export interface CycleEvents {
  /** A complete set of positions arrived. */
  onFeedback(): void;
  /** The cycle is over, complete or not. */
  onOver(nowNs: number): void;
}

/**
 * One cycle on the bus: goals out and positions in, as one write and one exchange. Sync writes are not
 * acknowledged, so goals are repeated each cycle. Only the serial port allocates in a cycle.
 */
export class HandCycle {
  readonly ticks: Int32Array;
  readonly velocityUnits: Int32Array;
  /** mA; of a motor without current control, 0.1 % of its load. */
  readonly currentUnits: Int32Array;
  readonly goals: Int32Array;
  /** Error bytes of the last replies. */
  readonly errors: Uint8Array;
  readonly #bus: ServoBus;
  readonly #clock: Clock;
  readonly #ids: readonly number[];
  readonly #index: Int8Array;
  readonly #events: CycleEvents;
  readonly #goalWrite: SyncWrite;
  readonly #releaseWrite: SyncWrite;
  readonly #fastRequest: Uint8Array;
  readonly #plainRequest: Uint8Array;
  readonly #fastStatus: FastStatus;
  readonly #incomingTicks: Int32Array;
  readonly #incomingVelocity: Int32Array;
  readonly #answered: Uint8Array;
  readonly #exchange: Exchange;
  readonly #canBeFast: boolean;
  #fast: boolean;
  #partial: Uint8Array | null = null;
  #asked: number;
  #busy = false;
  #beganNs = 0;
  /** When the positions in `ticks` were requested. */
  feedbackNs = Number.NEGATIVE_INFINITY;
  /** Consecutive cycles without a complete reply. */
  missed = 0;
  /** Turns skipped because the previous one was not over. */
  overruns = 0;
  cycles = 0;
  /** Motors that did not reply in the last failed cycle; known only if it was not a fast read. */
  silent: readonly number[] = [];

  constructor(bus: ServoBus, ids: readonly number[], canBeFast: boolean, clock: Clock, events: CycleEvents) {
    const count = ids.length;
    this.#bus = bus;
    this.#clock = clock;
    this.#ids = ids;
    this.#events = events;
    this.#canBeFast = canBeFast;
    this.#fast = canBeFast;
    this.#asked = count;
    this.#index = Int8Array.from({ length: 256 }, (_, id) => ids.indexOf(id));
    this.ticks = new Int32Array(count);
    this.velocityUnits = new Int32Array(count);
    this.currentUnits = new Int32Array(count);
    this.goals = new Int32Array(count);
    this.errors = new Uint8Array(count);
    this.#incomingTicks = new Int32Array(count);
    this.#incomingVelocity = new Int32Array(count);
    this.#answered = new Uint8Array(count);
    this.#goalWrite = new SyncWrite(
      DYNAMIXEL_2,
      REGISTER.goalPosition.address,
      REGISTER.goalPosition.size,
      ids,
    );
    this.#releaseWrite = new SyncWrite(
      DYNAMIXEL_2,
      REGISTER.torqueEnable.address,
      REGISTER.torqueEnable.size,
      ids,
    );
    this.#fastRequest = presentRequest(ids, INSTRUCTION.fastSyncRead);
    this.#plainRequest = presentRequest(ids);
    this.#fastStatus = new FastStatus(ids, PRESENT.size, (id, error, bytes, at) =>
      this.#take(this.#index[id]!, error, bytes, at),
    );
    this.#exchange = {
      bytes: new Uint8Array(this.#goalWrite.bytes.length + this.#plainRequest.length),
      byteCount: 0,
      answers: 0,
      answerBytes: 0,
      onStatus: (packet) => this.#onStatus(packet),
      onDone: (complete) => this.#onDone(complete),
    };
  }

  /** Motors to skip while they cannot reply. Their last values stay. */
  excuse(ids: readonly number[]): void {
    const asked = this.#ids.filter((id) => !ids.includes(id));
    this.#partial = ids.length === 0 ? null : presentRequest(asked);
    this.#asked = asked.length;
    this.missed = 0;
  }

  /** Returns false while the previous cycle is still running. */
  begin(nowNs: number, lead: Lead): boolean {
    if (this.#busy) {
      this.overruns++;
      return false;
    }
    const { bytes } = this.#exchange;
    let end = lead === 'none' ? 0 : this.#putLead(bytes, lead);
    this.#fast &&= this.#partial === null;
    const request = this.#partial ?? (this.#fast ? this.#fastRequest : this.#plainRequest);
    for (let i = 0; i < request.length; i++) bytes[end + i] = request[i]!;
    end += request.length;
    this.#exchange.byteCount = end;
    this.#exchange.answers = this.#asked;
    this.#exchange.answerBytes = this.answerBytes();
    this.#answered.fill(0);
    this.#busy = true;
    this.#beganNs = nowNs;
    this.cycles++;
    this.#bus.submit(this.#exchange, true);
    return true;
  }

  answerBytes(): number {
    return this.#fast
      ? FAST_HEAD_BYTES + this.#ids.length * (PRESENT.size + FAST_FRAME_BYTES)
      : this.#asked * (PRESENT.size + DYNAMIXEL_2.statusBytes);
  }

  get isFast(): boolean {
    return this.#fast;
  }

  get isBusy(): boolean {
    return this.#busy;
  }

  #putLead(bytes: Uint8Array, lead: Lead): number {
    const write = lead === 'goals' ? this.#goalWrite : this.#releaseWrite;
    for (let i = 0; i < this.#ids.length; i++) write.set(i, lead === 'goals' ? this.goals[i]! : 0);
    const length = write.encode();
    for (let i = 0; i < length; i++) bytes[i] = write.bytes[i]!;
    return length;
  }

  #onStatus({ id, error, params, paramBytes }: ServoPacket): number {
    if (this.#fast) return id === BROADCAST_ID ? this.#fastStatus.take(params, paramBytes) : 0;
    const i = this.#index[id]!;
    if (i < 0 || paramBytes !== PRESENT.size || this.#answered[i] === 1) return 0;
    this.#take(i, error, params, 0);
    return 1;
  }

  #take(i: number, error: number, bytes: Uint8Array, at: number): void {
    this.#answered[i] = 1;
    this.errors[i] = error;
    this.currentUnits[i] = signedAt(bytes, at, 2);
    this.#incomingVelocity[i] = signedAt(bytes, at + PRESENT.velocityAt, 4);
    this.#incomingTicks[i] = signedAt(bytes, at + PRESENT.positionAt, 4);
  }

  #onDone(complete: boolean): void {
    this.#busy = false;
    if (complete) {
      this.ticks.set(this.#incomingTicks);
      this.velocityUnits.set(this.#incomingVelocity);
      this.feedbackNs = this.#beganNs;
      this.missed = 0;
      this.#fast = this.#canBeFast;
      this.#events.onFeedback();
    } else {
      this.missed++;
      this.silent = this.#fast ? [] : this.#ids.filter((_, i) => this.#answered[i] === 0);
      // The next cycle, read one by one, shows which motor does not reply.
      this.#fast = false;
    }
    this.#events.onOver(this.#clock.nowNs());
  }

  isAlert(i: number): boolean {
    return (this.errors[i]! & ALERT) !== 0;
  }
}
