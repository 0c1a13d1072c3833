import type { Counters, Reason } from '../core/counters.ts';
import { parseJson } from '../core/parse-json.ts';
import { type DeskActionRequest, deskActionSchema } from '../messages/desk-requests.ts';
import { frameType, TAG_BYTES } from '../wire/codecs/frame.ts';
import type { DatagramHandler, Peer } from '../wire/reactor.ts';
import { OPERATOR_SOCKETS, type OperatorLoop } from './loop.ts';

/** One arm: its loop, and what receives its datagrams (the loop itself, or its tunnel). */
export interface OperatorArm {
  loop: OperatorLoop;
  handler: DatagramHandler;
  /** Sockets of its inputs. */
  inputs: number;
}

/** Sockets of each link, before the desk and the inputs. */
export const LINK_SOCKETS = OPERATOR_SOCKETS.desk;

/**
 * Two operator loops in one thread, as one operator. Sockets: the links of both arms, the desk, the inputs of both. Both
 * loops tick in the same call. A request from the desk goes to both; a page has one hand, which drives one arm at a time.
 */
export class TwoArmOperator implements DatagramHandler {
  readonly #arms: readonly OperatorArm[];
  readonly #counters: Counters;
  /** Index of the arm that the page's hand drives. */
  readonly #driven: Int32Array;

  constructor(arms: readonly [OperatorArm, OperatorArm], counters: Counters, driven: Int32Array) {
    this.#arms = arms;
    this.#counters = counters;
    this.#driven = driven;
    const [left, right] = arms;
    left.loop.join(right.loop);
    right.loop.join(left.loop);
  }

  nextDeadlineNs(): number {
    let nextNs = Number.POSITIVE_INFINITY;
    for (const { handler } of this.#arms) nextNs = Math.min(nextNs, handler.nextDeadlineNs());
    return nextNs;
  }

  onDeadline(nowNs: number): void {
    for (const { handler } of this.#arms) if (handler.nextDeadlineNs() <= nowNs) handler.onDeadline(nowNs);
  }

  onOversize(): void {
    this.#counters.add('oversize');
  }

  onDatagram(
    socket: number,
    bytes: Uint8Array,
    length: number,
    from: Peer,
    receivedNs: number,
    kernelNs: number,
  ): void {
    const arms = this.#arms;
    const desk = arms.length * LINK_SOCKETS;
    if (socket === desk) return this.#onDesk(bytes, length, from, receivedNs, kernelNs);
    if (socket < desk) {
      const arm = arms[Math.floor(socket / LINK_SOCKETS)]!;
      return arm.handler.onDatagram(socket % LINK_SOCKETS, bytes, length, from, receivedNs, kernelNs);
    }
    let input = socket - desk - 1;
    for (const { loop, inputs } of arms) {
      if (input < inputs)
        return loop.onDatagram(
          OPERATOR_SOCKETS.firstInput + input,
          bytes,
          length,
          from,
          receivedNs,
          kernelNs,
        );
      input -= inputs;
    }
  }

  /** Neither arm follows until a hand engages again. */
  hold(): void {
    for (const { loop } of this.#arms) loop.hold();
  }

  #onDesk(bytes: Uint8Array, length: number, from: Peer, receivedNs: number, kernelNs: number): void {
    const type = length === 0 ? null : frameType(bytes, length);
    const driven = Atomics.load(this.#driven, 0);
    if (type === 'request') {
      const request = parseJson(bytes.subarray(TAG_BYTES, length), deskActionSchema, length);
      const reason = typeof request === 'string' ? request : this.#refusal(request, receivedNs);
      if (reason !== null) return this.#counters.add(reason);
      if (typeof request !== 'string' && request.kind === 'drive') return this.#drive(request.side);
    }
    for (const [i, { loop }] of this.#arms.entries())
      if (type !== 'hand' || i === driven)
        loop.onDatagram(OPERATOR_SOCKETS.desk, bytes, length, from, receivedNs, kernelNs);
  }

  /** Both arms are armed, or neither. */
  #refusal({ kind }: DeskActionRequest, nowNs: number): Reason | null {
    if (kind !== 'arm') return null;
    const isReady = this.#arms.every(
      ({ loop }) => loop.robot.isFresh(nowNs) && loop.robot.state.state !== 'stopped',
    );
    return isReady ? null : 'not-ready';
  }

  /** The arm that the hand leaves holds; the other one follows after a fresh press of the clutch. */
  #drive(side: 'left' | 'right'): void {
    const next = side === 'left' ? 0 : 1;
    const before = Atomics.exchange(this.#driven, 0, next);
    const { loop } = this.#arms[before]!;
    if (before !== next && !loop.sampler.hand.automatic) loop.hold();
  }
}
