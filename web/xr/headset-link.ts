import { type AccessMessage, answerProbe } from '../../src/messages/console-access.ts';
import type { DeskRequest } from '../../src/messages/telemetry.ts';
import type { ServerMessage } from '../link/messages.ts';
import type { LinkStatus, PictureSource } from '../link/page-link.ts';
import { socketUrl } from '../link/reconnecting-socket.ts';
import { ConsoleLink } from '../link/socket.ts';
import { Peer } from './peer.ts';

export interface HeadsetHandlers {
  onMessage(message: ServerMessage): void;
  onAccess(message: AccessMessage): void;
  onStatus(status: LinkStatus): void;
}

/** Connects a headset page to the operator process. */
export interface HeadsetLink {
  readonly status: LinkStatus;
  connect(): void;
  send(request: DeskRequest): boolean;
  control(action: 'claim' | 'take' | 'release'): void;
  sendPoses(bytes: Uint8Array<ArrayBuffer>): void;
  estop(): boolean;
  dropPeer(): void;
  /** Delivers camera frames; null: each camera opens its own WebSocket. */
  readonly pictures: PictureSource | null;
}

const KEEP_MS = 500;

/** Sends poses over WebRTC, or over the WebSocket while WebRTC is down. Sends an e-stop over all channels. */
export class ConsoleHeadsetLink implements HeadsetLink {
  readonly pictures = null;
  readonly #socket: ConsoleLink;
  readonly #peer: Peer;

  constructor(location: Location, handlers: HeadsetHandlers) {
    this.#socket = new ConsoleLink(socketUrl(location), {
      onMessage: (message) => handlers.onMessage(message),
      onStatus: (status) => handlers.onStatus(status),
    });
    this.#socket.onAccess = (message) => {
      if (message.kind === 'rtc') void this.#peer.receiveSignal(message.signal);
      else handlers.onAccess(message);
    };
    this.#peer = new Peer({
      send: (message) => this.#socket.sendAccess(message),
      text: (text) => this.#receivePeer(text),
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
    this.#socket.sendAccess({ kind: 'control', action });
  }

  sendPoses(bytes: Uint8Array<ArrayBuffer>): void {
    if (!this.#peer.sendPoses(bytes)) this.#socket.sendBytes(bytes);
  }

  /** Duplicates are harmless. */
  estop(): boolean {
    const request: DeskRequest = { kind: 'estop' };
    this.#peer.sendText(JSON.stringify(request));
    return this.#socket.send(request) || this.#peer.open;
  }

  /** For tests: drops the WebRTC connection. The WebSocket carries the poses until it reconnects. */
  dropPeer(): void {
    this.#peer.drop();
  }

  #receivePeer(text: string): void {
    const receivedNs = performance.now() * 1e6;
    const message = JSON.parse(text) as AccessMessage;
    if (message.kind === 'probe')
      this.#peer.reply(JSON.stringify(answerProbe(message, receivedNs, performance.now() * 1e6)));
  }
}
