import type { Counters } from '../core/counters.ts';
import { EntryBoundary } from '../core/entry-boundary.ts';
import type { DatagramHandler, Peer } from './reactor.ts';

/**
 * The boundary of a control thread. A datagram that makes its handler throw is counted and dropped;
 * `onFailure` brings the role to a safe state. Deadlines are not guarded: an exception there was caused by no
 * datagram and ends the role.
 */
export class GuardedHandler implements DatagramHandler {
  readonly #inner: DatagramHandler;
  readonly #counters: Counters;
  readonly #onFailure: (nowNs: number) => void;
  readonly #boundary: EntryBoundary;

  constructor(
    inner: DatagramHandler,
    counters: Counters,
    onFailure: (nowNs: number) => void,
    boundary = new EntryBoundary('datagram'),
  ) {
    this.#inner = inner;
    this.#counters = counters;
    this.#onFailure = onFailure;
    this.#boundary = boundary;
  }

  onDatagram(
    socket: number,
    bytes: Uint8Array,
    length: number,
    from: Peer,
    receivedNs: number,
    kernelNs: number,
  ): void {
    // Not through `run`: a closure for each datagram would be garbage on the hot path.
    try {
      this.#inner.onDatagram(socket, bytes, length, from, receivedNs, kernelNs);
    } catch (error) {
      this.#counters.add('handler-failed');
      this.#boundary.failed(error);
      this.#onFailure(receivedNs);
    }
  }

  onOversize(socket: number): void {
    this.#inner.onOversize(socket);
  }

  onDeadline(nowNs: number): void {
    this.#inner.onDeadline(nowNs);
  }

  nextDeadlineNs(): number {
    return this.#inner.nextDeadlineNs();
  }
}
