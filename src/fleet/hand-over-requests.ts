import { randomBytes } from 'node:crypto';
import { EntryBoundary } from '../core/entry-boundary.ts';
import type { FleetConnection } from './connection.ts';
import { type Ask, askSchema, parsed } from './messages.ts';
import { sentBy, subjects } from './subjects.ts';

/** How long a request stands. */
export const ASK_MS = 30_000;
/** A program that drives confirms a request at once. */
export const RECEIVED_MS = 2000;

const publish = (connection: FleetConnection, robot: string, message: Ask): void => {
  if (connection.isConnected())
    connection.nats.publish(subjects.ask(robot, connection.user), JSON.stringify(message));
};

function listen(
  connection: FleetConnection,
  robot: string,
  take: (message: Ask, by: string) => unknown,
): { stop(): void } {
  const boundary = new EntryBoundary('hand-over request');
  const subscription = connection.nats.subscribe(subjects.ask(robot, '*'), {
    callback: (error, message) => {
      const received = error === null ? parsed(askSchema, message.string()) : null;
      if (received !== null) boundary.run(() => take(received, sentBy(message.subject).user));
    },
  });
  return { stop: () => subscription.unsubscribe() };
}

export type HandOverAnswer = 'yes' | 'no' | 'silence' | 'unreachable';

/** Asks a robot's holder to hand it over. `yes`: the lease is free now. `onReceived`: the holder sees the request. */
export function askHolder(
  connection: FleetConnection,
  robot: string,
  holder: string,
  onReceived: () => void,
): Promise<HandOverAnswer> {
  const ask = randomBytes(9).toString('base64url');
  return new Promise((resolve) => {
    const finish = (answer: HandOverAnswer) => {
      clearTimeout(timer);
      listening.stop();
      resolve(answer);
    };
    let timer = setTimeout(() => finish('unreachable'), RECEIVED_MS);
    const listening = listen(connection, robot, (message, by) => {
      if (message.kind === 'ask' || message.ask !== ask || by !== holder || message.to !== connection.user)
        return;
      if (message.kind === 'answer') return finish(message.yes ? 'yes' : 'no');
      clearTimeout(timer);
      timer = setTimeout(() => finish('silence'), ASK_MS);
      onReceived();
    });
    publish(connection, robot, { kind: 'ask', ask, holder });
  });
}

interface Request {
  ask: string;
  from: string;
  untilMs: number;
}

/** Requests to the holder of one robot, one at a time: a later one waits until the first is answered. */
export class HolderRequests {
  readonly #connection: FleetConnection;
  readonly #robot: string;
  readonly #listening: { stop(): void };
  #request: Request | null = null;

  constructor(connection: FleetConnection, robot: string, onRequest: (from: string) => void) {
    this.#connection = connection;
    this.#robot = robot;
    this.#listening = listen(connection, robot, (message, from) => {
      if (message.kind !== 'ask' || message.holder !== connection.user) return;
      const isOpen = this.#request !== null && performance.now() < this.#request.untilMs;
      if (isOpen && this.#request!.from !== from) return;
      this.#request = { ask: message.ask, from, untilMs: performance.now() + ASK_MS };
      publish(connection, robot, { kind: 'heard', ask: message.ask, to: from });
      onRequest(from);
    });
  }

  /** Answers the open request. `release`: gives the lease to that user. Null: there is none any more. */
  async answer(yes: boolean, release: (to: string) => Promise<boolean>): Promise<string | null> {
    const request = this.#request;
    this.#request = null;
    if (request === null || performance.now() >= request.untilMs) return null;
    const { ask, from } = request;
    const given = yes && (await release(from));
    publish(this.#connection, this.#robot, { kind: 'answer', ask, to: from, yes: given });
    return from;
  }

  close(): void {
    this.#listening.stop();
  }
}
