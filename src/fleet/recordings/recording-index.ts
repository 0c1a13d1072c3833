import type { z } from 'zod';
import { TeleopError } from '../../core/errors.ts';
import { parseJson } from '../../core/parse-json.ts';
import type { FleetConnection } from '../connection.ts';
import type { Recording } from '../recordings.ts';
import type { Answer } from '../request-client.ts';
import { recordingAnswers } from '../store/recording-requests.ts';
import { type RecordingVerb, subjects } from '../subjects.ts';

const TIMEOUT_MS = 15_000;
const MAX_ANSWER_BYTES = 1 << 20;
/** A bound for an index that never ends. */
const MOST_PAGES = 10_000;

/** Asks the storing service; throws if it refuses. */
export async function askStore<T extends object>(
  connection: FleetConnection,
  robot: string,
  verb: RecordingVerb,
  head: object,
  schema: z.ZodType<T, unknown>,
  bytes?: Uint8Array,
): Promise<T & { bytes: Uint8Array }> {
  const subject = subjects.recording(verb, robot, connection.user);
  const request = { subject, by: 'store', robot, head, timeoutMs: TIMEOUT_MS } as const;
  const answer: Answer = await connection.request(bytes === undefined ? request : { ...request, bytes });
  const value = parseJson(answer.head, schema, MAX_ANSWER_BYTES);
  if (typeof value !== 'string') return { ...value, bytes: answer.bytes };
  const failed = parseJson(answer.head, recordingAnswers.failed, MAX_ANSWER_BYTES);
  const why = typeof failed === 'string' ? 'its answer was not understood' : failed.why;
  throw new TeleopError('transfer-failed', `the recordings of ${robot} cannot be reached: ${why}`, {
    hint: 'Check that it has a bucket (`farhand fleet bucket NAME`) and that the credentials allow this robot.',
  });
}

/** The index of a robot's recordings. Storing an entry also announces it to subscribers. */
export class RecordingIndex {
  readonly #connection: FleetConnection;
  readonly #robot: string;

  constructor(connection: FleetConnection, robot: string) {
    this.#connection = connection;
    this.#robot = robot;
  }

  async put(recording: Recording): Promise<void> {
    await this.#ask('put', { op: 'entry', recording }, recordingAnswers.done);
  }

  /** Null: unknown, or the stored entry is invalid. */
  async get(episode: string): Promise<Recording | null> {
    return (await this.#ask('get', { op: 'entry', episode }, recordingAnswers.entry)).recording;
  }

  /** Oldest first. */
  async list(): Promise<Recording[]> {
    const found: Recording[] = [];
    for (let after = '', pages = 0; pages < MOST_PAGES; pages++) {
      const { recordings, more, next } = await this.#ask('list', { after }, recordingAnswers.list);
      found.push(...recordings);
      if (!more || next <= after) break;
      after = next;
    }
    return found;
  }

  #ask<T extends object>(verb: RecordingVerb, head: object, schema: z.ZodType<T, unknown>) {
    return askStore(this.#connection, this.#robot, verb, head, schema);
  }
}
