import { randomBytes } from 'node:crypto';
import type { Msg } from '@nats-io/transport-node';
import { EntryBoundary } from '../../core/entry-boundary.ts';
import type { FleetMessage } from '../../messages/fleet-console.ts';
import type { FleetConnection } from '../connection.ts';
import { ASK_MS, RECEIVED_MS } from '../hand-over-requests.ts';
import { type Ask, askSchema, parsed } from '../messages.ts';
import { sentBy, subjects } from '../subjects.ts';
import type { PageLeases } from './page-leases.ts';

const TICK_MS = 250;
/** Per robot; a user has one at a time. */
const MOST_REQUESTS = 8;

interface Outgoing {
  robot: string;
  page: number;
  /** Who was asked. */
  holder: string;
  askedMs: number;
  isReceived: boolean;
}

interface Incoming {
  robot: string;
  page: number;
  from: string;
  untilMs: number;
}

export interface HandOverOptions {
  connection: FleetConnection;
  leases: PageLeases;
  nowMs(): number;
  sendTo(page: number, message: FleetMessage): void;
  isThere(page: number): boolean;
}

/**
 * One operator asks another for a robot. The broker guarantees both names; an answer counts only from the
 * operator who was asked. One who agrees releases the lease first; then anyone may take it. The lease
 * decides, not the answer.
 */
export class HandOver {
  readonly #options: HandOverOptions;
  readonly #outgoing = new Map<string, Outgoing>();
  readonly #incoming = new Map<string, Incoming>();
  readonly #timer: NodeJS.Timeout;
  readonly #boundary = new EntryBoundary('message from the fleet');

  constructor(options: HandOverOptions) {
    this.#options = options;
    const { connection } = options;
    for (const robot of connection.robots)
      connection.nats.subscribe(subjects.ask(robot, '*'), {
        callback: (error, message) => {
          if (error === null) this.#boundary.run(() => this.#receive(message));
        },
      });
    this.#timer = setInterval(() => this.#tick(), TICK_MS);
  }

  ask(page: number, robot: string, holder: string): void {
    const ask = randomBytes(9).toString('base64url');
    this.#outgoing.set(ask, { robot, page, holder, askedMs: this.#options.nowMs(), isReceived: false });
    this.#publish(robot, { kind: 'ask', ask, holder });
  }

  /** The page's answer. Null: done; else why not. */
  async answer(page: number, ask: string, yes: boolean): Promise<string | null> {
    const request = this.#incoming.get(ask);
    if (request?.page !== page) return 'the request was withdrawn';
    this.#incoming.delete(ask);
    const { robot, from } = request;
    const given = yes && (await this.#options.leases.release(page, robot, from));
    this.#publish(robot, { kind: 'answer', ask, to: from, yes: given });
    if (!yes) return null;
    if (!given) return `this page no longer holds ${robot}`;
    this.#options.sendTo(page, { kind: 'lease-over', robot, why: `handed over to ${from}` });
    return null;
  }

  close(): void {
    clearInterval(this.#timer);
  }

  async #receive(message: Msg): Promise<void> {
    const { robot, user: by } = sentBy(message.subject);
    const received = parsed(askSchema, message.string());
    if (received === null) return;
    if (received.kind === 'ask') return this.#receiveRequest(robot, by, received);
    const asked = this.#outgoing.get(received.ask);
    if (asked?.robot !== robot || asked.holder !== by) return;
    if (received.to !== this.#options.connection.user) return;
    if (received.kind === 'heard') {
      asked.isReceived = true;
      this.#sendTo(asked, 'heard', `asked ${by} for ${robot}…`);
      return;
    }
    this.#outgoing.delete(received.ask);
    if (received.yes) await this.#takeOver(asked);
    else this.#sendTo(asked, 'no', `${by} keeps ${robot}`);
  }

  async #takeOver(asked: Outgoing): Promise<void> {
    const { robot, page, holder } = asked;
    const { leases, isThere } = this.#options;
    try {
      await leases.take(page, robot, () => isThere(page));
      this.#sendTo(asked, 'yes', `${holder} handed ${robot} over`);
    } catch (error) {
      this.#sendTo(asked, 'failed', (error as Error).message);
    }
  }

  #receiveRequest(robot: string, from: string, { ask, holder }: Extract<Ask, { kind: 'ask' }>): void {
    const { leases, connection, nowMs, sendTo } = this.#options;
    const page = leases.pageOf(robot);
    if (page === null || holder !== connection.user) return;
    const others = [...this.#incoming].filter(([, request]) => request.robot === robot);
    for (const [older, request] of others) if (request.from === from) this.#withdraw(older, request);
    if (others.length >= MOST_REQUESTS) return;
    this.#incoming.set(ask, { robot, page, from, untilMs: nowMs() + ASK_MS });
    sendTo(page, { kind: 'question', ask, robot, from, forMs: ASK_MS });
    this.#publish(robot, { kind: 'heard', ask, to: from });
  }

  #tick(): void {
    const nowMs = this.#options.nowMs();
    for (const [ask, request] of this.#incoming)
      if (nowMs >= request.untilMs || this.#options.leases.pageOf(request.robot) !== request.page)
        this.#withdraw(ask, request);
    for (const [ask, asked] of this.#outgoing) {
      const forMs = nowMs - asked.askedMs;
      if (forMs < (asked.isReceived ? ASK_MS : RECEIVED_MS)) continue;
      this.#outgoing.delete(ask);
      const { holder } = asked;
      const text = asked.isReceived
        ? `${holder} did not answer`
        : `${holder} does not receive requests for it`;
      this.#sendTo(asked, 'silence', text);
    }
  }

  #withdraw(ask: string, { page }: Incoming): void {
    this.#incoming.delete(ask);
    this.#options.sendTo(page, { kind: 'question-over', ask });
  }

  #sendTo(
    { page, robot }: Outgoing,
    outcome: 'heard' | 'yes' | 'no' | 'silence' | 'failed',
    text: string,
  ): void {
    this.#options.sendTo(page, { kind: 'answered', robot, outcome, text });
  }

  #publish(robot: string, message: Ask): void {
    const { connection } = this.#options;
    if (connection.isConnected())
      connection.nats.publish(subjects.ask(robot, connection.user), JSON.stringify(message));
  }
}
