import type { Msg, NatsConnection } from '@nats-io/transport-node';
import { EntryBoundary } from '../../core/entry-boundary.ts';
import { parseJson } from '../../core/parse-json.ts';
import type { FleetConnection } from '../connection.ts';
import { encodeFrame, splitFrame } from '../frame.ts';
import type { Recording } from '../recordings.ts';
import { RECORDING_VERBS, sentBy, subjects } from '../subjects.ts';
import {
  type GetRequest,
  type ListRequest,
  type PutRequest,
  recordingRequests,
} from './recording-requests.ts';
import { RecordingStore } from './recording-store.ts';
import type { Rejections } from './rejections.ts';

const QUEUE = 'recordings';
const MAX_HEAD_BYTES = 64 * 1024;
const PAGE = 50;
/** An answer is a message of at most 1 MB. */
const MAX_PAGE_BYTES = 512 * 1024;

export interface RecordingServiceOptions {
  connection: FleetConnection;
  /** A connection to the store itself. */
  store: NatsConnection;
  rejections: Rejections;
  only: readonly string[];
  isElsewhere(robot: string): boolean;
}

type Request = PutRequest | GetRequest | ListRequest;

interface Reply {
  head: object;
  bytes?: Uint8Array;
}

/** Stores and serves recordings for people and robots, who cannot reach the store themselves. */
export class RecordingService {
  readonly #options: RecordingServiceOptions;
  readonly #boundary = new EntryBoundary('recording service');
  readonly #stores = new Map<string, Promise<RecordingStore>>();

  constructor(options: RecordingServiceOptions) {
    this.#options = options;
    for (const robot of options.only)
      options.connection.nats.subscribe(subjects.recording('*', robot, '*'), {
        queue: QUEUE,
        callback: (error, message) => {
          if (error === null) this.#boundary.run(() => this.#receive(message));
        },
      });
  }

  async #receive(message: Msg): Promise<void> {
    const { robot, user } = sentBy(message.subject);
    const { rejections, isElsewhere, connection } = this.#options;
    if (isElsewhere(robot)) return;
    if (message.reply) return rejections.add(robot, user, 'reply subject');
    const verb = RECORDING_VERBS.find((each) => each === message.subject.split('.')[2]);
    const { head, bytes } = splitFrame(message.data);
    const request = verb && parseJson<Request>(head, recordingRequests[verb], MAX_HEAD_BYTES);
    if (request === undefined || typeof request === 'string')
      return rejections.add(robot, user, 'malformed request');
    const answer: Reply = await this.#serve(robot, user, request, bytes).catch((error: unknown) => ({
      head: { ok: false, why: wordsOf(robot, error) },
    }));
    const subject = subjects.answer(user, 'store', robot, request.id);
    connection.nats.publish(subject, encodeFrame(answer.head, answer.bytes));
  }

  async #serve(robot: string, user: string, request: Request, bytes: Uint8Array): Promise<Reply> {
    const store = await this.#store(robot);
    if (!('op' in request)) return { head: await page(store, request.after) };
    if (request.op === 'entry' && 'recording' in request)
      return this.#announce(store, robot, user, request.recording);
    if (request.op === 'entry' && 'episode' in request)
      return { head: { recording: await store.entry(request.episode) } };
    if (request.op === 'find') return { head: { found: await store.find(request.name) } };
    if (request.op === 'read') {
      const chunk = await store.read(request.name, request.mark);
      return chunk === null ? { head: { mark: null } } : { head: { mark: chunk.mark }, bytes: chunk.bytes };
    }
    return { head: await put(store, user, request as UploadRequest, bytes) };
  }

  async #announce(store: RecordingStore, robot: string, user: string, recording: Recording): Promise<Reply> {
    if (recording.robot !== robot) return { head: { ok: false, why: `the entry is not about ${robot}` } };
    const stored = await store.putEntry(user, recording);
    if (stored === null)
      return { head: { ok: false, why: 'another user announced other bytes under this name' } };
    this.#options.connection.nats.publish(subjects.recorded(robot), JSON.stringify(stored));
    return { head: { ok: true } };
  }

  #store(robot: string): Promise<RecordingStore> {
    const known = this.#stores.get(robot) ?? RecordingStore.open(this.#options.store, robot);
    this.#stores.set(robot, known);
    return known;
  }
}

type UploadRequest = Extract<PutRequest, { name: string }>;

async function put(
  store: RecordingStore,
  user: string,
  request: UploadRequest,
  bytes: Uint8Array,
): Promise<object> {
  const { name, sizeBytes, sha256, op } = request;
  const upload = { user, name, sizeBytes, sha256 };
  if (op === 'reached') return store.reached(upload);
  if (op === 'chunk') return { last: await store.putChunk(upload, request.last, bytes) };
  if (op === 'discard') await store.discard(upload);
  else if (!(await store.finish(upload)))
    return { ok: false, why: 'another user stored other bytes under this name' };
  return { ok: true };
}

async function page(store: RecordingStore, after: string): Promise<object> {
  const episodes = (await store.episodes()).filter((episode) => episode > after);
  const recordings: Recording[] = [];
  let bytes = 0;
  let read = 0;
  for (const episode of episodes.slice(0, PAGE)) {
    const entry = await store.entry(episode);
    bytes += entry === null ? 0 : JSON.stringify(entry).length;
    if (bytes > MAX_PAGE_BYTES && read > 0) break;
    read++;
    if (entry !== null) recordings.push(entry);
  }
  return { recordings, more: read < episodes.length, next: episodes[read - 1] ?? '' };
}

function wordsOf(robot: string, error: unknown): string {
  const { message } = error as Error;
  if (/stream not found/i.test(message)) return NO_BUCKET;
  if (/maximum bytes|resource limits/i.test(message)) return `the bucket of ${robot} is full`;
  return message.slice(0, 400);
}

export const NO_BUCKET = 'has no bucket for recordings';
