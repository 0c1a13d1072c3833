import type { JetStreamClient, JetStreamManager } from '@nats-io/jetstream';
import type { NatsConnection } from '@nats-io/transport-node';
import { TeleopError } from '../../core/errors.ts';
import { loadJetStream, loadNats } from '../nats-module.ts';
import { parseRecording, type Recording, recordingNames } from '../recordings.ts';

export interface BucketSize {
  maxBytes: number;
  /** Servers that keep it. */
  replicas: number;
}

/** Creates a robot's bucket if it does not exist; needs an administrator's credentials. */
export async function createRecordingBucket(
  nats: NatsConnection,
  robot: string,
  { maxBytes, replicas }: BucketSize,
): Promise<void> {
  const { jetstreamManager } = await loadJetStream();
  const jsm = await jetstreamManager(nats);
  const bucket = recordingNames.bucket(robot);
  await jsm.streams.add({
    name: recordingNames.stream(robot),
    subjects: [`$O.${bucket}.C.>`, `$O.${bucket}.M.>`, recordingNames.entry(robot, '*')],
    storage: 'file' as never,
    discard: 'new' as never,
    num_replicas: replicas,
    max_bytes: maxBytes,
    allow_direct: true,
    allow_rollup_hdrs: true,
  });
}

/** The index of a robot's recordings. Storing an entry also announces it to subscribers. */
export class RecordingIndex {
  readonly #robot: string;
  readonly #js: JetStreamClient;
  readonly #jsm: JetStreamManager;
  readonly #nats: Awaited<ReturnType<typeof loadNats>>;

  private constructor(
    robot: string,
    js: JetStreamClient,
    jsm: JetStreamManager,
    nats: Awaited<ReturnType<typeof loadNats>>,
  ) {
    this.#robot = robot;
    this.#js = js;
    this.#jsm = jsm;
    this.#nats = nats;
  }

  static async open(nats: NatsConnection, robot: string): Promise<RecordingIndex> {
    const { jetstream, jetstreamManager } = await loadJetStream();
    const jsm = await jetstreamManager(nats, { checkAPI: false });
    return new RecordingIndex(robot, jetstream(nats), jsm, await loadNats());
  }

  async put(recording: Recording): Promise<void> {
    const headers = this.#nats.headers();
    headers.set('Nats-Rollup', 'sub');
    const subject = recordingNames.entry(this.#robot, recording.episode);
    try {
      await this.#js.publish(subject, JSON.stringify(recording), { headers });
    } catch (cause) {
      throw this.#refused(cause);
    }
  }

  /** Null: unknown, or the stored entry is invalid. */
  async get(episode: string): Promise<Recording | null> {
    const last_by_subj = recordingNames.entry(this.#robot, episode);
    try {
      const found = await this.#jsm.direct.getMessage(recordingNames.stream(this.#robot), { last_by_subj });
      return found && this.#ours(parseRecording(found.string()), episode);
    } catch (cause) {
      throw this.#refused(cause);
    }
  }

  /** Oldest first. */
  async list(): Promise<Recording[]> {
    const subjects_filter = recordingNames.entry(this.#robot, '*');
    const info = await this.#jsm.streams
      .info(recordingNames.stream(this.#robot), { subjects_filter })
      .catch((cause: unknown) => Promise.reject(this.#refused(cause)));
    const episodes = Object.keys(info.state.subjects ?? {}).map((subject) => subject.split('.').at(-1)!);
    const found: Recording[] = [];
    for (const episode of episodes.sort()) {
      const entry = await this.get(episode);
      if (entry !== null) found.push(entry);
    }
    return found;
  }

  /** Ignores an entry whose contents do not match its subject. */
  #ours(entry: Recording | null, episode: string): Recording | null {
    return entry?.robot === this.#robot && entry.episode === episode ? entry : null;
  }

  #refused(cause: unknown): TeleopError {
    return new TeleopError(
      'transfer-failed',
      `the index of ${this.#robot}'s recordings does not answer: ${(cause as Error).message}`,
      {
        hint: 'Check that it has a bucket (`farhand fleet bucket NAME`) and that the credentials allow this robot.',
        cause,
      },
    );
  }
}
