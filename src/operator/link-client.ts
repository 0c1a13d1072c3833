import { type Counters, REASONS, type Reason } from '../core/counters.ts';
import type { Clock } from '../core/time/clock.ts';
import type { JointCommand } from '../messages/command.ts';
import type { Receipt } from '../messages/receipt.ts';
import { LOST_AFTER_NS, OUTCOMES, type PackedTrace, TRACE } from '../messages/trace-record.ts';
import type { ClockSync } from '../wire/clock-sync.ts';
import {
  copyCommand,
  emptyCommand,
  encodeCommand,
  MAX_REDUNDANCY,
  mostRepeated,
} from '../wire/codecs/command.ts';
import { decodeReceipt, emptyReceipt } from '../wire/codecs/receipt.ts';
import { MAX_DATAGRAM_BYTES, type Outbox, type Peer } from '../wire/reactor.ts';
import type { IssuedCommand } from './command-source.ts';
import type { HaltWatch } from './halt-watch.ts';

const PENDING = 4096;
// seq (0 = closed), sampled, pipeline_done, wire_sent, filter delay, device, sent, arrived, halt, its time
const COLUMNS = 10;

/** Sends commands and closes one trace record per command: by its receipt, or as lost after two seconds. */
export class LinkClient {
  readonly totals = { commands: 0, applied: 0, late: 0, dropped: 0, rejected: 0, lost: 0 };
  readonly #outbox: Outbox;
  readonly #socket: number;
  readonly #robot: Peer;
  readonly #clock: Clock;
  readonly #sync: ClockSync;
  readonly #counters: Counters;
  readonly #halts: HaltWatch;
  readonly #onClosed: (record: PackedTrace) => void;
  readonly #bytes = new Uint8Array(MAX_DATAGRAM_BYTES);
  readonly #pending = new Float64Array(PENDING * COLUMNS);
  readonly #receipt: Receipt = emptyReceipt();
  readonly #recent: JointCommand[];
  /** Reused for every packet; only as many are valid as the packet repeats. */
  readonly #repeated: JointCommand[];
  readonly #redundancy: () => number;
  readonly #most: number;
  readonly #record = TRACE.create();
  #session = 0;
  #oldestOpen = 1;
  #newest = 0;

  constructor(
    outbox: Outbox,
    socket: number,
    robot: Peer,
    clock: Clock,
    sync: ClockSync,
    counters: Counters,
    joints: number,
    redundancy: () => number,
    halts: HaltWatch,
    onClosed: (record: PackedTrace) => void,
  ) {
    this.#outbox = outbox;
    this.#socket = socket;
    this.#robot = robot;
    this.#clock = clock;
    this.#sync = sync;
    this.#counters = counters;
    this.#redundancy = redundancy;
    this.#most = mostRepeated(joints);
    this.#recent = Array.from({ length: MAX_REDUNDANCY }, () => emptyCommand(joints));
    this.#repeated = [...this.#recent];
    this.#halts = halts;
    this.#onClosed = onClosed;
  }

  get open(): number {
    let count = 0;
    for (let seq = this.#oldestOpen; seq <= this.#newest; seq++)
      if (this.#pending[slotOf(seq)] === seq) count++;
    return count;
  }

  /** Hot path: subscriber of the command source's topic. */
  send(command: IssuedCommand): void {
    const pipelineDoneNs = this.#clock.nowNs();
    command.sampledRobotNs = this.#sync.toRobotNs(command.sampledOperatorNs);
    command.syncEpoch = this.#sync.epoch;
    const length = encodeCommand(command, this.#bytes, this.#repeated, this.#repeat(command));
    this.#remember(command);
    const at = slotOf(command.seq);
    this.#expireSlot(at);
    this.#session = command.session;
    this.#newest = command.seq;
    this.totals.commands++;
    const sentNs = this.#outbox.send(this.#socket, this.#bytes, length, this.#robot);
    if (sentNs === 0) this.#counters.add('send-failed');
    this.#pending[at] = command.seq;
    this.#pending[at + 1] = command.sampledOperatorNs;
    this.#pending[at + 2] = pipelineDoneNs;
    this.#pending[at + 3] = sentNs || this.#clock.nowNs();
    this.#pending[at + 4] = command.filterDelayNs;
    this.#pending[at + 5] = command.deviceNs;
    this.#pending[at + 6] = command.sentNs;
    this.#pending[at + 7] = command.arrivedNs;
    this.#pending[at + 8] = this.#halts.halt;
    this.#pending[at + 9] = this.#halts.haltNs;
    this.#halts.clear();
  }

  /** Finds the commands repeated in this packet, oldest first; returns how many. */
  #repeat(command: JointCommand): number {
    let count = 0;
    if (!command.tracking) return 0;
    for (let back = Math.min(this.#redundancy(), this.#most); back > 0; back--) {
      const past = this.#recent[MAX_REDUNDANCY - back]!;
      const isSameKind =
        past.seq > 0 &&
        past.tracking &&
        past.engagement === command.engagement &&
        past.epoch === command.epoch &&
        past.syncEpoch === command.syncEpoch;
      if (isSameKind) this.#repeated[count++] = past;
    }
    return count;
  }

  #remember(command: JointCommand): void {
    const oldest = this.#recent[0]!;
    for (let i = 1; i < MAX_REDUNDANCY; i++) this.#recent[i - 1] = this.#recent[i]!;
    copyCommand(command, oldest);
    this.#recent[MAX_REDUNDANCY - 1] = oldest;
  }

  onReceipt(bytes: Uint8Array, length: number): Reason | null {
    const receipt = this.#receipt;
    const reason = decodeReceipt(bytes, length, receipt);
    if (reason !== null) return reason;
    const at = slotOf(receipt.seq);
    if (receipt.session !== this.#session || this.#pending[at] !== receipt.seq) return 'receipt-unknown';
    const record = this.#begin(at);
    const rejected = receipt.outcome.startsWith('rejected:');
    record.outcome = rejected ? OUTCOMES.indexOf('rejected') : OUTCOMES.indexOf(receipt.outcome as 'applied');
    record.reason = rejected ? REASONS.indexOf(receipt.outcome.slice('rejected:'.length) as Reason) : -1;
    record.kernelNs = receipt.kernelNs;
    record.receiveNs = receipt.receiveNs;
    record.dueNs = receipt.dueNs;
    record.releasedNs = receipt.releasedNs;
    record.appliedNs = receipt.appliedNs;
    record.queueDepth = receipt.queueDepth;
    record.playoutDelayNs = receipt.playoutDelayNs;
    record.late = receipt.late ? 1 : 0;
    this.#close(at, record);
    return null;
  }

  /** Gives up on commands whose receipt is overdue. */
  expire(nowNs: number, afterNs = LOST_AFTER_NS): void {
    while (this.#oldestOpen <= this.#newest) {
      const at = slotOf(this.#oldestOpen);
      if (this.#pending[at] === this.#oldestOpen) {
        if (nowNs - this.#pending[at + 3]! < afterNs) return;
        this.#expireSlot(at);
      }
      this.#oldestOpen++;
    }
  }

  #expireSlot(at: number): void {
    if (this.#pending[at] === 0) return;
    const record = this.#begin(at);
    record.outcome = OUTCOMES.indexOf('lost');
    this.#close(at, record);
  }

  #begin(at: number): PackedTrace {
    const record = this.#record;
    record.session = this.#session;
    record.seq = this.#pending[at]!;
    record.reason = -1;
    record.sampledNs = this.#pending[at + 1]!;
    record.pipelineDoneNs = this.#pending[at + 2]!;
    record.wireSentNs = this.#pending[at + 3]!;
    record.kernelNs = Number.NaN;
    record.receiveNs = Number.NaN;
    record.dueNs = Number.NaN;
    record.releasedNs = Number.NaN;
    record.appliedNs = Number.NaN;
    record.queueDepth = Number.NaN;
    record.playoutDelayNs = Number.NaN;
    record.late = Number.NaN;
    record.filterDelayNs = this.#pending[at + 4]!;
    record.deviceNs = this.#pending[at + 5]!;
    record.sentNs = this.#pending[at + 6]!;
    record.arrivedNs = this.#pending[at + 7]!;
    record.movedNs = Number.NaN;
    record.halt = this.#pending[at + 8]!;
    record.haltNs = this.#pending[at + 9]!;
    record.offsetNs = this.#sync.offsetAt(record.wireSentNs);
    record.uncertaintyNs = this.#sync.uncertaintyNs;
    return record;
  }

  #close(at: number, record: PackedTrace): void {
    this.#pending[at] = 0;
    const outcome = OUTCOMES[record.outcome]!;
    if (outcome === 'dropped-stale') this.totals.dropped++;
    else if (outcome === 'rejected') this.totals.rejected++;
    else if (outcome === 'lost') this.totals.lost++;
    else {
      this.totals.applied++;
      if (outcome === 'late') this.totals.late++;
    }
    this.#onClosed(record);
  }
}

const slotOf = (seq: number): number => (seq % PENDING) * COLUMNS;
