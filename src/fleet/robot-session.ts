import type { FrameReceiverConfig } from '../camera/channel/frame-receiver.ts';
import type { FleetConfig } from '../rig/fleet-config.ts';
import { RtcLink } from '../wire/transports/rtc-link.ts';
import type { loadRtc } from '../wire/transports/webrtc.ts';
import { AUDIO, openAudio } from './audio-source.ts';
import { CameraOut } from './camera-out.ts';
import type { LinkSockets } from './link-sockets.ts';
import { type Control, controlSchema, type IceServer, parsed } from './messages.ts';

export interface SessionOptions {
  rtc: Awaited<ReturnType<typeof loadRtc>>;
  number: number;
  user: string;
  holder: string;
  revision: number;
  /** The robot's ports: command, state, sync. */
  ports: readonly number[];
  /** Of the sealed link, told to the operator. */
  key: Uint8Array;
  ice: readonly IceServer[];
  config: FleetConfig;
  /** Whether the holder may command just now: asked for every datagram. */
  mayCommand(): boolean;
  onEstop(): void;
  onOpened(path: string): void;
  /** The operator left, or the way is gone. */
  onEnded(reason: string): void;
}

/**
 * One operator's way to the robot: a peer connection, and behind it the robot's own ports on loopback. Pictures and sound
 * go the other way, on channels of their own, while the operator wants them.
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
   * `sockets`: to the robot's ports. They stay open: who comes back is the same to the robot. `cameras`: of this machine;
   * null without.
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
        this.#say({ kind: 'key', key: Buffer.from(options.key).toString('base64') });
        onOpened(this.#link.path);
      },
      closed: (why) => {
        if (!this.#ended) onEnded(why);
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

  accept(answer: string): boolean {
    return this.#link.accept(answer);
  }

  close(reason: string): void {
    if (this.#ended) return;
    this.#ended = true;
    this.#say({ kind: 'ended', reason });
    this.#sockets.onOut(() => {});
    this.#cameras?.close();
    this.#quiet();
    // A moment for the last word to leave.
    setTimeout(() => this.#link.close(), 50);
  }

  #say(message: Control): void {
    this.#link.say(JSON.stringify(message));
  }

  #fromOperator(bytes: Uint8Array): void {
    if (this.#ended || !this.options.mayCommand() || !this.#sockets.in(bytes)) this.counts.refused++;
    else this.counts.fromOperator++;
  }

  #control(message: Control | null): void {
    if (message?.kind === 'estop') this.options.onEstop();
    else if (message?.kind === 'want') this.#listen(message.sound);
    else if (message?.kind !== 'bye') this.counts.refused++;
    else if (!this.#ended) this.options.onEnded('the operator left');
  }

  /** What is seen and heard belongs to the holder as well. */
  #picture(name: string, bytes: Uint8Array): boolean {
    return !this.#ended && this.options.mayCommand() && this.#link.sendCamera(name, bytes);
  }

  #listen(isWanted: boolean): void {
    if (!isWanted || this.#ended) return this.#quiet();
    this.#sound ??= openAudio(this.options.config, (rtp) => {
      if (this.options.mayCommand()) this.#link.sendSound(rtp);
    }).catch((error: unknown) => {
      console.error(`farhand: fleet: no sound: ${error instanceof Error ? error.message : String(error)}`);
      return null;
    });
  }

  #quiet(): void {
    const sound = this.#sound;
    this.#sound = null;
    void sound?.then((opened) => opened?.close());
  }
}
