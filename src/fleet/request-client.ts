import { randomBytes } from 'node:crypto';
import type { Msg, NatsConnection } from '@nats-io/transport-node';
import { TeleopError } from '../core/errors.ts';
import { encodeFrame, splitFrame } from './frame.ts';
import { type Responder, subjects } from './subjects.ts';

export interface Answer {
  /** JSON. */
  head: Uint8Array;
  bytes: Uint8Array;
}

export interface OutgoingRequest {
  subject: string;
  /** Who must answer. */
  by: Responder;
  robot: string;
  head: object;
  bytes?: Uint8Array;
  timeoutMs: number;
}

interface Open {
  /** Subject of the answer that counts. */
  answer: string;
  request: OutgoingRequest;
  resolve(answer: Answer): void;
  reject(error: TeleopError): void;
}

/** Most unanswered requests: each is a promise of this process, not the sender's choice. */
const MOST_OPEN = 10_000;

/**
 * Sends requests of one user and receives the answers on that user's own subject. A request never has a reply
 * subject; its id is part of its body.
 */
export class RequestClient {
  readonly #nats: NatsConnection;
  readonly #user: string;
  readonly #isConnected: () => boolean;
  readonly #open = new Map<string, Open>();
  /** Several processes may share a user: ids of this one. */
  readonly #prefix = randomBytes(9).toString('base64url');
  #count = 0;
  /** Robots whose answers are received. Other sites' servers do not receive a subscription to all. */
  readonly #robots = new Set<string>();

  constructor(nats: NatsConnection, user: string, isConnected: () => boolean) {
    this.#nats = nats;
    this.#user = user;
    this.#isConnected = isConnected;
  }

  /** Rejects without an answer, if the broker rejects it, or at once while the broker is unreachable. */
  async send(request: OutgoingRequest): Promise<Answer> {
    const { subject, robot, by, head, bytes, timeoutMs } = request;
    if (!this.#isConnected() || this.#open.size >= MOST_OPEN) throw unreachable();
    this.#subscribe(robot);
    const id = `${this.#prefix}-${(++this.#count).toString(36)}`;
    const answer = subjects.answer(this.#user, by, robot, id);
    let timer: NodeJS.Timeout | undefined;
    try {
      return await new Promise<Answer>((resolve, reject) => {
        this.#open.set(id, { answer, request, resolve, reject });
        timer = setTimeout(() => reject(silent(request)), timeoutMs);
        this.#nats.publish(subject, encodeFrame({ ...head, id }, bytes));
      });
    } finally {
      clearTimeout(timer);
      this.#open.delete(id);
    }
  }

  /** The broker rejected a message on this subject. */
  refused(subject: string): void {
    for (const { request, reject } of this.#open.values())
      if (request.subject === subject) reject(notAllowed(this.#user, request));
  }

  #subscribe(robot: string): void {
    if (this.#robots.has(robot)) return;
    this.#robots.add(robot);
    this.#nats.subscribe(subjects.answer(this.#user, '*', robot, '*'), {
      callback: (error, message) => {
        if (error === null) this.#receive(message);
      },
    });
  }

  #receive(message: Msg): void {
    const open = this.#open.get(message.subject.split('.').at(-1)!);
    // Somebody else may answer under their own name, but not under that of the addressee.
    if (open?.answer === message.subject) open.resolve(splitFrame(message.data));
  }
}

const unreachable = (): TeleopError =>
  new TeleopError('fleet-unreachable', 'the broker is unreachable at the moment', {
    hint: 'It is tried again automatically; check the network and the servers.',
  });

function silent({ by, robot, timeoutMs }: OutgoingRequest): TeleopError {
  const s = timeoutMs / 1000;
  if (by === 'robot')
    return new TeleopError('robot-unreachable', `${robot} did not answer on the fleet within ${s} s`, {
      hint: '`farhand fleet ls` lists the robots that are online and that you may see.',
    });
  return new TeleopError('fleet-unreachable', `no service of the fleet answered within ${s} s`, {
    hint: 'Check that `farhand fleet serve` runs beside the servers.',
  });
}

function notAllowed(user: string, { subject, robot }: OutgoingRequest): TeleopError {
  const [, what = '', verb = ''] = subject.split('.');
  const action = ACTIONS[what === 'lease' || what === 'rec' ? `${what}.${verb}` : what] ?? `send ${what}`;
  return new TeleopError('fleet-refused', `the credentials of ${user} do not allow to ${action} ${robot}`, {
    hint: 'Ask an administrator for credentials with another role, or for this robot.',
  });
}

const ACTIONS: Record<string, string> = {
  signal: 'drive',
  estop: 'stop',
  log: 'read the log of',
  'lease.take': 'take the lease of',
  'lease.renew': 'hold the lease of',
  'lease.release': 'release the lease of',
  'lease.away': 'revoke the lease of',
  'lease.look': 'see the lease of',
  'rec.put': 'store recordings of',
  'rec.get': 'download recordings of',
  'rec.list': 'list recordings of',
};
