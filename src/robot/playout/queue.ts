import type { Reason } from '../../core/counters.ts';
import type { JointCommand } from '../../messages/command.ts';

/** A command waiting for its playout time, with the robot's stamps so far. */
export interface QueuedCommand {
  command: JointCommand;
  kernelNs: number;
  receiveNs: number;
  dueNs: number;
  /** Arrived after it was due. */
  late: boolean;
}

/**
 * Bounded queue between receiving and applying, in sequence order. Never allocates after construction.
 * Entries returned by `shift` stay valid until the next `insert`.
 */
export class CommandQueue {
  /** A ring: the waiting ones from `#first` on, oldest first, then the spare ones. */
  readonly #slots: QueuedCommand[];
  #first = 0;
  #count = 0;
  #releasedSeq = 0;

  constructor(capacity: number, makeCommand: () => JointCommand) {
    this.#slots = Array.from({ length: capacity }, () => ({
      command: makeCommand(),
      kernelNs: Number.NaN,
      receiveNs: Number.NaN,
      dueNs: Number.NaN,
      late: false,
    }));
  }

  /** Number of waiting commands. */
  get depth(): number {
    return this.#count;
  }

  /** Sequence number of the newest command that left the queue. */
  get releasedSeq(): number {
    return this.#releasedSeq;
  }

  /** Due time of the oldest waiting command; Infinity when there is none. */
  get nextDueNs(): number {
    return this.#count > 0 ? this.#slots[this.#first]!.dueNs : Number.POSITIVE_INFINITY;
  }

  /** A slot for the next command, or null if the queue is full. It counts only after `insert`. */
  slot(): QueuedCommand | null {
    return this.#count < this.#slots.length ? this.#slots[this.#at(this.#count)]! : null;
  }

  /** Why a command with this sequence number is rejected: duplicate or too late. */
  rejection(seq: number): Reason | null {
    if (seq <= this.#releasedSeq) return seq === this.#releasedSeq ? 'duplicate' : 'dropped-stale';
    for (let i = this.#count - 1; i >= 0 && this.#seqAt(i) >= seq; i--)
      if (this.#seqAt(i) === seq) return 'duplicate';
    return null;
  }

  /** Queues the slot last returned by `slot`. */
  insert(): Reason | null {
    const entry = this.#slots[this.#at(this.#count)]!;
    const rejected = this.rejection(entry.command.seq);
    if (rejected !== null) return rejected;
    let i = this.#count++;
    for (; i > 0 && this.#seqAt(i - 1) > entry.command.seq; i--)
      this.#slots[this.#at(i)] = this.#slots[this.#at(i - 1)]!;
    this.#slots[this.#at(i)] = entry;
    return null;
  }

  /** True if a newer command is due as well, so that the oldest can be dropped. */
  isSuperseded(nowNs: number): boolean {
    return this.#count > 1 && this.#slots[this.#at(1)]!.dueNs <= nowNs;
  }

  /** Takes the oldest waiting command. */
  shift(): QueuedCommand | null {
    if (this.#count === 0) return null;
    const entry = this.#slots[this.#first]!;
    this.#first = this.#at(1);
    this.#count--;
    this.#releasedSeq = entry.command.seq;
    return entry;
  }

  /** Forgets everything: a new operator session restarts its numbering. */
  clear(): void {
    this.#count = 0;
    this.#releasedSeq = 0;
  }

  #at(i: number): number {
    return (this.#first + i) % this.#slots.length;
  }

  #seqAt(i: number): number {
    return this.#slots[this.#at(i)]!.command.seq;
  }
}
