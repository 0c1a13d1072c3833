import type { FrameSenderConfig } from '../camera/channel/frame-sender.ts';
import { TeleopError } from '../core/errors.ts';
import { monotonicClock } from '../core/time/clock.ts';
import { estopFlag, type Flags } from '../messages/role-flags.ts';
import type { FleetConfig } from '../rig/fleet-config.ts';
import { loadRtc } from '../wire/transports/webrtc.ts';
import { AudioIn } from './audio-in.ts';
import { audit } from './audit.ts';
import { CameraIn } from './camera-in.ts';
import { closedText, connectFleet, type FleetConnection } from './connection.ts';
import { askHolder, HolderRequests } from './hand-over-requests.ts';
import { HeldLease } from './leases/held-lease.ts';
import { LeaseClient } from './leases/lease-client.ts';
import { LinkSockets } from './link-sockets.ts';
import type { Control } from './messages.ts';
import { OperatorSession } from './operator-session.ts';
import { subjects } from './subjects.ts';

export interface OperatorAgentStart {
  url: string;
  credentials: string;
  robot: string;
  config: FleetConfig;
  /** Where the robot's pictures go on this machine; null: not wanted. */
  cameras: FrameSenderConfig | null;
  /** Asks the current holder for the robot instead of giving up. */
  askHolder: boolean;
  /** Local port for the robot's sound, and the file that a player opens; null: not wanted. */
  audio: { port: number; sdpFile: string } | null;
}

/** What the operator role needs to drive the robot as if it were local. */
export interface OpenedLink {
  /** On loopback: command, state, sync. */
  ports: number[];
  key: Uint8Array;
  /** The robot's model. */
  model: string;
  /** `host`, `srflx`, `prflx` or `relay`. */
  path: string;
}

export interface OperatorAgentHandlers {
  /** Called once, when the session has ended. */
  ended(reason: string): void;
  /** Another operator requests the robot; `handOver` answers. */
  requested(from: string): void;
}

type Rtc = Awaited<ReturnType<typeof loadRtc>>;

const ATTEMPTS = 3;
const CHECK_MS = 5;
/** A robot sends all the time. After this long without a datagram the path counts as lost. */
const SILENCE_NS = 3e9;
/** A lost path is reopened after the first pause, then after twice as long each time, up to the longest. */
const FIRST_PAUSE_MS = 100;
const LONGEST_PAUSE_MS = 2000;
const NO_HAND_OVER = {
  no: 'keeps the robot',
  silence: 'did not answer',
  unreachable: 'does not receive requests for the robot',
} as const;
/** After this the operator gives up, even while it holds the lease. */
const GIVE_UP_MS = 60_000;

/**
 * The operator's side of a fleet: keeps the lease, and carries the link's datagrams to the robot's agent and
 * back. It reopens a lost path while it holds the lease; the role on this machine keeps the same ports.
 */
export class OperatorAgent {
  readonly #start: OperatorAgentStart;
  readonly #connection: FleetConnection;
  readonly #rtc: Rtc;
  readonly #sockets: LinkSockets;
  readonly #cameras: CameraIn | null;
  readonly #audio: AudioIn | null;
  readonly #onEnded: (reason: string) => void;
  readonly #onRequest: (from: string) => void;
  #requests: HolderRequests | null = null;
  #lease: HeldLease | null = null;
  #session: OperatorSession | null = null;
  #key: Uint8Array = new Uint8Array();
  #watch: NodeJS.Timeout | undefined;
  #over = false;

  private constructor(
    start: OperatorAgentStart,
    connection: FleetConnection,
    rtc: Rtc,
    parts: { sockets: LinkSockets; cameras: CameraIn | null; audio: AudioIn | null },
    handlers: OperatorAgentHandlers,
  ) {
    this.#start = start;
    this.#connection = connection;
    this.#rtc = rtc;
    this.#sockets = parts.sockets;
    this.#cameras = parts.cameras;
    this.#audio = parts.audio;
    this.#onEnded = handlers.ended;
    this.#onRequest = handlers.requested;
  }

  /** Takes the lease and opens the path to the robot. */
  static async open(
    start: OperatorAgentStart,
    handlers: OperatorAgentHandlers,
    rtc?: Rtc,
  ): Promise<{ agent: OperatorAgent; opened: OpenedLink }> {
    const { robot, cameras, audio } = start;
    const sound = audio === null ? null : new AudioIn(robot, audio.port, audio.sdpFile);
    const loaded = rtc ?? (await loadRtc());
    const connection = await connectFleet(start.url, start.credentials, start.config);
    const parts = {
      sockets: await LinkSockets.open(),
      cameras: cameras === null ? null : await CameraIn.open(cameras),
      audio: sound,
    };
    const agent = new OperatorAgent(start, connection, loaded, parts, handlers);
    void connection.nats.closed().then((cause) => agent.#end(closedText(cause)));
    try {
      return { agent, opened: await agent.#begin() };
    } catch (error) {
      agent.#over = true;
      await agent.close();
      throw error;
    }
  }

  /** Watches the running operator role: also sends its e-stop over the reliable channel and the broker. */
  watch(memory: Flags): void {
    const estop = estopFlag(memory);
    const sinceNs = monotonicClock.nowNs();
    this.#watch = setInterval(() => {
      if (Atomics.exchange(estop, 0, 0) !== 0) this.#estop();
      const session = this.#session;
      const receivedNs = Math.max(sinceNs, session?.receivedNs ?? 0);
      if (session !== null && monotonicClock.nowNs() - receivedNs > SILENCE_NS)
        this.#lost(session, `nothing received for ${SILENCE_NS / 1e9} s`);
    }, CHECK_MS);
  }

  async close(): Promise<void> {
    this.#over = true;
    clearInterval(this.#watch);
    this.#requests?.close();
    this.#send({ kind: 'bye' });
    await this.#lease?.release();
    this.#sockets.close();
    this.#session?.close();
    this.#audio?.close();
    await this.#cameras?.close();
    if (this.#connection.isConnected()) await this.#connection.nats.flush().catch(() => {});
    await this.#connection.close();
  }

  async #begin(): Promise<OpenedLink> {
    const { robot } = this.#start;
    this.#lease = await this.#take();
    this.#requests = new HolderRequests(this.#connection, robot, this.#onRequest);
    for (let left = ATTEMPTS; ; left--) {
      try {
        const { key, model, path } = await this.#connect();
        this.#key = key;
        return { ports: this.#sockets.ports, key, model, path };
      } catch (error) {
        const isLost = error instanceof TeleopError && error.code === 'fleet-refused';
        if (left === 1 || this.#over || !isLost) throw error;
      }
    }
  }

  async #take(): Promise<HeldLease> {
    const { robot, askHolder: asks } = this.#start;
    const client = new LeaseClient(this.#connection);
    const take = () =>
      HeldLease.take(client, robot, {
        lost: () => this.#end('the lease was lost'),
        granted: (grant) => this.#send({ kind: 'grant', grant }),
      });
    const holder = asks ? (await client.look(robot))?.user : undefined;
    if (holder === undefined) return take();
    const say = (text: string) => console.error(`farhand: fleet: ${text}`);
    const answer = await askHolder(this.#connection, robot, holder, () =>
      say(`asked ${holder} for ${robot}…`),
    );
    if (answer === 'yes') return take();
    throw new TeleopError('lease-held', `${holder} ${NO_HAND_OVER[answer]}`, {
      hint: `Revoke the lease: \`farhand fleet release ${robot}\`; a robot in motion stops.`,
    });
  }

  /** The user's answer to a request for the robot. */
  async handOver(yes: boolean): Promise<void> {
    const to = await this.#requests?.answer(yes, async (user) => {
      this.#send({ kind: 'bye' });
      return (await this.#lease?.release(user)) === true;
    });
    if (yes && to) this.#end(`handed over to ${to}`);
  }

  /** Opens a session with the robot's agent; the previous one has ended. */
  async #connect(): Promise<OperatorSession> {
    const { robot, config } = this.#start;
    this.#session = null;
    this.#sockets.onOut(() => {});
    this.#cameras?.begin();
    const session = await OperatorSession.open({
      rtc: this.#rtc,
      connection: this.#connection,
      robot,
      config,
      lease: this.#lease!,
      cameras: this.#cameras,
      audio: this.#audio,
      onDatagram: (bytes) => void this.#sockets.in(bytes),
      onEnded: (reason) => this.#lost(session, reason),
      // The robot's process has exited, and its key is void.
      onGone: (reason) => this.#end(reason),
    });
    if (this.#over) {
      session.close();
      throw new TeleopError('fleet-refused', 'the operator has ended', { hint: 'Start it again.' });
    }
    this.#session = session;
    this.#sockets.onOut((bytes) => void session.send(bytes));
    return session;
  }

  #lost(session: OperatorSession, why: string): void {
    if (this.#session !== session || this.#over) return;
    session.close();
    this.#session = null;
    const { robot } = this.#start;
    audit(this.#connection, robot, { what: 'session-lost', why });
    console.error(`farhand: fleet: path to ${robot} lost (${why}); reconnecting`);
    void this.#reopen(why);
  }

  async #reopen(why: string): Promise<void> {
    const { robot } = this.#start;
    const untilMs = performance.now() + GIVE_UP_MS;
    for (let pauseMs = FIRST_PAUSE_MS; !this.#over; pauseMs = Math.min(LONGEST_PAUSE_MS, 2 * pauseMs)) {
      await new Promise((resolve) => setTimeout(resolve, pauseMs));
      if (this.#over) return;
      if (performance.now() > untilMs) return this.#end(`${why}, and no path for ${GIVE_UP_MS / 1000} s`);
      try {
        const { key, path } = await this.#connect();
        if (!Buffer.from(key).equals(this.#key)) return this.#end('the robot was restarted');
        audit(this.#connection, robot, { what: 'session-reopened', why: path });
        console.error(`farhand: fleet: path to ${robot} reopened (${path})`);
        return;
      } catch {
        // Rejected, unreachable or no path yet: retry until the lease ends or the time is up.
      }
    }
  }

  #send(message: Control): void {
    this.#session?.sendControl(message);
  }

  #estop(): void {
    this.#send({ kind: 'estop' });
    const { nats, user } = this.#connection;
    if (this.#connection.isConnected()) nats.publish(subjects.estop(this.#start.robot, user));
  }

  #end(reason: string): void {
    if (this.#over) return;
    this.#over = true;
    this.#session?.close();
    this.#onEnded(reason);
  }
}
