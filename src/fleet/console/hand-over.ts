import { randomBytes } from 'node:crypto';
import type { Msg } from '@nats-io/transport-node';
import { EntryBoundary } from '../../core/entry-boundary.ts';
import type { FleetMessage } from '../../messages/fleet-console.ts';
import type { FleetConnection } from '../connection.ts';
import { type Ask, askSchema, parsed } from '../messages.ts';
import { subjects } from '../subjects.ts';
import type { PageLeases } from './page-leases.ts';

/** How long a question stands. */
const ASK_MS = 30_000;
/** A console shows a question at once and says so; a command line says nothing. */
const RECEIVED_MS = 2000;
const TICK_MS = 250;
/** Of one robot; somebody who asks again and again has one question. */
const MOST_QUESTIONS = 8;

interface Asked {
  robot: string;
  page: number;
  /** Who was asked. */
  holder: string;
  askedMs: number;
  isReceived: boolean;
}

interface Question {
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
 * One operator asks another for a robot. The broker vouches for both names; an answer counts only from who was asked.
 * Who agrees gives the lease back first: then it can be taken, and by anybody. The lease decides, not the answer.
 */
export class HandOver {
  readonly #options: HandOverOptions;
  readonly #asked = new Map<string, Asked>();
  readonly #questions = new Map<string, Question>();
  readonly #timer: NodeJS.Timeout;
  readonly #boundary = new EntryBoundary('message of the fleet');

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
    this.#asked.set(ask, { robot, page, holder, askedMs: this.#options.nowMs(), isReceived: false });
    this.#say(robot, { kind: 'ask', ask, holder });
  }

  /** The page's answer. Null: done; else why not. */
  async answer(page: number, ask: string, yes: boolean): Promise<string | null> {
    const question = this.#questions.get(ask);
    if (question?.page !== page) return 'the question is withdrawn';
    this.#questions.delete(ask);
    const { robot, from } = question;
    const given = yes && (await this.#options.leases.release(page, robot, from));
    this.#say(robot, { kind: 'answer', ask, to: from, yes: given });
    if (!yes) return null;
    if (!given) return `${robot} is not held by this page any more`;
    this.#options.sendTo(page, { kind: 'lease-over', robot, why: `handed over to ${from}` });
    return null;
  }

  close(): void {
    clearInterval(this.#timer);
  }

  async #receive(message: Msg): Promise<void> {
    const [, , robot = '', by = ''] = message.subject.split('.');
    const said = parsed(askSchema, message.string());
    if (said === null) return;
    if (said.kind === 'ask') return this.#receiveQuestion(robot, by, said);
    const asked = this.#asked.get(said.ask);
    if (asked?.robot !== robot || asked.holder !== by || said.to !== this.#options.connection.user) return;
    if (said.kind === 'heard') {
      asked.isReceived = true;
      this.#sendTo(asked, 'heard', `${by} is asked for ${robot}…`);
      return;
    }
    this.#asked.delete(said.ask);
    if (said.yes) await this.#takeOver(asked);
    else this.#sendTo(asked, 'no', `${by} keeps ${robot}`);
  }

  async #takeOver(asked: Asked): Promise<void> {
    const { robot, page, holder } = asked;
    const { leases, isThere } = this.#options;
    try {
      await leases.take(page, robot, () => isThere(page));
      this.#sendTo(asked, 'yes', `${holder} handed ${robot} over`);
    } catch (error) {
      this.#sendTo(asked, 'failed', (error as Error).message);
    }
  }

  #receiveQuestion(robot: string, from: string, { ask, holder }: Extract<Ask, { kind: 'ask' }>): void {
    const { leases, connection, nowMs, sendTo } = this.#options;
    const page = leases.pageOf(robot);
    if (page === null || holder !== connection.user) return;
    const others = [...this.#questions].filter(([, question]) => question.robot === robot);
    for (const [older, question] of others) if (question.from === from) this.#withdraw(older, question);
    if (others.length >= MOST_QUESTIONS) return;
    this.#questions.set(ask, { robot, page, from, untilMs: nowMs() + ASK_MS });
    sendTo(page, { kind: 'question', ask, robot, from, forMs: ASK_MS });
    this.#say(robot, { kind: 'heard', ask, to: from });
  }

  #tick(): void {
    const nowMs = this.#options.nowMs();
    for (const [ask, question] of this.#questions)
      if (nowMs >= question.untilMs || this.#options.leases.pageOf(question.robot) !== question.page)
        this.#withdraw(ask, question);
    for (const [ask, asked] of this.#asked) {
      const forMs = nowMs - asked.askedMs;
      if (forMs < (asked.isReceived ? ASK_MS : RECEIVED_MS)) continue;
      this.#asked.delete(ask);
      const { holder } = asked;
      const text = asked.isReceived
        ? `${holder} did not answer`
        : `${holder} cannot be asked there: no page of a console holds the robot`;
      this.#sendTo(asked, 'silence', text);
    }
  }

  #withdraw(ask: string, { page }: Question): void {
    this.#questions.delete(ask);
    this.#options.sendTo(page, { kind: 'question-over', ask });
  }

  #sendTo(
    { page, robot }: Asked,
    outcome: 'heard' | 'yes' | 'no' | 'silence' | 'failed',
    text: string,
  ): void {
    this.#options.sendTo(page, { kind: 'answered', robot, outcome, text });
  }

  #say(robot: string, message: Ask): void {
    const { connection } = this.#options;
    if (connection.isConnected())
      connection.nats.publish(subjects.ask(robot, connection.user), JSON.stringify(message));
  }
}
