import type { Msg } from '@nats-io/transport-node';
import { z } from 'zod';
import { EntryBoundary } from '../../core/entry-boundary.ts';
import { readAudit } from '../audit.ts';
import { encodeFrame } from '../frame.ts';
import { parsed, requestId } from '../messages.ts';
import { sentBy, subjects } from '../subjects.ts';
import type { RecordingServiceOptions } from './recording-service.ts';

const requestSchema = z.object({ id: requestId, most: z.int().min(1).max(1000) });

const MOST_WAITING = 100;

/** Reads a robot's log for its operators. One at a time: reading is many requests to the store. */
export class LogService {
  readonly #boundary = new EntryBoundary('log service');
  #waiting = 0;
  #turn: Promise<unknown> = Promise.resolve();

  constructor({ connection, store, rejections, only, isElsewhere }: RecordingServiceOptions) {
    const receive = async (message: Msg) => {
      const { robot, user } = sentBy(message.subject);
      if (isElsewhere(robot)) return;
      if (message.reply) return rejections.add(robot, user, 'reply subject');
      const request = parsed(requestSchema, message.string());
      if (request === null) return rejections.add(robot, user, 'malformed request');
      const reply = (head: object) =>
        connection.nats.publish(subjects.answer(user, 'store', robot, request.id), encodeFrame(head));
      if (this.#waiting >= MOST_WAITING) return reply({ ok: false });
      this.#waiting++;
      const reading = this.#turn.then(() => readAudit(store, robot, request.most));
      this.#turn = reading.catch(() => {});
      const head = await reading.then(
        (lines) => ({ ok: true, lines }),
        () => ({ ok: false }),
      );
      this.#waiting--;
      reply(head);
    };
    for (const robot of only)
      connection.nats.subscribe(subjects.log(robot, '*'), {
        queue: 'log',
        callback: (error, message) => {
          if (error === null) this.#boundary.run(() => receive(message));
        },
      });
  }
}
