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
  /** Empty: the one robot of the credentials. */
  name: string;
  model: string;
  version: string;
  joints: number;
  ports: number[];
  /** Of the sealed link on loopback. */
  key: Uint8Array;
  memory: Flags & { board: SharedArrayBuffer };
  config: FleetConfig;
  /** Of this machine; null without. */
  cameras: FrameReceiverConfig | null;
  /** As the robot runs; a page's session needs a role of its own. */
  rig: Rig;
  /** The script that runs that role. */
  pageOperatorEntry: string;
}

type Session = RobotSession | PageSession;

const GONE = 'the robot is ending';

const PRESENCE_MS = 1000;
const TELEMETRY_MS = 200;
const TICK_MS = 20;
/** A session that nobody answers is given up. */
const OPENING_NS = 15e9;
/** Processes of pages' sessions, those that are ending included: who opens again and again does not fill the machine. */
const MOST_PAGE_OPERATORS = 4;
/** How long an e-stop's answer waits for the robot's own word. */
const CONFIRM_MS = 300;
/** The same e-stop is written down once in this time. */
const ESTOP_REPORTED_MS = 1000;

/**
 * The robot's part in a fleet: tells how it is, takes one operator's datagrams while that one's lease is proven, and
 * hands them to the robot's own ports. On a thread of its own; nothing here is on the way of a control cycle.
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
  /** Sessions are opened one after the other. */
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

  /** `onEnded` is called when the broker will not have it any more. */
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
    if (this.#connection.isConnected() && this.#guard.poll(nowNs)) void this.#ask();
    const session = this.#session;
    this.#heedLeft(nowNs);
    if (session === null) return;
    const refusal = this.#guard.refusal(session.options.holder, session.options.revision, nowNs);
    if (refusal !== null) this.#end(refusal);
    else if (!session.isOpen && nowNs - this.#openedNs > OPENING_NS) this.#end('nobody came');
  }

  /** Whoever left without being told to stop may come back, as long as the lease is theirs. */
  #heedLeft(nowNs: number): void {
    const left = this.#left;
    if (left === null || this.#guard.refusal(left.holder, left.revision, nowNs) === null) return;
    this.#left = null;
    Atomics.store(leaseOverFlag(this.#start.memory), 0, 1);
  }

  async #ask(): Promise<void> {
    const askedNs = monotonicClock.nowNs();
    try {
      this.#guard.answered(askedNs, await this.#store.get(this.name));
    } catch {
      // No answer is no proof: the deadline goes on running.
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
    await this.#ask();
    const refused = () =>
      this.#closed ? GONE : this.#guard.refusal(holder, revision, monotonicClock.nowNs());
    // Who may not waits for nobody, and nobody for them.
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

  /** The session, or why there is none. */
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
    // The lease may have changed hands meanwhile.
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

  /** A holder that comes back speaks from the same ports: to the robot's link it was only silent. */
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

  /** Whoever drove does so no more. `stops`: the robot is told, and need not wait for the silence. */
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

  /** Before a new session: a page's has a role of its own, which ends; an operator's only opens its way again. */
  #replace(holder: string): void {
    const old = this.#session;
    this.#end('another session of its holder', old instanceof PageSession || old?.options.holder !== holder);
  }

  #stop(user: string, why: string): void {
    Atomics.store(estopFlag(this.#start.memory), 0, 1);
    // Poses repeat it for as long as it is asked for.
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

  /** Nothing is kept for a broker that is away: it would be old. */
  #publish(subject: string, message: Presence | FleetTelemetry | FleetEvent): void {
    if (this.#connection.isConnected()) this.#connection.nats.publish(subject, JSON.stringify(message));
  }
}

const later = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

function nameOf({ name }: RobotAgentStart, { robots, user }: FleetConnection): string {
  if (name !== '') return name;
  const [only = ''] = robots;
  if (robots.length === 1 && only !== '*') return only;
  throw new TeleopError('bad-option', `the credentials of ${user} are not those of one robot`, {
    hint: 'Name the robot: --name NAME.',
  });
}
