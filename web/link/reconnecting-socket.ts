import type { LinkStatus } from './page-link.ts';

export interface SocketHandlers {
  /** Binary messages are ignored. */
  onText(text: string): void;
  onStatus(status: LinkStatus): void;
}

/** A silent socket may be half open, which TCP reports only after minutes. The console sends something every second. */
const SILENCE_MS = 4000;
const FIRST_RETRY_MS = 250;
const MAX_RETRY_MS = 4000;

/** A WebSocket that reconnects. Queues nothing: `send` returns false while disconnected. */
export class ReconnectingSocket {
  status: LinkStatus = 'connecting';
  readonly #url: string;
  readonly #handlers: SocketHandlers;
  #socket: WebSocket | null = null;
  #retryMs = FIRST_RETRY_MS;
  #retryTimer = 0;
  #silenceTimer = 0;
  #closed = false;

  constructor(url: string, handlers: SocketHandlers) {
    this.#url = url;
    this.#handlers = handlers;
  }

  get waitingBytes(): number {
    return this.#socket?.bufferedAmount ?? 0;
  }

  /** True when written to the socket. */
  send(data: string | Uint8Array<ArrayBuffer>): boolean {
    if (this.#socket?.readyState !== WebSocket.OPEN) return false;
    this.#socket.send(data);
    return true;
  }

  /** Connects now, also while waiting to retry. */
  connect(): void {
    if (this.#closed) return;
    clearTimeout(this.#retryTimer);
    this.#abandon();
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

  /** Call after a valid message: the next reconnect starts without delay again. */
  resetBackoff(): void {
    this.#retryMs = FIRST_RETRY_MS;
  }

  /** Closes for good. */
  close(): void {
    this.#closed = true;
    clearTimeout(this.#retryTimer);
    clearTimeout(this.#silenceTimer);
    this.#abandon();
  }

  #watchSilence(): void {
    clearTimeout(this.#silenceTimer);
    this.#silenceTimer = window.setTimeout(() => this.#lost(), SILENCE_MS);
  }

  #lost(): void {
    clearTimeout(this.#silenceTimer);
    this.#abandon();
    this.#setStatus('closed');
    clearTimeout(this.#retryTimer);
    this.#retryTimer = window.setTimeout(() => this.connect(), this.#retryMs);
    this.#retryMs = Math.min(MAX_RETRY_MS, this.#retryMs * 1.6);
  }

  /** Does not wait for the closing handshake, which a dead peer never answers. */
  #abandon(): void {
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

/** The WebSocket address of `path` next to the page; `wss` when the page uses HTTPS. */
export function socketUrl(location: Location, path = 'ws'): string {
  const url = new URL(path, location.href);
  url.protocol = url.protocol === 'https:' ? 'wss:' : 'ws:';
  url.search = '';
  url.hash = '';
  return url.href;
}
