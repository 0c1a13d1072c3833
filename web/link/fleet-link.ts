import type {
  FleetMessage,
  FleetNews,
  FleetReply,
  FleetRequest,
  FleetRow,
} from '../../src/messages/fleet-console.ts';
import type { LinkStatus } from './page-link.ts';
import { ReturningSocket } from './returning-socket.ts';

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
  news: FleetNews | null = null;
  readonly robots = new Map<string, KnownRobot>();
  readonly #socket: ReturningSocket;
  readonly #listeners = new Set<(message: FleetMessage) => void>();
  readonly #statusListeners = new Set<(status: LinkStatus) => void>();
  readonly #waiting = new Map<number, (reply: FleetReply) => void>();
  #ids = 0;

  constructor(url: string) {
    this.#socket = new ReturningSocket(url, {
      onText: (text) => this.#receive(text),
      onStatus: (status) => this.#onStatus(status),
    });
  }

  get status(): LinkStatus {
    return this.#socket.status;
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
    if (!this.#socket.send(JSON.stringify({ ...ask, id }))) return Promise.resolve(unreached(id));
    return new Promise((resolve) => {
      const timer = window.setTimeout(() => this.#answer(unreached(id)), REPLY_MS);
      this.#waiting.set(id, (reply) => {
        clearTimeout(timer);
        resolve(reply);
      });
    });
  }

  connect(): void {
    this.#socket.connect();
  }

  /** The page is being left: what it holds is given back. */
  leave(): void {
    this.#socket.leave();
    this.#giveUp();
  }

  #receive(text: string): void {
    this.#socket.wentWell();
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

  #onStatus(status: LinkStatus): void {
    if (status === 'open') this.robots.clear();
    else this.#giveUp();
    for (const listener of this.#statusListeners) listener(status);
  }

  /** Nobody will answer what was asked over the socket before. */
  #giveUp(): void {
    for (const id of [...this.#waiting.keys()]) this.#answer(unreached(id));
  }
}

const unreached = (id: number): FleetReply => ({
  ...{ kind: 'reply', id, ok: false, code: 'unreached' },
  text: 'the console is not reached',
});
