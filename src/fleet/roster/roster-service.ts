import { randomBytes } from 'node:crypto';
import type { Msg } from '@nats-io/transport-node';
import { EntryBoundary } from '../../core/entry-boundary.ts';
import type { FleetConnection } from '../connection.ts';
import { encodeFrame } from '../frame.ts';
import { parsed, presenceSchema } from '../messages.ts';
import { subjects } from '../subjects.ts';
import { rosterName, rosterRequestSchema } from './roster-messages.ts';
import { RosterTable } from './roster-table.ts';

const TICK_MS = 1000;

/**
 * Keeps the newest presence of every robot and answers who is there, in pages and by changes. Several may run:
 * each has its own versions, so a console stays with the one that answered first.
 */
export class RosterService {
  readonly #connection: FleetConnection;
  readonly #table = new RosterTable();
  readonly #name = randomBytes(6).toString('hex');
  readonly #timer: NodeJS.Timeout;

  constructor(connection: FleetConnection) {
    this.#connection = connection;
    const boundary = new EntryBoundary('roster service');
    const listen = (subject: string, take: (message: Msg) => void) =>
      connection.nats.subscribe(subject, {
        callback: (error, message) => {
          if (error === null) boundary.run(() => take(message));
        },
      });
    listen(subjects.presence('*'), (message) => {
      const presence = parsed(presenceSchema, message.string());
      // A robot may only report about itself.
      if (presence !== null && subjects.presence(presence.robot) === message.subject)
        this.#table.received(presence, performance.now());
    });
    listen(subjects.roster('*', '*'), (message) => this.#answer(message));
    this.#timer = setInterval(() => this.#table.tick(performance.now()), TICK_MS);
  }

  get robots(): number {
    return this.#table.size;
  }

  async close(): Promise<void> {
    clearInterval(this.#timer);
    await this.#connection.close();
  }

  #answer(message: Msg): void {
    const [group = '', user = ''] = message.subject.split('.').slice(-2);
    const request = parsed(rosterRequestSchema, message.string());
    if (request === null || message.reply || (request.to !== '' && request.to !== this.#name)) return;
    const isAsked = group === '-' ? () => true : (robot: string) => robot.startsWith(`${group}/`);
    const since = request.to === '' ? 0 : request.since;
    const changes = this.#table.changes(since, isAsked, performance.now());
    const subject = subjects.answer(user, 'roster', rosterName(group), request.id);
    this.#connection.nats.publish(subject, encodeFrame({ by: this.#name, ...changes }));
  }
}
