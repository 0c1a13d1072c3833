import type {
  FleetMessage,
  FleetNews,
  FleetReply,
  FleetRequest,
  FleetRow,
} from '../../src/core/fleet-console.ts';
import type { LinkStatus } from './page-link.ts';

/** The console says something every second. */
const SILENCE_MS = 4000;
const FIRST_RETRY_MS = 250;
const LAST_RETRY_MS = 4000;
/** Longer than anything the console waits for. */
const REPLY_MS = 15_000;

/** A robot of the list, with when that was so on the page's clock. */
export interface KnownRobot extends FleetRow {
  atMs: number;
}

type WithoutId<Request> = Request extends { id: number } ? Omit<Request, 'id'> : never;
export type FleetAsk = WithoutId<FleetRequest>;

/** The page's socket to a fleet's console: the list, requests, questions of others. Leases of this page end with it. */
export class FleetLink {
  status: LinkStatus = 'connecting';
  news: FleetNews | null = null;
  readonly robots = new Map<string, KnownRobot>();
  readonly #url: string;
  readonly #listeners = new Set<(message: FleetMessage) => void>();
  readonly #statusListeners = new Set<(status: LinkStatus) => void>();
  readonly #waiting = new Map<number, (reply: FleetReply) => void>();
  #socket: WebSocket | null = null;
  #ids = 0;
  #retryMs = FIRST_RETRY_MS;
  #retryTimer = 0;
  #silenceTimer = 0;
  #left = false;

  constructor(url: string) {
    this.#url = url;
  }

  onMessage(listener: (message: FleetMessage) => void): void {
    this.#listeners.add(listener);
  }

  onStatus(listener: (status: LinkStatus) => void): void {
    this.#statusListeners.add(listener);
  }

  /** Always answered: by the console, or by its silence. */
  request(ask: FleetAsk): Promise<FleetReply> {
    const id = ++this.#ids;
    if (this.#socket?.readyState !== WebSocket.OPEN) return Promise.resolve(unreached(id));
    this.#socket.send(JSON.stringify({ ...ask, id }));
    return new Promise((resolve) => {
      const timer = window.setTimeout(() => this.#answer(unreached(id)), REPLY_MS);
      this.#waiting.set(id, (reply) => {
        clearTimeout(timer);
        resolve(reply);
      });
    });
  }

  connect(): void {
    if (this.#left) return;
    clearTimeout(this.#retryTimer);
    this.#forget();
    this.#setStatus('connecting');
    const socket = new WebSocket(this.#url);
    this.#socket = socket;
    socket.onopen = () => {
      this.robots.clear();
      this.#setStatus('open');
    };
    socket.onmessage = ({ data }) => this.#receive(String(data));
    socket.onclose = () => this.#lost();
    this.#watchSilence();
  }

  /** The page is being left: what it holds is given back. */
  leave(): void {
    this.#left = true;
    clearTimeout(this.#retryTimer);
    clearTimeout(this.#silenceTimer);
    this.#forget();
  }

  #receive(text: string): void {
    this.#watchSilence();
    this.#retryMs = FIRST_RETRY_MS;
    const message = JSON.parse(text) as FleetMessage;
    if (message.kind === 'reply') return this.#answer(message);
    if (message.kind === 'fleet') this.news = message;
    else if (message.kind === 'robots') {
      const atMs = performance.now();
      for (const row of message.rows) this.robots.set(row.robot, { ...row, atMs });
      for (const robot of message.removed) this.robots.delete(robot);
    }
    for (const listener of this.#listeners) listener(message);
  }

  #answer(reply: FleetReply): void {
    const answer = this.#waiting.get(reply.id);
    this.#waiting.delete(reply.id);
    answer?.(reply);
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

  #forget(): void {
    const socket = this.#socket;
    this.#socket = null;
    if (socket !== null) {
      socket.onopen = socket.onmessage = socket.onclose = null;
      socket.close();
    }
    for (const id of [...this.#waiting.keys()]) this.#answer(unreached(id));
  }

  #setStatus(status: LinkStatus): void {
    this.status = status;
    for (const listener of this.#statusListeners) listener(status);
  }
}

const unreached = (id: number): FleetReply => ({
  ...{ kind: 'reply', id, ok: false, code: 'unreached' },
  text: 'the console is not reached',
});
