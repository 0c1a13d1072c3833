import type { LinkStatus } from './page-link.ts';

export interface SocketHandlers {
  /** Anything but text is not for pages. */
  onText(text: string): void;
  onStatus(status: LinkStatus): void;
}

/** A silent socket may be half open: TCP alone would need minutes to say so. The console says something every second. */
const SILENCE_MS = 4000;
const FIRST_RETRY_MS = 250;
const LAST_RETRY_MS = 4000;

/** One WebSocket that comes back by itself. Nothing is queued: what cannot be sent now is reported as not sent. */
export class ReturningSocket {
  status: LinkStatus = 'connecting';
  readonly #url: string;
  readonly #handlers: SocketHandlers;
  #socket: WebSocket | null = null;
  #retryMs = FIRST_RETRY_MS;
  #retryTimer = 0;
  #silenceTimer = 0;
  #left = false;

  constructor(url: string, handlers: SocketHandlers) {
    this.#url = url;
    this.#handlers = handlers;
  }

  get waitingBytes(): number {
    return this.#socket?.bufferedAmount ?? 0;
  }

  /** True when handed to the socket. */
  send(data: string | Uint8Array<ArrayBuffer>): boolean {
    if (this.#socket?.readyState !== WebSocket.OPEN) return false;
    this.#socket.send(data);
    return true;
  }

  /** Also legal while waiting to retry: tries now. */
  connect(): void {
    if (this.#left) return;
    clearTimeout(this.#retryTimer);
    this.#forget();
    this.#setStatus('connecting');
    const socket = new WebSocket(this.#url);
    this.#socket = socket;
    socket.onopen = () => this.#setStatus('open');
    socket.onmessage = ({ data }) => {
      this.#watchSilence();
      if (typeof data === 'string') this.#handlers.onText(data);
    };
    socket.onclose = () => this.#lost();
    this.#watchSilence();
  }

  /** What came made sense: the next loss is a new one. */
  wentWell(): void {
    this.#retryMs = FIRST_RETRY_MS;
  }

  /** For good. */
  leave(): void {
    this.#left = true;
    clearTimeout(this.#retryTimer);
    clearTimeout(this.#silenceTimer);
    this.#forget();
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
