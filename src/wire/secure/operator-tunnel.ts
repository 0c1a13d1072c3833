import type { Counters, Reason } from '../../core/counters.ts';
import type { Clock } from '../../core/time/clock.ts';
import { type DatagramHandler, MAX_DATAGRAM_BYTES, type Outbox, type Peer } from '../reactor.ts';
import type { SessionKeys } from './handshake.ts';
import { HandshakeOffer } from './handshake-operator.ts';
import { CHANNELS, isSealed, Opener, Sealer } from './sealed-box.ts';
import { LETTER, SEAL_VERSION, sealVersion } from './tags.ts';

/** The handshake travels on the state socket. */
export const HANDSHAKE_SOCKET = 1;
const KNOCK_PERIOD_NS = 250e6;
const SILENCE_NS = 1e9;

/**
 * Sits between the operator's logic and its sockets: seals what goes out, opens what comes in, and negotiates
 * new keys whenever the robot has been silent. Sockets other than the link's three (the local desk) pass
 * through untouched.
 */
export class OperatorTunnel implements DatagramHandler, Outbox {
  readonly #outbox: Outbox;
  readonly #psk: Uint8Array;
  readonly #robot: readonly Peer[];
  readonly #clock: Clock;
  readonly #counters: Counters;
  readonly #sealed = new Uint8Array(MAX_DATAGRAM_BYTES);
  readonly #plain = new Uint8Array(MAX_DATAGRAM_BYTES);
  #inner: DatagramHandler | null = null;
  #offer: HandshakeOffer | null = null;
  #sealer: Sealer | null = null;
  #opener: Opener | null = null;
  #nextKnockNs = 0;
  #receivedNs = Number.NEGATIVE_INFINITY;

  /** `robot`: the robot's command, state and sync sockets. */
  constructor(outbox: Outbox, psk: Uint8Array, robot: readonly Peer[], clock: Clock, counters: Counters) {
    this.#outbox = outbox;
    this.#psk = psk;
    this.#robot = robot;
    this.#clock = clock;
    this.#counters = counters;
    this.#nextKnockNs = clock.nowNs();
  }

  attach(inner: DatagramHandler): void {
    this.#inner = inner;
  }

  nextDeadlineNs(): number {
    return Math.min(this.#inner!.nextDeadlineNs(), this.#nextKnockNs);
  }

  onDeadline(nowNs: number): void {
    if (nowNs >= this.#nextKnockNs) this.#tick(nowNs);
    if (nowNs >= this.#inner!.nextDeadlineNs()) this.#inner!.onDeadline(nowNs);
  }

  #tick(nowNs: number): void {
    this.#nextKnockNs = nowNs + KNOCK_PERIOD_NS;
    if (nowNs - this.#receivedNs < SILENCE_NS) return;
    this.#offer ??= new HandshakeOffer(this.#psk);
    this.#sendHandshake(this.#offer.knock());
    if (this.#offer.init !== null) this.#sendHandshake(this.#offer.init);
  }

  #sendHandshake(datagram: Uint8Array): void {
    const to = this.#robot[HANDSHAKE_SOCKET]!;
    if (!this.#outbox.send(HANDSHAKE_SOCKET, datagram, datagram.length, to))
      this.#counters.add('send-failed');
  }

  /** Nothing is sent before there are keys; the logic above repeats what matters. */
  send(socket: number, bytes: Uint8Array, length: number, to: Peer): number {
    if (socket >= CHANNELS) return this.#outbox.send(socket, bytes, length, to);
    if (this.#sealer === null) return this.#clock.nowNs();
    const size = this.#sealer.seal(socket, bytes, length, this.#sealed);
    return size > 0 ? this.#outbox.send(socket, this.#sealed, size, to) : 0;
  }

  onOversize(socket: number): void {
    this.#inner!.onOversize(socket);
  }

  onDatagram(
    socket: number,
    bytes: Uint8Array,
    length: number,
    from: Peer,
    receivedNs: number,
    kernelNs: number,
  ): void {
    if (socket >= CHANNELS) {
      this.#inner!.onDatagram(socket, bytes, length, from, receivedNs, kernelNs);
      return;
    }
    const sealed = isSealed(bytes, length);
    const reason = sealed
      ? this.#open(socket, bytes, length, from)
      : this.#onHandshake(socket, bytes, length, from, receivedNs);
    if (reason !== null) this.#counters.add(reason);
    else if (sealed) {
      this.#receivedNs = receivedNs;
      this.#inner!.onDatagram(socket, this.#plain, this.#opener!.length, from, receivedNs, kernelNs);
    }
  }

  /** Only the robot's own sockets justify a decryption. */
  #open(socket: number, bytes: Uint8Array, length: number, from: Peer): Reason | null {
    if (from !== this.#robot[socket]) return 'unknown-source';
    return this.#opener === null ? 'unknown-key' : this.#opener.open(socket, bytes, length, this.#plain);
  }

  #onHandshake(socket: number, bytes: Uint8Array, length: number, from: Peer, nowNs: number): Reason | null {
    const version = sealVersion(bytes, length);
    if (version === 0) return 'unsealed';
    if (socket !== HANDSHAKE_SOCKET) return 'wrong-port';
    if (from !== this.#robot[HANDSHAKE_SOCKET]) return 'unknown-source';
    const letter = bytes[3];
    if (letter === LETTER.cookie) return this.#onCookie(bytes, length);
    return version === SEAL_VERSION && letter === LETTER.accept
      ? this.#onAccept(bytes, length, nowNs)
      : 'bad-tag';
  }

  #onCookie(bytes: Uint8Array, length: number): Reason | null {
    if (this.#offer === null) return 'duplicate';
    const before = this.#offer.init;
    const reason = this.#offer.onCookie(bytes, length);
    if (reason === null && this.#offer.init !== before) this.#sendHandshake(this.#offer.init!);
    return reason;
  }

  #onAccept(bytes: Uint8Array, length: number, nowNs: number): Reason | null {
    if (this.#offer === null) return 'duplicate';
    const keys = this.#offer.accept(bytes, length);
    if (keys === null) return 'bad-auth';
    this.#use(keys);
    // Give the new keys a second to work before knocking again.
    this.#receivedNs = Math.max(nowNs, this.#clock.nowNs());
    return null;
  }

  #use(keys: SessionKeys): void {
    this.#offer = null;
    this.#sealer = new Sealer(keys.operatorToRobot, keys.index);
    this.#opener = new Opener(keys.robotToOperator);
  }
}
