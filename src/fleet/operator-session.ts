import { deferred } from '../core/deferred.ts';
import type { TeleopError } from '../core/errors.ts';
import { monotonicClock } from '../core/time/clock.ts';
import type { FleetConfig } from '../rig/fleet-config.ts';
import { RtcLink } from '../wire/transports/rtc-link.ts';
import type { loadRtc } from '../wire/transports/webrtc.ts';
import type { AudioIn } from './audio-in.ts';
import type { CameraIn } from './camera-in.ts';
import type { FleetConnection } from './connection.ts';
import type { HeldLease } from './leases/held-lease.ts';
import { type Control, controlSchema, parsed } from './messages.ts';
import { acceptSession, type Offer, refusedBy, requestSession } from './signalling.ts';

export interface OperatorSessionOptions {
  rtc: Awaited<ReturnType<typeof loadRtc>>;
  connection: FleetConnection;
  robot: string;
  config: FleetConfig;
  lease: HeldLease;
  cameras: CameraIn | null;
  audio: AudioIn | null;
  /** Valid only during the call. */
  onDatagram(bytes: Uint8Array): void;
  /** An open session ended. */
  onEnded(reason: string): void;
  /** The robot reported that it is shutting down. */
  onGone(reason: string): void;
}

/** A path through TURN takes a second or two. */
const OPEN_MS = 6000;
const GONE = 'the robot is ending';

/** One peer connection with a robot's agent, from the first request to its end. */
export class OperatorSession {
  /** When the robot's last datagram arrived. */
  receivedNs = monotonicClock.nowNs();
  model = '';
  key: Uint8Array = new Uint8Array();
  readonly #options: OperatorSessionOptions;
  readonly #link: RtcLink;
  readonly #ready = deferred<Uint8Array>();
  #isReady = false;

  private constructor(options: OperatorSessionOptions, offer: Offer) {
    this.#options = options;
    const { rtc, config, cameras, audio, onDatagram } = options;
    this.model = offer.model;
    const settings = {
      ice: offer.ice,
      bindAddress: config.rtcAddress,
      relayOnly: config.relayOnly,
      cameras: cameras?.names ?? [],
      packets: true,
    };
    const handlers = {
      datagram: (bytes: Uint8Array) => {
        this.receivedNs = monotonicClock.nowNs();
        onDatagram(bytes);
      },
      control: (text: string) => this.#control(parsed(controlSchema, text)),
      camera: (name: string, bytes: Uint8Array) =>
        cameras?.take(name, bytes, (reply) => void this.#link.sendCamera(name, reply)),
      sound: (rtp: Uint8Array) => audio?.take(rtp),
      opened: () => {
        if (audio !== null) this.sendControl({ kind: 'want', sound: true });
      },
      closed: (reason: string) => this.#ended(reason),
    };
    this.#ready.promise.catch(() => {});
    this.#link = new RtcLink(rtc, settings, handlers, offer.sdp);
  }

  static async open(options: OperatorSessionOptions): Promise<OperatorSession> {
    const { robot, connection, lease } = options;
    const offer = await requestSession(connection, lease, 'operator');
    const session = new OperatorSession(options, offer);
    try {
      const sdp = await session.#link.description();
      await acceptSession(connection, lease, offer.session, sdp);
      session.#link.begin();
      const timer = setTimeout(
        () => session.#ready.reject(lost(robot, 'no network path was found')),
        OPEN_MS,
      );
      session.key = await session.#ready.promise.finally(() => clearTimeout(timer));
    } catch (error) {
      session.close();
      throw error;
    }
    session.#isReady = true;
    session.receivedNs = monotonicClock.nowNs();
    return session;
  }

  get path(): string {
    return this.#link.path;
  }

  send(datagram: Uint8Array): boolean {
    return this.#link.send(datagram);
  }

  sendControl(message: Control): void {
    this.#link.say(JSON.stringify(message));
  }

  close(): void {
    this.#link.close();
  }

  #control(message: Control | null): void {
    if (message?.kind === 'key') this.#ready.resolve(new Uint8Array(Buffer.from(message.key, 'base64')));
    else if (message?.kind === 'nonce') this.#options.lease.nonce = message.nonce;
    else if (message?.kind === 'ended' && message.reason === GONE) this.#options.onGone(GONE);
    else if (message?.kind === 'ended') this.#ended(message.reason);
  }

  #ended(reason: string): void {
    if (this.#isReady) this.#options.onEnded(reason);
    else this.#ready.reject(lost(this.#options.robot, reason));
  }
}

const lost = (robot: string, reason: string): TeleopError => refusedBy(robot, { kind: 'refused', reason });
