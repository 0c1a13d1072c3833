import type { Clock } from '../../src/core/time/clock.ts';
import type { DatagramHandler, Outbox, Peer } from '../../src/wire/reactor.ts';

/** A role on the network: its clock has its own zero, and receive buffers are poisoned after every call. */
export class Seat implements DatagramHandler {
  loop: DatagramHandler | null = null;
  readonly clock: Clock;
  #offsetNs: number;
  /** Datagrams waiting for a stalled process. */
  #waiting: (() => void)[] | null = null;

  constructor(base: Clock, offsetNs: number) {
    this.#offsetNs = offsetNs;
    this.clock = { nowNs: () => base.nowNs() + this.#offsetNs };
  }

  /** A monotonic clock can only jump ahead, as after a suspend of the other machine. */
  step(byNs: number): void {
    this.#offsetNs += byNs;
  }

  onDatagram(
    socket: number,
    bytes: Uint8Array,
    length: number,
    from: Peer,
    receivedNs: number,
    kernelNs: number,
  ): void {
    if (this.#waiting !== null) {
      const copy = bytes.slice();
      this.#waiting.push(() => this.onDatagram(socket, copy, length, from, this.clock.nowNs(), kernelNs));
    } else this.loop?.onDatagram(socket, bytes, length, from, receivedNs + this.#offsetNs, kernelNs);
    bytes.fill(0x7b);
  }

  /** Stalls the process, like SIGSTOP. */
  freeze(): void {
    this.#waiting = [];
  }

  /** Resumes: everything that arrived meanwhile is delivered at once. */
  thaw(datagramsFirst: boolean): void {
    const waiting = this.#waiting ?? [];
    this.#waiting = null;
    if (!datagramsFirst) this.loop?.onDeadline(this.clock.nowNs());
    for (const deliver of waiting) deliver();
  }

  onOversize(socket: number): void {
    this.loop?.onOversize(socket);
  }

  onDeadline(nowNs: number): void {
    this.loop?.onDeadline(nowNs + this.#offsetNs);
  }

  /** Send stamps on this role's clock. */
  outbox(network: Outbox): Outbox {
    return {
      send: (socket, bytes, length, to) => {
        const sentNs = network.send(socket, bytes, length, to);
        return sentNs === 0 ? 0 : sentNs + this.#offsetNs;
      },
    };
  }

  nextDeadlineNs(): number {
    if (this.loop === null || this.#waiting !== null) return Number.POSITIVE_INFINITY;
    return this.loop.nextDeadlineNs() - this.#offsetNs;
  }
}
