import { randomBytes } from 'node:crypto';
import { TeleopError } from '../../core/errors.ts';
import {
  type Control,
  controlSchema,
  holderOf,
  parsed,
  type SentSignal,
  type SignalReply,
  signalReplySchema,
} from '../../fleet/messages.ts';
import { subjects } from '../../fleet/subjects.ts';
import { RtcLink } from '../../wire/transports/rtc-link.ts';
import { loadRtc } from '../../wire/transports/webrtc.ts';
import { deferred } from '../deferred.ts';
import { estopFlag, type RoleMemory } from '../shared.ts';
import { audit } from './audit.ts';
import type { FleetConfig } from './config.ts';
import { closedText, connectFleet, type FleetConnection } from './connection.ts';
import { HeldLease } from './held-lease.ts';
import { LeaseStore } from './lease-store.ts';
import { LinkSockets } from './link-sockets.ts';

export interface OperatorAgentStart {
  url: string;
  credentials: string;
  robot: string;
  config: FleetConfig;
}

/** What the operator role needs to drive the robot as if it were on this machine. */
export interface OpenedLink {
  /** On loopback: command, state, sync. */
  ports: number[];
  key: Uint8Array;
  /** Of the robot. */
  model: string;
  /** `host`, `srflx`, `prflx` or `relay`. */
  path: string;
}

const SIGNAL_MS = 8000;
/** Per attempt: a path through TURN takes a second or two. */
const OPEN_MS = 6000;
const ATTEMPTS = 3;
const ESTOP_CHECK_MS = 5;

/** The operator's part in a fleet: keeps the lease, and carries the link's datagrams to the robot's agent and back. */
export class OperatorAgent {
  readonly #start: OperatorAgentStart;
  readonly #connection: FleetConnection;
  readonly #sockets: LinkSockets;
  readonly #onEnded: (reason: string) => void;
  #lease: HeldLease | null = null;
  #link: RtcLink | null = null;
  #watch: NodeJS.Timeout | undefined;
  #over = false;

  private constructor(
    start: OperatorAgentStart,
    connection: FleetConnection,
    sockets: LinkSockets,
    onEnded: (reason: string) => void,
  ) {
    this.#start = start;
    this.#connection = connection;
    this.#sockets = sockets;
    this.#onEnded = onEnded;
  }

  /** Takes the lease and opens the way to the robot. `onEnded` is called once, when that is over. */
  static async open(
    start: OperatorAgentStart,
    onEnded: (reason: string) => void,
  ): Promise<{ agent: OperatorAgent; opened: OpenedLink }> {
    const connection = await connectFleet(start.url, start.credentials);
    const agent = new OperatorAgent(start, connection, await LinkSockets.open(), onEnded);
    void connection.nats.closed().then((cause) => agent.#end(closedText(cause)));
    try {
      return { agent, opened: await agent.#begin() };
    } catch (error) {
      agent.#over = true;
      await agent.close();
      throw error;
    }
  }

  /** The operator role runs: its e-stop goes by the reliable channel and by the broker as well. */
  watch(memory: Pick<RoleMemory, 'flags'>): void {
    const estop = estopFlag(memory);
    this.#watch = setInterval(() => {
      if (Atomics.exchange(estop, 0, 0) !== 0) this.#estop();
    }, ESTOP_CHECK_MS);
  }

  async close(): Promise<void> {
    this.#over = true;
    clearInterval(this.#watch);
    this.#say({ kind: 'bye' });
    if (await this.#lease?.release())
      audit(this.#connection, this.#start.robot, { what: 'lease-released', revision: this.#lease!.revision });
    this.#sockets.close();
    this.#link?.close();
    if (this.#connection.isConnected()) await this.#connection.nats.flush().catch(() => {});
    await this.#connection.close();
  }

  async #begin(): Promise<OpenedLink> {
    const { robot } = this.#start;
    const rtc = await loadRtc();
    const store = await LeaseStore.open(this.#connection.nats);
    const secret = randomBytes(24).toString('base64url');
    const holder = holderOf(this.#connection.user, secret);
    this.#lease = await HeldLease.take(store, robot, holder, () => this.#end('the lease was lost'));
    const { revision } = this.#lease;
    audit(this.#connection, robot, { what: 'lease-taken', revision });
    for (let left = ATTEMPTS; ; left--) {
      try {
        return await this.#connect(rtc, { kind: 'open', holder, secret, revision });
      } catch (error) {
        this.#link?.close();
        this.#link = null;
        const isLost = error instanceof TeleopError && error.code === 'fleet-refused';
        if (left === 1 || this.#over || !isLost) throw error;
      }
    }
  }

  /** One session with the robot's agent, from the first question to the key of its link. */
  async #connect(
    rtc: Awaited<ReturnType<typeof loadRtc>>,
    signal: Extract<SentSignal, { kind: 'open' }>,
  ): Promise<OpenedLink> {
    const { robot, config } = this.#start;
    const offer = await this.#ask(signal);
    if (offer.kind !== 'offer') throw refused(robot, offer);
    const ready = deferred<Uint8Array>();
    let isReady = false;
    const ended = (reason: string) => {
      if (isReady) this.#end(reason);
      else ready.reject(lost(robot, reason));
    };
    const settings = { ice: offer.ice, bindAddress: config.rtcAddress, relayOnly: config.relayOnly };
    const handlers = {
      datagram: (bytes: Uint8Array) => void this.#sockets.in(bytes),
      control: (text: string) => {
        const message = parsed(controlSchema, text);
        if (message?.kind === 'key') ready.resolve(new Uint8Array(Buffer.from(message.key, 'base64')));
        else if (message?.kind === 'ended') ended(message.reason);
      },
      opened: () => {},
      closed: ended,
    };
    ready.promise.catch(() => {});
    const link = new RtcLink(rtc, settings, handlers, offer.sdp);
    this.#link = link;
    this.#sockets.onOut((bytes) => void link.send(bytes));
    const sdp = await link.description();
    const accepted = await this.#ask({ kind: 'answer', session: offer.session, sdp });
    if (accepted.kind !== 'accepted') throw refused(robot, accepted);
    const timer = setTimeout(() => ready.reject(lost(robot, 'no way was found')), OPEN_MS);
    const key = await ready.promise.finally(() => clearTimeout(timer));
    isReady = true;
    return { ports: this.#sockets.ports, key, model: offer.model, path: link.path };
  }

  async #ask(signal: SentSignal): Promise<SignalReply> {
    const { robot } = this.#start;
    const { nats, user } = this.#connection;
    let text: string;
    try {
      const subject = subjects.signal(robot, user);
      text = (await nats.request(subject, JSON.stringify(signal), { timeout: SIGNAL_MS })).string();
    } catch (cause) {
      throw new TeleopError('robot-unreachable', `${robot} does not answer on the fleet`, {
        hint: '`farhand fleet ls` lists the robots that are there and that you may see.',
        cause,
      });
    }
    return parsed(signalReplySchema, text) ?? { kind: 'refused', reason: 'malformed' };
  }

  #say(message: Control): void {
    this.#link?.say(JSON.stringify(message));
  }

  #estop(): void {
    this.#say({ kind: 'estop' });
    const { nats, user } = this.#connection;
    if (this.#connection.isConnected()) nats.publish(subjects.estop(this.#start.robot, user));
  }

  #end(reason: string): void {
    if (this.#over) return;
    this.#over = true;
    this.#link?.close();
    this.#onEnded(reason);
  }
}

const refused = (robot: string, reply: SignalReply): TeleopError =>
  lost(robot, reply.kind === 'refused' ? reply.reason : 'it answers something else');

const lost = (robot: string, reason: string): TeleopError =>
  new TeleopError('fleet-refused', `${robot} did not open a session: ${reason}`, {
    hint: 'docs/fleet.md lists the reasons; `farhand fleet show` tells who drives the robot.',
  });
