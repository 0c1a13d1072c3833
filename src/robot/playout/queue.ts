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
  readonly #slots: QueuedCommand[];
  readonly #spare: QueuedCommand[] = [];
  readonly #waiting: QueuedCommand[] = [];
  #releasedSeq = 0;

  constructor(capacity: number, makeCommand: () => JointCommand) {
    this.#slots = Array.from({ length: capacity }, () => ({
      command: makeCommand(),
      kernelNs: Number.NaN,
      receiveNs: Number.NaN,
      dueNs: Number.NaN,
      late: false,
    }));
    this.clear();
  }

  /** Number of waiting commands. */
  get depth(): number {
    return this.#waiting.length;
  }

  /** Sequence number of the newest command that left the queue. */
  get releasedSeq(): number {
    return this.#releasedSeq;
  }

  /** Due time of the oldest waiting command; Infinity when there is none. */
  get nextDueNs(): number {
    return this.#waiting.length > 0 ? this.#waiting[0]!.dueNs : Number.POSITIVE_INFINITY;
  }

  /** A slot for the next command, or null if the queue is full. It counts only after `insert`. */
  slot(): QueuedCommand | null {
    return this.#spare.length > 0 ? this.#spare[this.#spare.length - 1]! : null;
  }

  /** Why a command with this sequence number is rejected: duplicate or too late. */
  rejection(seq: number): Reason | null {
    if (seq <= this.#releasedSeq) return seq === this.#releasedSeq ? 'duplicate' : 'dropped-stale';
    for (let i = this.#waiting.length - 1; i >= 0 && this.#waiting[i]!.command.seq >= seq; i--)
      if (this.#waiting[i]!.command.seq === seq) return 'duplicate';
    return null;
  }

  /** Queues the slot last returned by `slot`. */
  insert(): Reason | null {
    const entry = this.#spare[this.#spare.length - 1]!;
    const seq = entry.command.seq;
    const rejected = this.rejection(seq);
    if (rejected !== null) return rejected;
    let at = this.#waiting.length;
    while (at > 0 && this.#waiting[at - 1]!.command.seq > seq) at--;
    this.#spare.pop();
    this.#waiting.splice(at, 0, entry);
    return null;
  }

  /** True if a newer command is due as well, so that the oldest can be dropped. */
  isSuperseded(nowNs: number): boolean {
    return this.#waiting.length > 1 && this.#waiting[1]!.dueNs <= nowNs;
  }

  /** Takes the oldest waiting command. */
  shift(): QueuedCommand | null {
    const entry = this.#waiting.shift();
    if (entry === undefined) return null;
    this.#releasedSeq = entry.command.seq;
    this.#spare.unshift(entry);
    return entry;
  }

  /** Forgets everything: a new operator session restarts its numbering. */
  clear(): void {
    this.#waiting.length = 0;
    this.#spare.length = 0;
    this.#spare.push(...this.#slots);
    this.#releasedSeq = 0;
  }
}
