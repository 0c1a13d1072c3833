import { type AccessMessage, answerProbe } from '../../src/messages/console-access.ts';
import type { DeskRequest } from '../../src/messages/telemetry.ts';
import type { ServerMessage } from '../link/messages.ts';
import type { LinkStatus, PictureSource } from '../link/page-link.ts';
import { socketUrl } from '../link/returning-socket.ts';
import { ConsoleLink } from '../link/socket.ts';
import { Peer } from './peer.ts';

export interface HeadsetHandlers {
  onMessage(message: ServerMessage): void;
  onAccess(message: AccessMessage): void;
  onStatus(status: LinkStatus): void;
}

/** How a page in a headset reaches whoever drives the robot. */
export interface HeadsetWay {
  readonly status: LinkStatus;
  connect(): void;
  send(request: DeskRequest): boolean;
  control(action: 'claim' | 'take' | 'release'): void;
  sendPoses(bytes: Uint8Array<ArrayBuffer>): void;
  estop(): boolean;
  dropPeer(): void;
  /** Where pictures come from; null: from sockets of their own. */
  readonly pictures: PictureSource | null;
}

const KEEP_MS = 500;

/** Poses over the peer connection, or over the WebSocket while there is none; an e-stop over everything at once. */
export class HeadsetLink implements HeadsetWay {
  readonly pictures = null;
  readonly #socket: ConsoleLink;
  readonly #peer: Peer;

  constructor(location: Location, handlers: HeadsetHandlers) {
    this.#socket = new ConsoleLink(socketUrl(location), {
      onMessage: (message) => handlers.onMessage(message),
      onStatus: (status) => handlers.onStatus(status),
    });
    this.#socket.onAccess = (message) => {
      if (message.kind === 'rtc') void this.#peer.hear(message.signal);
      else handlers.onAccess(message);
    };
    this.#peer = new Peer({
      say: (message) => this.#socket.say(message),
      text: (text) => this.#hearPeer(text),
      changed: () => {},
    });
    setInterval(() => {
      if (this.#socket.status === 'open') this.#peer.keep(performance.now());
    }, KEEP_MS);
  }

  get status(): LinkStatus {
    return this.#socket.status;
  }

  get over(): 'webrtc' | 'websocket' {
    return this.#peer.open ? 'webrtc' : 'websocket';
  }

  connect(): void {
    this.#socket.connect();
  }

  send(request: DeskRequest): boolean {
    return this.#socket.send(request);
  }

  control(action: 'claim' | 'take' | 'release'): void {
    this.#socket.say({ kind: 'control', action });
  }

  sendPoses(bytes: Uint8Array<ArrayBuffer>): void {
    if (!this.#peer.sendPoses(bytes)) this.#socket.sendBytes(bytes);
  }

  /** Duplicates do no harm. */
  estop(): boolean {
    const request: DeskRequest = { kind: 'estop' };
    this.#peer.sendText(JSON.stringify(request));
    return this.#socket.send(request) || this.#peer.open;
  }

  /** As if the network had: the WebSocket goes on alone until a new one stands. */
  dropPeer(): void {
    this.#peer.drop();
  }

  #hearPeer(text: string): void {
    const receivedNs = performance.now() * 1e6;
    const message = JSON.parse(text) as AccessMessage;
    if (message.kind === 'probe')
      this.#peer.reply(JSON.stringify(answerProbe(message, receivedNs, performance.now() * 1e6)));
  }
}
