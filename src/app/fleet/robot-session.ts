import { type Control, controlSchema, type IceServer, parsed } from '../../fleet/messages.ts';
import { RtcLink } from '../../wire/transports/rtc-link.ts';
import type { loadRtc } from '../../wire/transports/webrtc.ts';
import type { FleetConfig } from './config.ts';
import { LinkSockets } from './link-sockets.ts';

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
  onEnded(reason: string): void;
}

/** One operator's way to the robot: a peer connection, and behind it the robot's own ports on loopback. */
export class RobotSession {
  readonly options: SessionOptions;
  readonly counts = { fromOperator: 0, toOperator: 0, refused: 0 };
  readonly #sockets: LinkSockets;
  readonly #link: RtcLink;
  #ended = false;

  private constructor(options: SessionOptions, sockets: LinkSockets) {
    const { rtc, ice, config, onEnded, onOpened } = options;
    this.options = options;
    this.#sockets = sockets;
    const settings = { ice, bindAddress: config.rtcAddress, relayOnly: config.relayOnly };
    this.#link = new RtcLink(rtc, settings, {
      datagram: (bytes) => this.#fromOperator(bytes),
      control: (text) => this.#control(parsed(controlSchema, text)),
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

  static async open(options: SessionOptions): Promise<RobotSession> {
    return new RobotSession(options, await LinkSockets.open(options.ports));
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
    this.#sockets.close();
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
    else if (message?.kind === 'bye' && !this.#ended) this.options.onEnded('the operator left');
  }
}
