import type { Counters, Reason } from '../../core/counters.ts';
import { frameType } from '../codecs/frame.ts';
import { type DatagramHandler, MAX_DATAGRAM_BYTES, type Outbox, type Peer } from '../reactor.ts';
import { HandshakeAcceptor } from './handshake.ts';
import { HANDSHAKE_SOCKET } from './operator-tunnel.ts';
import { isSealed, Opener, Sealer, sealedIndex } from './sealed-box.ts';
import { SourceLimiter } from './source-limiter.ts';

interface Session {
  index: number;
  sealer: Sealer;
  opener: Opener;
  /** A packet was opened with these keys: the operator really has them. */
  proven: boolean;
  heardNs: number;
}

const MAX_SESSIONS = 8;
const MIN_UNPROVEN_NS = 1e9;

/**
 * Stands between the robot's sockets and its logic: nothing unsealed passes, bad packets cost their source, and an
 * answer goes out under the keys its addressee last used. Handshakes from unpaired machines are refused unread.
 */
export class RobotTunnel implements DatagramHandler, Outbox {
  readonly #outbox: Outbox;
  readonly #counters: Counters;
  readonly #acceptor: HandshakeAcceptor;
  readonly #limiter = new SourceLimiter();
  readonly #sessions = new Map<number, Session>();
  readonly #byPeer = new Map<Peer, Session>();
  readonly #sealed = new Uint8Array(MAX_DATAGRAM_BYTES);
  readonly #plain = new Uint8Array(MAX_DATAGRAM_BYTES);
  #inner: DatagramHandler | null = null;

  /** `newIndex` gives a fresh random u32. */
  constructor(outbox: Outbox, psks: readonly Uint8Array[], newIndex: () => number, counters: Counters) {
    this.#outbox = outbox;
    this.#counters = counters;
    this.#acceptor = new HandshakeAcceptor(psks, newIndex);
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
    const session = this.#byPeer.get(to);
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
    if (this.#limiter.isBlocked(from, receivedNs)) return this.#counters.add('rate-limited');
    const reason = isSealed(bytes, length)
      ? this.#onSealed(socket, bytes, length, from, receivedNs, kernelNs)
      : this.#onHandshake(socket, bytes, length, from, receivedNs);
    if (reason === null) return;
    this.#counters.add(reason);
    this.#limiter.fail(from, receivedNs);
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
    session.proven = true;
    session.heardNs = receivedNs;
    if (this.#byPeer.get(from) !== session) this.#byPeer.set(from, session);
    this.#inner!.onDatagram(socket, this.#plain, session.opener.length, from, receivedNs, kernelNs);
    return null;
  }

  #onHandshake(socket: number, bytes: Uint8Array, length: number, from: Peer, nowNs: number): Reason | null {
    if (length === 0) return 'empty';
    const type = frameType(bytes, length);
    if (type === null) return 'bad-tag';
    if (type !== 'init' || socket !== HANDSHAKE_SOCKET) return 'unsealed';
    const answer = this.#acceptor.answer(bytes, length);
    if (typeof answer === 'string') return answer;
    const { keys, reply } = answer;
    if (!this.#sessions.has(keys.index)) {
      if (!this.#makeRoom(nowNs)) return 'rate-limited';
      this.#sessions.set(keys.index, {
        index: keys.index,
        sealer: new Sealer(keys.robotToOperator, keys.index),
        opener: new Opener(keys.operatorToRobot),
        proven: false,
        heardNs: nowNs,
      });
    }
    if (!this.#outbox.send(socket, reply, reply.length, from)) this.#counters.add('send-failed');
    return null;
  }

  /** Displaces the session silent for longest; keys still on their way to the operator are spared for a second. */
  #makeRoom(nowNs: number): boolean {
    if (this.#sessions.size < MAX_SESSIONS) return true;
    let oldest: Session | null = null;
    for (const session of this.#sessions.values()) {
      if (!session.proven && nowNs - session.heardNs < MIN_UNPROVEN_NS) continue;
      if (oldest === null || session.heardNs < oldest.heardNs) oldest = session;
    }
    if (oldest === null || nowNs - oldest.heardNs < MIN_UNPROVEN_NS) return false;
    this.#sessions.delete(oldest.index);
    for (const [peer, session] of this.#byPeer) if (session === oldest) this.#byPeer.delete(peer);
    return true;
  }
}
