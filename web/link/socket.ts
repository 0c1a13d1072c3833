import type { LinkRequest } from '../../src/core/console.ts';
import type { AccessMessage, AccessRequest } from '../../src/core/console-access.ts';
import type { DeskRequest } from '../../src/core/telemetry.ts';
import { hearText } from './hear.ts';
import type { LinkHandlers, LinkStatus, PageLink } from './page-link.ts';

/** A silent socket may be half open: TCP alone would need minutes to say so. */
const SILENCE_MS = 4000;
const FIRST_RETRY_MS = 250;
const LAST_RETRY_MS = 4000;
const BACKED_UP_BYTES = 4096;

/** One WebSocket that comes back by itself. Nothing is queued: what cannot be sent now is reported as not sent. */
export class ConsoleLink implements PageLink {
  status: LinkStatus = 'connecting';
  /** About who may do what; probes are answered here already. */
  onAccess: (message: AccessMessage) => void = () => {};
  #socket: WebSocket | null = null;
  #retryMs = FIRST_RETRY_MS;
  #retryTimer = 0;
  #silenceTimer = 0;
  readonly #url: string;
  readonly #handlers: LinkHandlers;

  constructor(url: string, handlers: LinkHandlers) {
    this.#url = url;
    this.#handlers = handlers;
  }

  /** True when handed to the socket. */
  send(request: DeskRequest | LinkRequest): boolean {
    if (this.#socket?.readyState !== WebSocket.OPEN) return false;
    this.#socket.send(JSON.stringify(request));
    return true;
  }

  /** About control and the way poses take. */
  say(message: AccessRequest): void {
    if (this.#socket?.readyState === WebSocket.OPEN) this.#socket.send(JSON.stringify(message));
  }

  /** For poses: a backed-up socket drops them. */
  sendBytes(bytes: Uint8Array<ArrayBuffer>): void {
    if (this.#socket?.readyState === WebSocket.OPEN && this.#socket.bufferedAmount <= BACKED_UP_BYTES)
      this.#socket.send(bytes);
  }

  /** For the hand stream: a backed-up socket drops the sample, since a late pose is worth nothing. */
  sendFresh(request: DeskRequest): boolean {
    if ((this.#socket?.bufferedAmount ?? 0) > BACKED_UP_BYTES) return false;
    return this.send(request);
  }

  /** Also legal while waiting to retry: tries now. */
  connect(): void {
    clearTimeout(this.#retryTimer);
    this.#forget();
    this.#setStatus('connecting');
    const socket = new WebSocket(this.#url);
    this.#socket = socket;
    socket.onopen = () => this.#setStatus('open');
    socket.onmessage = (event) => this.#receive(event.data);
    socket.onclose = () => this.#lost();
    this.#watchSilence();
  }

  #receive(data: unknown): void {
    this.#watchSilence();
    if (typeof data !== 'string') return;
    hearText(data, {
      onMessage: (message) => {
        this.#retryMs = FIRST_RETRY_MS;
        this.#handlers.onMessage(message);
      },
      onAccess: (message) => this.onAccess(message),
      answer: (message) => this.say(message),
    });
  }

  #watchSilence(): void {
    clearTimeout(this.#silenceTimer);
    this.#silenceTimer = window.setTimeout(() => this.#lost(), SILENCE_MS);
  }

  #lost(): void {
    clearTimeout(this.#silenceTimer);
    this.#forget();
    this.#setStatus('closed');
    clearTimeout(this.#retryTimer);
    this.#retryTimer = window.setTimeout(() => this.connect(), this.#retryMs);
    this.#retryMs = Math.min(LAST_RETRY_MS, this.#retryMs * 1.6);
  }

  /** Without waiting for the closing handshake, which a dead peer never answers. */
  #forget(): void {
    const socket = this.#socket;
    if (socket === null) return;
    socket.onopen = socket.onmessage = socket.onclose = null;
    socket.close();
    this.#socket = null;
  }

  #setStatus(status: LinkStatus): void {
    this.status = status;
    this.#handlers.onStatus(status);
  }
}

/** `/ws`, or another path next to the page, with the page's own security. */
export function socketUrl(location: Location, path = 'ws'): string {
  const url = new URL(path, location.href);
  url.protocol = url.protocol === 'https:' ? 'wss:' : 'ws:';
  url.search = '';
  url.hash = '';
  return url.href;
}
