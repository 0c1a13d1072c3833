import { LossMeter } from '../../loss-meter.ts';
import type { PlayoutPolicy, Redundancy } from '../playout-policy.ts';
import type { DelayTrace } from './trace.ts';

/** The outcome of every command of a trace. Microseconds with three decimals, as written to a file. */
export interface Applied {
  /** Receiver's clock; NaN: never applied. */
  applyUs: Float64Array;
  /** The policy's delay after the stamp; NaN if it declares none. */
  delayUs: Float64Array;
  /** Commands that arrived after they were due. */
  late: number;
  /**
   * Commands that arrived after a newer one was applied, became due together with one, or met a full queue.
   */
  dropped: number;
}

const NS_PER_US = 1000;
/** From the robot’s decision to the operator’s next packet: the return path and a period. */
const RETURN_NS = 30e6;
/** Same as the live queue: one second of commands at 1 kHz. */
const QUEUE_CAPACITY = 1024;

/**
 * Plays a trace through a policy and a queue on a virtual clock, exactly as the live robot would with zero
 * processing time. With `redundancy` K each packet repeats the last K commands; `auto`: as many as the robot asks for.
 */
export function replay(trace: DelayTrace, policy: PlayoutPolicy, redundancy: Redundancy = 0): Applied {
  const queue = new ReplayQueue(trace.count, policy.name !== 'none');
  const { sendUs, delayUs } = trace;
  const order = arrivalOrder(trace);
  const seen = new Uint8Array(trace.count);
  const repeats = new Repeats(redundancy);
  for (const packet of order) {
    const repeat = repeats.of(sendUs[packet]! * NS_PER_US);
    const nowNs = (sendUs[packet]! + delayUs[packet]!) * NS_PER_US;
    queue.releaseUntil(nowNs);
    repeats.arrived(packet, nowNs);
    for (let seq = Math.max(0, packet - repeat); seq <= packet; seq++) {
      if (seen[seq] === 1) continue;
      seen[seq] = 1;
      const sampledRobotNs = sendUs[seq]! * NS_PER_US;
      queue.insert(
        seq,
        sampledRobotNs,
        policy.schedule(sampledRobotNs, nowNs, undefined, seq < packet),
        nowNs,
      );
    }
    queue.releaseUntil(nowNs);
  }
  queue.releaseUntil(Number.POSITIVE_INFINITY);
  return queue.applied;
}

/** The requests of a loss meter, as the operator learns of them. */
class Repeats {
  readonly #fixed: Redundancy;
  readonly #meter = new LossMeter();
  readonly #changes: { atNs: number; repeat: number }[] = [{ atNs: Number.NEGATIVE_INFINITY, repeat: 0 }];

  constructor(redundancy: Redundancy) {
    this.#fixed = redundancy;
  }

  arrived(packet: number, nowNs: number): void {
    if (this.#fixed !== 'auto') return;
    this.#meter.add(packet + 1, nowNs);
    const { repeat } = this.#meter;
    if (repeat !== this.#changes.at(-1)!.repeat) this.#changes.push({ atNs: nowNs + RETURN_NS, repeat });
  }

  of(sentNs: number): number {
    if (this.#fixed !== 'auto') return this.#fixed;
    return this.#changes.findLast(({ atNs }) => atNs <= sentNs)!.repeat;
  }
}

/** The commands that arrived, in order of arrival. */
function arrivalOrder({ count, sendUs, delayUs }: DelayTrace): Int32Array {
  const order = new Int32Array(count);
  let arrived = 0;
  for (let seq = 0; seq < count; seq++) {
    if (Number.isNaN(delayUs[seq])) continue;
    const arrivalUs = sendUs[seq]! + delayUs[seq]!;
    let at = arrived++;
    // Insertion sort: the commands are nearly in order.
    for (; at > 0 && sendUs[order[at - 1]!]! + delayUs[order[at - 1]!]! > arrivalUs; at--)
      order[at] = order[at - 1]!;
    order[at] = seq;
  }
  return order.subarray(0, arrived);
}

/** The live `CommandQueue` without its payload, on virtual time. */
class ReplayQueue {
  readonly applied: Applied;
  readonly #dueNs: Float64Array;
  readonly #declares: boolean;
  readonly #waiting = new Int32Array(QUEUE_CAPACITY);
  #count = 0;
  #nowNs = Number.NEGATIVE_INFINITY;
  #releasedSeq = -1;

  constructor(count: number, declares: boolean) {
    this.#declares = declares;
    this.#dueNs = new Float64Array(count);
    const none = () => new Float64Array(count).fill(Number.NaN);
    this.applied = { applyUs: none(), delayUs: none(), late: 0, dropped: 0 };
  }

  insert(seq: number, sampledRobotNs: number, dueNs: number, nowNs: number): void {
    const { applied } = this;
    if (this.#declares) applied.delayUs[seq] = Math.round(dueNs - sampledRobotNs) / NS_PER_US;
    if (dueNs < nowNs) applied.late++;
    if (seq <= this.#releasedSeq || this.#count === QUEUE_CAPACITY) {
      applied.dropped++;
      return;
    }
    this.#dueNs[seq] = dueNs;
    const waiting = this.#waiting;
    let at = this.#count++;
    for (; at > 0 && waiting[at - 1]! > seq; at--) waiting[at] = waiting[at - 1]!;
    waiting[at] = seq;
  }

  releaseUntil(nowNs: number): void {
    while (this.#count > 0 && this.#dueNs[this.#waiting[0]!]! <= nowNs) {
      const seq = this.#waiting[0]!;
      this.#nowNs = Math.max(this.#nowNs, this.#dueNs[seq]!);
      this.#waiting.copyWithin(0, 1, this.#count--);
      this.#releasedSeq = seq;
      const superseded = this.#count > 0 && this.#dueNs[this.#waiting[0]!]! <= this.#nowNs;
      if (superseded) this.applied.dropped++;
      else this.applied.applyUs[seq] = Math.round(this.#nowNs) / NS_PER_US;
    }
    if (nowNs < Number.POSITIVE_INFINITY) this.#nowNs = Math.max(this.#nowNs, nowNs);
  }
}
