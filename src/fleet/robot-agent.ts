import { mkdirSync } from 'node:fs';
import path from 'node:path';
import type { Msg } from '@nats-io/transport-node';
import type { FrameReceiverConfig } from '../camera/channel/frame-receiver.ts';
import { EntryBoundary } from '../core/entry-boundary.ts';
import { TeleopError } from '../core/errors.ts';
import { monotonicClock } from '../core/time/clock.ts';
import { estopFlag, type Flags, leaseOverFlag } from '../messages/role-flags.ts';
import type { FleetConfig } from '../rig/fleet-config.ts';
import type { Rig } from '../rig/rig.ts';
import { loadRtc } from '../wire/transports/webrtc.ts';
import { audit } from './audit.ts';
import { closedText, connectFleet, type FleetConnection } from './connection.ts';
import { encodeFrame } from './frame.ts';
import { iceServersFor } from './ice-servers.ts';
import { GrantKeys, signedSchema } from './leases/grant.ts';
import { LeaseClient } from './leases/lease-client.ts';
import { isSignedBy, publicKey } from './leases/lease-keys.ts';
import { RobotLease } from './leases/robot-lease.ts';
import { LinkSockets } from './link-sockets.ts';
import {
  answerText,
  estopSchema,
  type FleetEvent,
  offerText,
  parsed,
  type Signal,
  type SignalReply,
  signalSchema,
} from './messages.ts';
import { PageOperatorProcess } from './page-operator/operator-process.ts';
import { PageSession } from './page-operator/page-session.ts';
import { RobotReports } from './robot-reports.ts';
import { RobotSession, type SessionOptions } from './robot-session.ts';
import { Rejections } from './store/rejections.ts';
import { flatName, sentBy, subjects } from './subjects.ts';

export interface RobotAgentStart {
  url: string;
  credentials: string;
  /** Empty: the only robot in the credentials. */
  name: string;
  model: string;
  version: string;
  joints: number;
  ports: number[];
  /** Key of the sealed link on loopback. */
  key: Uint8Array;
  memory: Flags & { board: SharedArrayBuffer };
  config: FleetConfig;
  /** This machine's cameras; null: none. */
  cameras: FrameReceiverConfig | null;
  /** The robot's rig; a page's session runs its own operator role with it. */
  rig: Rig;
  /** The script that runs that role. */
  pageOperatorEntry: string;
  /** Folder for the highest token of its lease. */
  leaseFolder: string;
}

type Session = RobotSession | PageSession;

interface Holder {
  user: string;
  /** Of the lease. */
  key: string;
  token: number;
}

const GONE = 'the robot is ending';

const TICK_MS = 20;
/** While the last command is younger, the robot renews its driver's lease. */
const DRIVEN_NS = 1e9;
/** A session whose offer is not answered by then is given up. */
const OPENING_NS = 15e9;
/** Most processes of page sessions, including ending ones: repeated opening must not fill the machine. */
const MOST_PAGE_OPERATORS = 4;
/** How long the answer to an e-stop waits for the robot's own state. */
const CONFIRM_MS = 300;
/** The same e-stop is logged at most once in this time. */
const ESTOP_REPORTED_MS = 1000;

/**
 * The robot's side of a fleet: reports its state, accepts one operator's datagrams while that operator's
 * lease is proven, and passes them to the robot's own ports. Runs on its own thread; nothing here is in the
 * path of a control cycle.
 */
export class RobotAgent {
  readonly #start: RobotAgentStart;
  readonly #connection: FleetConnection;
  readonly #rtc: Awaited<ReturnType<typeof loadRtc>>;
  readonly #lease: RobotLease;
  readonly #reports: RobotReports;
  readonly #rejections: Rejections;
  /** Runs while there is a session, or a driver that may return. */
  #timer: NodeJS.Timeout | null = null;
  readonly name: string;
  #session: Session | null = null;
  #sockets: { key: string; open: LinkSockets } | null = null;
  #sessions = 0;
  #left: { key: string; token: number } | null = null;
  /** Sessions are opened one at a time. */
  #turn: Promise<unknown> = Promise.resolve();
  readonly #boundary = new EntryBoundary('fleet');
  #closed = false;
  #openedNs = 0;
  /** Datagrams of the session, and when their number last changed. */
  #received = { count: 0, atNs: 0 };
  #estopReported = { user: '', why: '', atMs: 0 };

  private constructor(
    start: RobotAgentStart,
    connection: FleetConnection,
    name: string,
    lease: RobotLease,
    rtc: Awaited<ReturnType<typeof loadRtc>>,
  ) {
    this.#start = start;
    this.#connection = connection;
    this.#rtc = rtc;
    this.#lease = lease;
    this.name = name;
    this.#rejections = new Rejections(connection);
    const { model, version, joints, memory } = start;
    this.#reports = new RobotReports({
      ...{ connection, robot: name, model, version, joints, board: memory.board },
      session: () => this.#session,
      holder: () => (monotonicClock.nowNs() < lease.untilNs ? lease.user : null),
      nonce: () => lease.nonce(monotonicClock.nowNs()),
    });
    this.#subscribe(subjects.signal(name, '*'), (message) => this.#signal(message));
    this.#subscribe(subjects.estop(name, '*'), (message) => this.#estop(message));
    this.#subscribe(subjects.leased(name), (message) => this.#leased(message));
    this.#reports.presence();
  }

  /** `onEnded` is called when the connection to the broker has ended. */
  static async open(start: RobotAgentStart, onEnded: (reason: string) => void): Promise<RobotAgent> {
    iceServersFor('', start.config);
    const rtc = await loadRtc();
    const connection = await connectFleet(start.url, start.credentials, {
      patient: true,
      plainBeyondLoopback: start.config.plainBeyondLoopback,
    });
    try {
      const name = nameOf(start, connection);
      const agent = new RobotAgent(start, connection, name, leaseOf(start, connection, name), rtc);
      void connection.nats.closed().then((cause) => onEnded(closedText(cause)));
      return agent;
    } catch (error) {
      await connection.close();
      throw error;
    }
  }

  /** A transition of the supervisor. */
  transition(event: Omit<FleetEvent, 'kind' | 'atMs'>): void {
    this.#reports.event(event);
    if (event.to === 'stopped')
      audit(this.#connection, this.name, {
        what: 'stopped',
        who: this.#session?.options.user,
        why: event.cause,
      });
    this.#reports.presence();
  }

  /** Messages sent to the broker so far. */
  get sentMessages(): number {
    return this.#connection.nats.stats().outMsgs;
  }

  async close(): Promise<void> {
    this.#closed = true;
    this.#end(GONE);
    this.#rest();
    this.#reports.close();
    this.#rejections.close();
    this.#sockets?.open.close();
    await Promise.race([this.#connection.nats.flush(), later(500)]).catch(() => {});
    await this.#connection.close();
  }

  #subscribe(subject: string, run: (message: Msg) => unknown): void {
    this.#connection.nats.subscribe(subject, {
      callback: (error, message) => {
        if (error === null) this.#boundary.run(() => run(message));
      },
    });
  }

  #tick(): void {
    const nowNs = monotonicClock.nowNs();
    const session = this.#session;
    this.#checkLeft(nowNs);
    if (session === null) {
      if (this.#left === null) this.#rest();
      return;
    }
    this.#keep(session, nowNs);
    const refusal = this.#lease.refusal(session.options.key, session.options.token, nowNs);
    if (refusal !== null) this.#end(refusal);
    else if (!session.isOpen && nowNs - this.#openedNs > OPENING_NS) this.#end('the client did not connect');
  }

  /** An idle robot has nothing to watch. */
  #rest(): void {
    if (this.#timer !== null) clearInterval(this.#timer);
    this.#timer = null;
  }

  /** While the driver sends, the robot renews the lease itself; a silent driver must do so. */
  #keep(session: Session, nowNs: number): void {
    const { fromOperator } = session.counts;
    if (fromOperator !== this.#received.count) this.#received = { count: fromOperator, atNs: nowNs };
    if (nowNs - this.#received.atNs > DRIVEN_NS) return;
    this.#lease.keep(nowNs, (nonce) => {
      if (session instanceof RobotSession) session.tellNonce(nonce);
    });
  }

  #leased(message: Msg): void {
    const change = parsed(signedSchema, message.string());
    if (change !== null && this.#lease.received(change)) this.#reports.presence();
  }

  /** A holder that disconnected may reconnect while it holds the lease; afterwards the robot stops. */
  #checkLeft(nowNs: number): void {
    const left = this.#left;
    if (left === null || this.#lease.refusal(left.key, left.token, nowNs) === null) return;
    this.#left = null;
    Atomics.store(leaseOverFlag(this.#start.memory), 0, 1);
  }

  async #signal(message: Msg): Promise<void> {
    const signal = parsed(signalSchema, message.string());
    const { user } = sentBy(message.subject);
    if (message.reply) return this.#rejections.add(this.name, user, 'reply subject');
    if (signal === null) {
      this.#rejections.add(this.name, user, 'malformed request');
      const request = parsed(estopSchema, message.string());
      if (request !== null) this.#answerTo(user, request.id, { kind: 'refused', reason: 'malformed' });
      return;
    }
    this.#answerTo(user, signal.id, await this.#replyTo(signal, user));
  }

  async #replyTo(signal: Signal, user: string): Promise<SignalReply> {
    if (signal.kind === 'open') return this.#open(signal, user);
    if (signal.kind === 'answer') return this.#answer(signal, user);
    if (signal.kind === 'want') {
      this.#reports.want();
      return { kind: 'accepted' };
    }
    const nonce = this.#lease.nonce(monotonicClock.nowNs());
    return { kind: 'greeting', nonce, model: this.#start.model };
  }

  #answerTo(user: string, id: string, reply: object): void {
    if (this.#connection.isConnected())
      this.#connection.nats.publish(subjects.answer(user, 'robot', this.name, id), encodeFrame(reply));
  }

  async #open(signal: Extract<Signal, { kind: 'open' }>, user: string): Promise<SignalReply> {
    if (this.#closed) return { kind: 'refused', reason: GONE };
    const grant = this.#lease.present(signal.grant, monotonicClock.nowNs());
    if (typeof grant === 'string') return { kind: 'refused', reason: grant };
    if (grant.user !== user) return { kind: 'refused', reason: 'not-holder' };
    const { key, token } = grant;
    const refused = () => (this.#closed ? GONE : this.#lease.refusal(key, token, monotonicClock.nowNs()));
    const holder = { user, key, token };
    const opening = this.#turn.then(() => this.#begin(signal.client, holder, refused));
    this.#turn = opening.catch(() => {});
    const session = await opening;
    if (typeof session === 'string') return { kind: 'refused', reason: session };
    const { number, ice } = session.options;
    const sdp = await session.offer();
    const { identity } = this.#connection;
    return {
      ...{ kind: 'offer', session: number, sdp, model: this.#start.model, ice: [...ice] },
      ...{ token: identity.token, sig: identity.sign(offerText(this.name, key, number, sdp)) },
    };
  }

  /** The session, or why it was rejected. */
  async #begin(
    client: 'operator' | 'page',
    holder: Holder,
    refused: () => string | null,
  ): Promise<Session | string> {
    const early = refused();
    if (early !== null) return early;
    this.#replace(holder.key);
    if (client === 'page' && PageOperatorProcess.living >= MOST_PAGE_OPERATORS) return 'too many at once';
    const { cameras, rig, pageOperatorEntry } = this.#start;
    const options = this.#sessionOptions(holder, refused, (reason, hasLeft) => {
      if (this.#session !== session) return;
      this.#end(reason, hasLeft || session instanceof PageSession);
      if (hasLeft) this.#lease.leave(holder.token);
    });
    const fleet = { ...rig.fleet, robot: this.name };
    const session: Session =
      client === 'page'
        ? await PageSession.open({ ...options, pageOperatorEntry, rig: { ...rig, fleet } })
        : new RobotSession(options, await this.#socketsOf(holder.key), cameras);
    // The lease may have changed meanwhile.
    const late = refused();
    if (late !== null) {
      session.close(late);
      return late;
    }
    this.#session = session;
    this.#timer ??= setInterval(() => this.#tick(), TICK_MS);
    this.#left = null;
    this.#openedNs = monotonicClock.nowNs();
    this.#received = { count: 0, atNs: this.#openedNs };
    this.#reports.sessionBegan();
    this.#reports.presence();
    return session;
  }

  #sessionOptions(
    { user, key, token }: Holder,
    refused: () => string | null,
    onEnded: SessionOptions['onEnded'],
  ): SessionOptions {
    const { ports, key: linkKey, config } = this.#start;
    const opened = { what: 'session-opened', who: user, revision: token } as const;
    return {
      ...{ rtc: this.#rtc, number: ++this.#sessions, user, key, token, ports, linkKey, config, onEnded },
      ice: iceServersFor(user, config),
      mayCommand: () => refused() === null,
      onEstop: () => this.#stop(user, 'over the link'),
      onGrant: (grant) => void this.#lease.present(grant, monotonicClock.nowNs()),
      onOpened: (why) => audit(this.#connection, this.name, { ...opened, why }),
    };
  }

  /** A holder that reconnects keeps its ports: the robot's link saw only a silence. */
  async #socketsOf(key: string): Promise<LinkSockets> {
    if (this.#sockets?.key !== key) {
      this.#sockets?.open.close();
      this.#sockets = { key, open: await LinkSockets.open(this.#start.ports) };
    }
    return this.#sockets.open;
  }

  #answer({ session, sdp, sig }: Extract<Signal, { kind: 'answer' }>, user: string): SignalReply {
    const mine = this.#session;
    if (mine === null || mine.options.number !== session || mine.options.user !== user)
      return { kind: 'refused', reason: 'no such session' };
    const { key } = mine.options;
    const holder = publicKey(key);
    if (holder === null || !isSignedBy(holder, answerText(this.name, key, session, sdp), sig))
      return { kind: 'refused', reason: 'not-holder' };
    const problem = mine.accept(sdp);
    return problem === null ? { kind: 'accepted' } : { kind: 'refused', reason: problem };
  }

  /** Ends the session. `stops`: stops the robot at once instead of after the silence. */
  #end(reason: string, stops = true): void {
    const session = this.#session;
    if (session === null) return;
    this.#session = null;
    const { user, key, token } = session.options;
    this.#left = stops ? null : { key, token };
    if (stops) Atomics.store(leaseOverFlag(this.#start.memory), 0, 1);
    session.close(reason);
    audit(this.#connection, this.name, {
      ...{ what: 'session-ended', who: user, why: reason, revision: token },
    });
    this.#reports.presence();
  }

  /** Before a new session: a page's has its own role, which ends; an operator's only reopens its path. */
  #replace(key: string): void {
    const old = this.#session;
    this.#end(
      'replaced by another session of the same holder',
      old instanceof PageSession || old?.options.key !== key,
    );
  }

  #stop(user: string, why: string): void {
    Atomics.store(estopFlag(this.#start.memory), 0, 1);
    // Poses repeat an e-stop for as long as it is requested.
    const nowMs = performance.now();
    const reported = this.#estopReported;
    if (reported.user === user && reported.why === why && nowMs - reported.atMs < ESTOP_REPORTED_MS) return;
    this.#estopReported = { user, why, atMs: nowMs };
    audit(this.#connection, this.name, { what: 'estop', who: user, why });
  }

  /** Whatever arrives here stops the robot; only a request of ours is answered. */
  async #estop(message: Msg): Promise<void> {
    const startMs = performance.now();
    const { user } = sentBy(message.subject);
    this.#stop(user, 'over the broker');
    if (message.reply) return this.#rejections.add(this.name, user, 'reply subject');
    const request = parsed(estopSchema, message.string());
    if (request === null) return;
    const state = () => this.#reports.snapshot()?.state;
    while (state() !== 'stopped' && performance.now() - startMs < CONFIRM_MS) await later(2);
    this.#answerTo(user, request.id, { state: state() ?? 'unknown' });
  }
}

const later = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

function nameOf({ name }: RobotAgentStart, { robots, user }: FleetConnection): string {
  if (name !== '') return name;
  const [only = ''] = robots;
  if (robots.length === 1 && only !== '*') return only;
  throw new TeleopError('bad-option', `the credentials of ${user} do not belong to exactly one robot`, {
    hint: 'Name the robot: --name NAME.',
  });
}

function leaseOf(start: RobotAgentStart, connection: FleetConnection, robot: string): RobotLease {
  const keys = new GrantKeys(connection.leaseKeys);
  if (keys.isEmpty)
    throw new TeleopError('fleet-outdated', `the credentials of ${connection.user} name no lease service`, {
      hint: 'They are not a robot’s, or too old: create new ones with `farhand fleet user NAME --role robot`.',
    });
  mkdirSync(start.leaseFolder, { recursive: true, mode: 0o700 });
  const file = path.join(start.leaseFolder, `${flatName(robot)}.json`);
  const { nowNs } = monotonicClock;
  const termNs = start.config.leaseTermS * 1e9;
  return new RobotLease({ client: new LeaseClient(connection), robot, keys, file, termNs, nowNs });
}
