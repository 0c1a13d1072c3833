import type {
  FleetMessage,
  FleetReply,
  FleetRequest,
  FleetRow,
  FleetState,
} from '../../src/messages/fleet-console.ts';
import type { LinkStatus } from './page-link.ts';
import { ReconnectingSocket } from './reconnecting-socket.ts';

/** Longer than any timeout in the console. */
const REPLY_MS = 15_000;

/** A robot of the list, with the page time of its last update. */
export interface KnownRobot extends FleetRow {
  atMs: number;
}

type WithoutId<Request> = Request extends { id: number } ? Omit<Request, 'id'> : never;
export type FleetRequestBody = WithoutId<FleetRequest>;

/** The page's socket to a fleet console: robot list, requests, hand-over requests. Its leases end with the socket. */
export class FleetLink {
  info: FleetState | null = null;
  readonly robots = new Map<string, KnownRobot>();
  readonly #socket: ReconnectingSocket;
  readonly #listeners = new Set<(message: FleetMessage) => void>();
  readonly #statusListeners = new Set<(status: LinkStatus) => void>();
  readonly #pending = new Map<number, (reply: FleetReply) => void>();
  #ids = 0;

  constructor(url: string) {
    this.#socket = new ReconnectingSocket(url, {
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

  /** Always resolves: with the console's reply, or with a failure after a timeout. */
  request(body: FleetRequestBody): Promise<FleetReply> {
    const id = ++this.#ids;
    if (!this.#socket.send(JSON.stringify({ ...body, id }))) return Promise.resolve(noReply(id));
    return new Promise((resolve) => {
      const timer = window.setTimeout(() => this.#resolve(noReply(id)), REPLY_MS);
      this.#pending.set(id, (reply) => {
        clearTimeout(timer);
        resolve(reply);
      });
    });
  }

  connect(): void {
    this.#socket.connect();
  }

  /** The user leaves the page: releases its leases. */
  close(): void {
    this.#socket.close();
    this.#failPending();
  }

  #receive(text: string): void {
    this.#socket.resetBackoff();
    const message = JSON.parse(text) as FleetMessage;
    if (message.kind === 'reply') return this.#resolve(message);
    if (message.kind === 'fleet') this.info = message;
    else if (message.kind === 'robots') {
      const atMs = performance.now();
      for (const row of message.rows) this.robots.set(row.robot, { ...row, atMs });
      for (const robot of message.removed) this.robots.delete(robot);
    }
    for (const listener of this.#listeners) listener(message);
  }

  #resolve(reply: FleetReply): void {
    const answer = this.#pending.get(reply.id);
    this.#pending.delete(reply.id);
    answer?.(reply);
  }

  #onStatus(status: LinkStatus): void {
    if (status === 'open') this.robots.clear();
    else this.#failPending();
    for (const listener of this.#statusListeners) listener(status);
  }

  /** The old socket is gone: fails the requests sent over it. */
  #failPending(): void {
    for (const id of [...this.#pending.keys()]) this.#resolve(noReply(id));
  }
}

const noReply = (id: number): FleetReply => ({
  ...{ kind: 'reply', id, ok: false, code: 'unreached' },
  text: 'cannot reach the console',
});
