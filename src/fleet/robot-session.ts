import type { FrameReceiverConfig } from '../camera/channel/frame-receiver.ts';
import type { FleetConfig } from '../rig/fleet-config.ts';
import { RtcLink } from '../wire/transports/rtc-link.ts';
import type { NotAccepted } from '../wire/transports/rtc-peer.ts';
import type { loadRtc } from '../wire/transports/webrtc.ts';
import { AUDIO, openAudio } from './audio-source.ts';
import { CameraOut } from './camera-out.ts';
import type { Signed } from './leases/grant.ts';
import type { LinkSockets } from './link-sockets.ts';
import { type Control, controlSchema, type IceServer, parsed } from './messages.ts';

export interface SessionOptions {
  rtc: Awaited<ReturnType<typeof loadRtc>>;
  number: number;
  user: string;
  /** The holder's public key for this lease, and the lease's token. */
  key: string;
  token: number;
  /** The robot's ports: command, state, sync. */
  ports: readonly number[];
  /** Key of the sealed link, sent to the operator. */
  linkKey: Uint8Array;
  ice: readonly IceServer[];
  config: FleetConfig;
  /** Whether the holder may command now: checked for every datagram. */
  mayCommand(): boolean;
  onEstop(): void;
  /** The operator passed on a renewal of its lease. */
  onGrant(grant: Signed): void;
  onOpened(path: string): void;
  /** `hasLeft`: the operator gave the robot back; otherwise the path was lost. */
  onEnded(reason: string, hasLeft: boolean): void;
}

/**
 * Connects one operator to the robot: a peer connection, and behind it the robot's own ports on loopback.
 * Pictures and sound go to the operator on separate channels, on request.
 */
export class RobotSession {
  readonly options: SessionOptions;
  readonly counts = { fromOperator: 0, toOperator: 0, refused: 0 };
  readonly #sockets: LinkSockets;
  readonly #link: RtcLink;
  readonly #cameras: CameraOut | null;
  #sound: Promise<{ close(): void } | null> | null = null;
  #ended = false;

  /**
   * `sockets`: to the robot's ports. They stay open: to the robot, an operator that reconnects is the same.
   * `cameras`: this machine's; null: none.
   */
  constructor(options: SessionOptions, sockets: LinkSockets, cameras: FrameReceiverConfig | null) {
    const { rtc, ice, config, onEnded, onOpened } = options;
    this.options = options;
    this.#sockets = sockets;
    const settings = {
      ice,
      bindAddress: config.rtcAddress,
      relayOnly: config.relayOnly,
      cameras: cameras?.cameras ?? [],
      sound: config.audio === '' ? null : AUDIO,
      packets: true,
    };
    this.#cameras =
      cameras === null ? null : new CameraOut(cameras, (name, bytes) => this.#picture(name, bytes));
    this.#link = new RtcLink(rtc, settings, {
      datagram: (bytes) => this.#fromOperator(bytes),
      control: (text) => this.#control(parsed(controlSchema, text)),
      camera: (name, bytes) => {
        if (!this.#cameras?.receive(name, bytes)) this.counts.refused++;
      },
      stray: () => void this.counts.refused++,
      cameraOpen: (name, open) => this.#cameras?.want(name, open),
      opened: () => {
        this.#send({ kind: 'key', key: Buffer.from(options.linkKey).toString('base64') });
        onOpened(this.#link.path);
      },
      closed: (why) => {
        if (!this.#ended) onEnded(why, false);
      },
    });
    sockets.onOut((bytes) => {
      if (this.#link.send(bytes)) this.counts.toOperator++;
    });
  }

  get isOpen(): boolean {
    return this.#link.isOpen;
  }

  get rttMs(): number | null {
    return this.#link.rttMs;
  }

  offer(): Promise<string> {
    return this.#link.description();
  }

  accept(answer: string): NotAccepted | null {
    return this.#link.accept(answer);
  }

  /** For the operator's next renewal. */
  tellNonce(nonce: string): void {
    this.#send({ kind: 'nonce', nonce });
  }

  close(reason: string): void {
    if (this.#ended) return;
    this.#ended = true;
    this.#send({ kind: 'ended', reason });
    this.#sockets.onOut(() => {});
    this.#cameras?.close();
    this.#stopSound();
    // Leaves time to send the last message.
    setTimeout(() => this.#link.close(), 50);
  }

  #send(message: Control): void {
    this.#link.say(JSON.stringify(message));
  }

  #fromOperator(bytes: Uint8Array): void {
    if (this.#ended || !this.options.mayCommand() || !this.#sockets.in(bytes)) this.counts.refused++;
    else this.counts.fromOperator++;
  }

  #control(message: Control | null): void {
    if (message?.kind === 'estop') this.options.onEstop();
    else if (message?.kind === 'want') this.#wantSound(message.sound);
    else if (message?.kind === 'grant') this.options.onGrant(message.grant);
    else if (message?.kind !== 'bye') this.counts.refused++;
    else if (!this.#ended) this.options.onEnded('the operator left', true);
  }

  /** Only the holder gets pictures and sound. */
  #picture(name: string, bytes: Uint8Array): boolean {
    return !this.#ended && this.options.mayCommand() && this.#link.sendCamera(name, bytes);
  }

  #wantSound(isWanted: boolean): void {
    if (!isWanted || this.#ended) return this.#stopSound();
    this.#sound ??= openAudio(this.options.config, (rtp) => {
      if (this.options.mayCommand()) this.#link.sendSound(rtp);
    }).catch((error: unknown) => {
      console.error(`farhand: fleet: no sound: ${error instanceof Error ? error.message : String(error)}`);
      return null;
    });
  }

  #stopSound(): void {
    const sound = this.#sound;
    this.#sound = null;
    void sound?.then((opened) => opened?.close());
  }
}
