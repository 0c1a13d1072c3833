import type { Counters, Reason } from '../../core/counters.ts';
import { decodeDesk, emptyDesk } from '../codecs/desk.ts';
import { frameType } from '../codecs/frame.ts';
import { type DatagramHandler, MAX_DATAGRAM_BYTES, type Outbox, type Peer } from '../reactor.ts';
import { HandshakeAcceptor } from './handshake-robot.ts';
import type { KeyPair } from './noise.ts';
import { HANDSHAKE_SOCKET } from './operator-tunnel.ts';
import { isSealed, Opener, Sealer, sealedIndex } from './sealed-box.ts';
import { LETTER, SEAL_VERSION, sealVersion } from './tags.ts';

interface Session {
  index: number;
  sealer: Sealer;
  opener: Opener;
  /** A packet was opened with these keys: the operator really has them. */
  proven: boolean;
  receivedNs: number;
  /** Of a viewer's key: anything but an e-stop is rejected. */
  onlyStops: boolean;
}

/** An address that sent something authentic. */
interface Source {
  session: Session;
  receivedNs: number;
}

export interface TunnelOptions {
  /** Ids of keys whose holders may only stop the robot. */
  viewers?: readonly string[];
  newPair?: () => KeyPair;
}

const MAX_SESSIONS = 8;
const MAX_SOURCES = 64;
const MIN_SILENT_NS = 1e9;
/** Keys unused for this long are void, so packets delayed by an attacker are useless. */
const MAX_SILENT_NS = 30e9;

/**
 * Sits between the robot's sockets and its logic: nothing unsealed passes, and an answer is sealed with the
 * keys its addressee last used. No source is ever blocked: addresses can be forged, so that would block the
 * true owner. Instead, anything not authentic costs a few microseconds and changes nothing (`npm run bench --
 * wire` has the cost).
 */
export class RobotTunnel implements DatagramHandler, Outbox {
  readonly #outbox: Outbox;
  readonly #counters: Counters;
  readonly #acceptor: HandshakeAcceptor;
  readonly #newIndex: () => number;
  readonly #sessions = new Map<number, Session>();
  readonly #sources = new Map<Peer, Source>();
  readonly #sealed = new Uint8Array(MAX_DATAGRAM_BYTES);
  readonly #plain = new Uint8Array(MAX_DATAGRAM_BYTES);
  readonly #viewers: ReadonlySet<string>;
  readonly #desk = emptyDesk();
  #inner: DatagramHandler | null = null;

  /** `newIndex` gives a random u32. */
  constructor(
    outbox: Outbox,
    psks: readonly Uint8Array[],
    newIndex: () => number,
    counters: Counters,
    options: TunnelOptions = {},
  ) {
    this.#outbox = outbox;
    this.#counters = counters;
    this.#newIndex = newIndex;
    this.#acceptor = new HandshakeAcceptor(psks, options.newPair);
    this.#viewers = new Set(options.viewers);
  }

  attach(inner: DatagramHandler): void {
    this.#inner = inner;
  }

  nextDeadlineNs(): number {
    return this.#inner!.nextDeadlineNs();
  }

  onDeadline(nowNs: number): void {
    this.#inner!.onDeadline(nowNs);
  }

  onOversize(socket: number): void {
    this.#inner!.onOversize(socket);
  }

  send(socket: number, bytes: Uint8Array, length: number, to: Peer): number {
    const session = this.#sources.get(to)?.session;
    if (session === undefined) return 0;
    const size = session.sealer.seal(socket, bytes, length, this.#sealed);
    return size > 0 ? this.#outbox.send(socket, this.#sealed, size, to) : 0;
  }

  onDatagram(
    socket: number,
    bytes: Uint8Array,
    length: number,
    from: Peer,
    receivedNs: number,
    kernelNs: number,
  ): void {
    const reason = isSealed(bytes, length)
      ? this.#onSealed(socket, bytes, length, from, receivedNs, kernelNs)
      : this.#onHandshake(socket, bytes, length, from, receivedNs);
    if (reason !== null) this.#counters.add(reason);
  }

  #onSealed(
    socket: number,
    bytes: Uint8Array,
    length: number,
    from: Peer,
    receivedNs: number,
    kernelNs: number,
  ): Reason | null {
    const session = this.#sessions.get(sealedIndex(bytes));
    if (session === undefined) return 'unknown-key';
    const reason = session.opener.open(socket, bytes, length, this.#plain);
    if (reason !== null) return reason;
    if (receivedNs - session.receivedNs > MAX_SILENT_NS) {
      this.#drop(session);
      return 'too-old';
    }
    session.proven = true;
    session.receivedNs = receivedNs;
    this.#remember(from, session, receivedNs);
    if (session.onlyStops && !this.#isEstop(session.opener.length)) return 'not-operator';
    this.#inner!.onDatagram(socket, this.#plain, session.opener.length, from, receivedNs, kernelNs);
    return null;
  }

  #isEstop(length: number): boolean {
    const isDesk = frameType(this.#plain, length) === 'desk';
    return isDesk && decodeDesk(this.#plain, length, this.#desk) === null && this.#desk.action === 'estop';
  }

  #remember(from: Peer, session: Session, nowNs: number): void {
    const known = this.#sources.get(from);
    if (known !== undefined) {
      known.session = session;
      known.receivedNs = nowNs;
      return;
    }
    if (this.#sources.size >= MAX_SOURCES) this.#sources.delete(oldestOf(this.#sources));
    this.#sources.set(from, { session, receivedNs: nowNs });
  }

  #onHandshake(socket: number, bytes: Uint8Array, length: number, from: Peer, nowNs: number): Reason | null {
    if (length === 0) return 'empty';
    const version = sealVersion(bytes, length);
    if (version === 0) return frameType(bytes, length) === null ? 'bad-tag' : 'unsealed';
    if (socket !== HANDSHAKE_SOCKET) return 'wrong-port';
    const letter = bytes[3];
    if (letter === LETTER.knock) return this.#onKnock(version, bytes, length, from, nowNs);
    if (version === 1 && letter === LETTER.init)
      return this.#acceptor.isFirstInit(bytes, length) ? 'other-version' : 'bad-auth';
    if (version !== SEAL_VERSION) return 'bad-tag';
    return letter === LETTER.init ? this.#onInit(bytes, length, from, nowNs) : 'bad-tag';
  }

  /** Other versions are answered as well, so that their operator learns of the mismatch. */
  #onKnock(version: number, bytes: Uint8Array, length: number, from: Peer, nowNs: number): Reason | null {
    const reply = this.#acceptor.answerKnock(bytes, length, from, nowNs);
    if (typeof reply === 'string') return reply;
    this.#reply(reply, from);
    return version === SEAL_VERSION ? null : 'other-version';
  }

  #onInit(bytes: Uint8Array, length: number, from: Peer, nowNs: number): Reason | null {
    const read = this.#acceptor.readInit(bytes, length, from, nowNs);
    if (typeof read === 'string') return read;
    if (read.accepted !== null) {
      // The same answer again: the first may have been lost. Dropped keys are never restored.
      if (this.#sessions.get(read.accepted.keys.index)?.proven !== false) return 'replayed';
      this.#reply(read.accepted.reply, from);
      return null;
    }
    if (!this.#makeRoom(nowNs)) return 'rate-limited';
    const accepted = this.#acceptor.accept(read, this.#unusedIndex(), nowNs);
    if (typeof accepted === 'string') return accepted;
    const { index, robotToOperator, operatorToRobot } = accepted.keys;
    this.#sessions.set(index, {
      index,
      sealer: new Sealer(robotToOperator, index),
      opener: new Opener(operatorToRobot),
      proven: false,
      receivedNs: nowNs,
      onlyStops: this.#viewers.has(read.key.id.toString('hex')),
    });
    this.#reply(accepted.reply, from);
    return null;
  }

  #reply(datagram: Uint8Array, to: Peer): void {
    if (!this.#outbox.send(HANDSHAKE_SOCKET, datagram, datagram.length, to))
      this.#counters.add('send-failed');
  }

  #unusedIndex(): number {
    let index = this.#newIndex();
    while (this.#sessions.has(index)) index = this.#newIndex();
    return index;
  }

  /** Displaces the session that has been silent longest, but none received from within a second. */
  #makeRoom(nowNs: number): boolean {
    if (this.#sessions.size < MAX_SESSIONS) return true;
    const oldest = this.#sessions.get(oldestOf(this.#sessions))!;
    if (nowNs - oldest.receivedNs < MIN_SILENT_NS) return false;
    this.#drop(oldest);
    return true;
  }

  #drop(session: Session): void {
    this.#sessions.delete(session.index);
    for (const [peer, source] of this.#sources) if (source.session === session) this.#sources.delete(peer);
  }
}

function oldestOf(entries: ReadonlyMap<number, { receivedNs: number }>): number {
  let [oldest, sinceNs] = [0, Number.POSITIVE_INFINITY];
  for (const [key, { receivedNs }] of entries)
    if (receivedNs < sinceNs) [oldest, sinceNs] = [key, receivedNs];
  return oldest;
}
