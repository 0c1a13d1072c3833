import type { Msg } from '@nats-io/transport-node';
import type { FrameReceiverConfig } from '../camera/channel/frame-receiver.ts';
import { EntryBoundary } from '../core/entry-boundary.ts';
import { TeleopError } from '../core/errors.ts';
import { SnapshotBoard } from '../core/memory/snapshot.ts';
import { monotonicClock } from '../core/time/clock.ts';
import { type RobotSnapshot, readRobotBoard } from '../messages/robot-board.ts';
import { estopFlag, type Flags, leaseOverFlag } from '../messages/role-flags.ts';
import type { FleetConfig } from '../rig/fleet-config.ts';
import type { Rig } from '../rig/rig.ts';
import { loadRtc } from '../wire/transports/webrtc.ts';
import { audit } from './audit.ts';
import { closedText, connectFleet, type FleetConnection } from './connection.ts';
import { iceServersFor } from './ice-servers.ts';
import { LeaseGuard } from './lease-guard.ts';
import { LeaseStore } from './lease-store.ts';
import { LinkSockets } from './link-sockets.ts';
import {
  type FleetEvent,
  type FleetTelemetry,
  holderOf,
  type Presence,
  parsed,
  type Signal,
  type SignalReply,
  signalSchema,
  userOf,
} from './messages.ts';
import { PageOperatorProcess } from './page-operator/operator-process.ts';
import { PageSession } from './page-operator/page-session.ts';
import { RobotSession } from './robot-session.ts';
import { isAskedBy, isServersAnswer, LEASE_GRACE_MS, LEASE_POLL_MS, subjects } from './subjects.ts';

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
}

type Session = RobotSession | PageSession;

const GONE = 'the robot is ending';

const PRESENCE_MS = 1000;
const TELEMETRY_MS = 200;
const TICK_MS = 20;
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
  readonly #store: LeaseStore;
  readonly #rtc: Awaited<ReturnType<typeof loadRtc>>;
  readonly #board: SnapshotBoard;
  readonly #guard = new LeaseGuard({ graceNs: LEASE_GRACE_MS * 1e6, pollNs: LEASE_POLL_MS * 1e6 });
  readonly #timers: NodeJS.Timeout[];
  readonly name: string;
  #session: Session | null = null;
  #sockets: { holder: string; open: LinkSockets } | null = null;
  #sessions = 0;
  #left: { holder: string; revision: number } | null = null;
  /** Sessions are opened one at a time. */
  #turn: Promise<unknown> = Promise.resolve();
  readonly #boundary = new EntryBoundary('fleet');
  #closed = false;
  #openedNs = 0;
  #estopReported = { user: '', why: '', atMs: 0 };
  #reported = { fromOperator: 0, toOperator: 0, atNs: 0 };

  private constructor(
    start: RobotAgentStart,
    connection: FleetConnection,
    store: LeaseStore,
    rtc: Awaited<ReturnType<typeof loadRtc>>,
  ) {
    this.#start = start;
    this.#connection = connection;
    this.#store = store;
    this.#rtc = rtc;
    this.name = nameOf(start, connection);
    this.#board = new SnapshotBoard(start.memory.board);
    const { nats } = connection;
    const take = (run: (message: Msg) => Promise<void>) => ({
      callback: (error: Error | null, message: Msg) => {
        if (error === null) this.#boundary.run(() => run(message));
      },
    });
    nats.subscribe(
      subjects.signal(this.name, '*'),
      take((message) => this.#signal(message)),
    );
    nats.subscribe(
      subjects.estop(this.name, '*'),
      take((message) => this.#estop(message)),
    );
    this.#timers = [
      setInterval(() => this.#tick(), TICK_MS),
      setInterval(() => this.#publishPresence(), PRESENCE_MS),
      setInterval(() => this.#publishTelemetry(), TELEMETRY_MS),
    ];
    this.#publishPresence();
  }

  /** `onEnded` is called when the connection to the broker has ended. */
  static async open(start: RobotAgentStart, onEnded: (reason: string) => void): Promise<RobotAgent> {
    iceServersFor('', start.config);
    const rtc = await loadRtc();
    const connection = await connectFleet(start.url, start.credentials, {
      patient: true,
      plainBeyondLoopback: start.config.plainBeyondLoopback,
    });
    const agent = new RobotAgent(start, connection, await LeaseStore.open(connection.nats), rtc);
    void connection.nats.closed().then((cause) => onEnded(closedText(cause)));
    return agent;
  }

  /** A transition of the supervisor. */
  transition(event: Omit<FleetEvent, 'kind' | 'atMs'>): void {
    this.#publish(subjects.event(this.name), { kind: 'transition', ...event, atMs: Date.now() });
    if (event.to === 'stopped')
      audit(this.#connection, this.name, {
        what: 'stopped',
        who: this.#session?.options.user,
        why: event.cause,
      });
    this.#publishPresence();
  }

  async close(): Promise<void> {
    this.#closed = true;
    for (const timer of this.#timers) clearInterval(timer);
    this.#end(GONE);
    this.#publishPresence('ended');
    this.#sockets?.open.close();
    await Promise.race([this.#connection.nats.flush(), later(500)]).catch(() => {});
    await this.#connection.close();
  }

  #tick(): void {
    const nowNs = monotonicClock.nowNs();
    if (this.#connection.isConnected() && this.#guard.poll(nowNs)) void this.#readLease();
    const session = this.#session;
    this.#checkLeft(nowNs);
    if (session === null) return;
    const refusal = this.#guard.refusal(session.options.holder, session.options.revision, nowNs);
    if (refusal !== null) this.#end(refusal);
    else if (!session.isOpen && nowNs - this.#openedNs > OPENING_NS) this.#end('the client did not connect');
  }

  /** A holder that disconnected may reconnect while it holds the lease; afterwards the robot stops. */
  #checkLeft(nowNs: number): void {
    const left = this.#left;
    if (left === null || this.#guard.refusal(left.holder, left.revision, nowNs) === null) return;
    this.#left = null;
    Atomics.store(leaseOverFlag(this.#start.memory), 0, 1);
  }

  async #readLease(): Promise<void> {
    const askedNs = monotonicClock.nowNs();
    try {
      this.#guard.answered(askedNs, await this.#store.get(this.name));
    } catch {
      // No answer is no proof: the deadline stays.
    }
  }

  async #signal(message: Msg): Promise<void> {
    const signal = parsed(signalSchema, message.string());
    const user = message.subject.split('.').at(-1)!;
    if (!isAskedBy(user, message.reply)) return;
    let reply: SignalReply;
    if (signal === null) reply = { kind: 'refused', reason: 'malformed' };
    else if (signal.kind === 'open') reply = await this.#open(signal, user);
    else reply = this.#answer(signal, user);
    message.respond(JSON.stringify(reply));
  }

  async #open(signal: Extract<Signal, { kind: 'open' }>, user: string): Promise<SignalReply> {
    const { holder, secret, revision } = signal;
    if (holder !== holderOf(user, secret)) return { kind: 'refused', reason: 'not-holder' };
    await this.#readLease();
    const refused = () =>
      this.#closed ? GONE : this.#guard.refusal(holder, revision, monotonicClock.nowNs());
    // A rejected request neither waits in the queue nor delays others.
    const reason = refused();
    if (reason !== null) return { kind: 'refused', reason };
    const opening = this.#turn.then(() => this.#begin(signal, user, refused));
    this.#turn = opening.catch(() => {});
    const session = await opening;
    if (typeof session === 'string') return { kind: 'refused', reason: session };
    const { number, ice } = session.options;
    const sdp = await session.offer();
    return { kind: 'offer', session: number, sdp, model: this.#start.model, ice: [...ice] };
  }

  /** The session, or why it was rejected. */
  async #begin(
    { holder, revision, client }: Extract<Signal, { kind: 'open' }>,
    user: string,
    refused: () => string | null,
  ): Promise<Session | string> {
    const early = refused();
    if (early !== null) return early;
    this.#replace(holder);
    if (client === 'page' && PageOperatorProcess.living >= MOST_PAGE_OPERATORS) return 'too many at once';
    const { ports, key, config, cameras, rig, pageOperatorEntry } = this.#start;
    const options = {
      ...{ rtc: this.#rtc, number: ++this.#sessions, user, holder, revision, ports, key, config },
      ice: iceServersFor(user, config),
      mayCommand: () => refused() === null,
      onEstop: () => this.#stop(user, 'over the link'),
      onOpened: (path: string) =>
        audit(this.#connection, this.name, { what: 'session-opened', who: user, why: path, revision }),
      onEnded: (reason: string) => {
        if (this.#session === session) this.#end(reason, session instanceof PageSession);
      },
    };
    const session: Session =
      client === 'page'
        ? await PageSession.open({
            ...options,
            pageOperatorEntry,
            rig: { ...rig, fleet: { ...rig.fleet, robot: this.name } },
          })
        : new RobotSession(options, await this.#socketsOf(holder), cameras);
    // The lease may have changed meanwhile.
    const late = refused();
    if (late !== null) {
      session.close(late);
      return late;
    }
    this.#session = session;
    this.#left = null;
    this.#openedNs = monotonicClock.nowNs();
    this.#reported = { fromOperator: 0, toOperator: 0, atNs: this.#openedNs };
    return session;
  }

  /** A holder that reconnects keeps its ports: the robot's link saw only a silence. */
  async #socketsOf(holder: string): Promise<LinkSockets> {
    if (this.#sockets?.holder !== holder) {
      this.#sockets?.open.close();
      this.#sockets = { holder, open: await LinkSockets.open(this.#start.ports) };
    }
    return this.#sockets.open;
  }

  #answer({ session, sdp }: Extract<Signal, { kind: 'answer' }>, user: string): SignalReply {
    const mine = this.#session;
    if (mine === null || mine.options.number !== session || mine.options.user !== user)
      return { kind: 'refused', reason: 'no such session' };
    return mine.accept(sdp) ? { kind: 'accepted' } : { kind: 'refused', reason: 'malformed' };
  }

  /** Ends the session. `stops`: stops the robot at once instead of after the silence. */
  #end(reason: string, stops = true): void {
    const session = this.#session;
    if (session === null) return;
    this.#session = null;
    const { user, holder, revision } = session.options;
    this.#left = stops ? null : { holder, revision };
    if (stops) Atomics.store(leaseOverFlag(this.#start.memory), 0, 1);
    session.close(reason);
    audit(this.#connection, this.name, { what: 'session-ended', who: user, why: reason, revision });
    this.#publishPresence();
  }

  /** Before a new session: a page's has its own role, which ends; an operator's only reopens its path. */
  #replace(holder: string): void {
    const old = this.#session;
    this.#end(
      'replaced by another session of the same holder',
      old instanceof PageSession || old?.options.holder !== holder,
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

  async #estop(message: Msg): Promise<void> {
    const startMs = performance.now();
    const user = message.subject.split('.').at(-1)!;
    const isAsked = isAskedBy(user, message.reply);
    if (!isAsked && isServersAnswer(message.data, message.headers !== undefined)) return;
    this.#stop(user, 'over the broker');
    if (!isAsked) return;
    while (this.#snapshot()?.state !== 'stopped' && performance.now() - startMs < CONFIRM_MS) await later(2);
    message.respond(JSON.stringify({ state: this.#snapshot()?.state ?? 'unknown' }));
  }

  #snapshot(): RobotSnapshot | null {
    return readRobotBoard(this.#board, this.#start.joints);
  }

  #publishPresence(state?: string): void {
    const seen = this.#snapshot();
    const session = this.#session;
    const { model, version } = this.#start;
    const presence: Presence = {
      kind: 'presence',
      robot: this.name,
      model,
      version,
      state: state ?? seen?.state ?? 'disconnected',
      cause: seen?.cause ?? '',
      holder: monotonicClock.nowNs() < this.#guard.deadlineNs ? userOf(this.#guard.holder) : null,
      link: session?.isOpen ? this.#linkQuality(session) : null,
      atMs: Date.now(),
    };
    this.#publish(subjects.presence(this.name), presence);
  }

  #linkQuality(session: Session): NonNullable<Presence['link']> {
    const { fromOperator, toOperator, refused } = session.counts;
    const atNs = monotonicClock.nowNs();
    const perS = 1e9 / (atNs - this.#reported.atNs);
    const link = {
      rttMs: session.rttMs,
      fromOperatorHz: (fromOperator - this.#reported.fromOperator) * perS,
      toOperatorHz: (toOperator - this.#reported.toOperator) * perS,
      refused,
      client: session instanceof PageSession ? ('page' as const) : ('operator' as const),
    };
    this.#reported = { fromOperator, toOperator, atNs };
    return link;
  }

  #publishTelemetry(): void {
    const seen = this.#snapshot();
    if (seen === null) return;
    const telemetry: FleetTelemetry = {
      kind: 'telemetry',
      state: seen.state,
      limitedBy: seen.limitedBy,
      measuredRad: [...seen.measuredRad],
      targetRad: [...seen.targetRad],
      gripper: Number.isFinite(seen.gripper) ? seen.gripper : null,
      atMs: Date.now(),
    };
    this.#publish(subjects.telemetry(this.name), telemetry);
  }

  /** Nothing is queued for an unreachable broker: it would be outdated. */
  #publish(subject: string, message: Presence | FleetTelemetry | FleetEvent): void {
    if (this.#connection.isConnected()) this.#connection.nats.publish(subject, JSON.stringify(message));
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
