import { randomBytes } from 'node:crypto';
import type { Msg } from '@nats-io/transport-node';
import { z } from 'zod';
import { EntryBoundary } from '../../core/entry-boundary.ts';
import { parseJson } from '../../core/parse-json.ts';
import type { FleetConnection } from '../connection.ts';
import { encodeFrame } from '../frame.ts';
import { type Audit, requestId } from '../messages.ts';
import type { Rejections } from '../store/rejections.ts';
import { LEASE_VERBS, type LeaseVerb, ROBOT_LEASE_VERBS, sentBy, subjects } from '../subjects.ts';
import { ANNOUNCED, signGrant } from './grant.ts';
import type { LeaseBucket } from './lease-bucket.ts';
import { BEAT_MS, decide, isHeld, type LeaseDecision, type LeaseEntry, StoreHealth } from './lease-rules.ts';

/** The robot's own term is shorter or the same. */
const LEASE_TERM_MS = 60_000;
const QUEUE = 'leases';
const MAX_REQUEST_BYTES = 1024;
/** How often a write that lost against another service is tried again. */
const ATTEMPTS = 4;

const requestSchema = z.object({
  id: requestId,
  key: z.string().max(64).optional(),
  token: z.int().min(0).optional(),
  nonce: z.string().max(64).default(''),
  seen: z.int().min(0).optional(),
  /** `release`: whom the robot is handed over to. */
  to: z.string().max(64).optional(),
});
type Request = z.infer<typeof requestSchema>;

interface Asked {
  verb: LeaseVerb;
  robot: string;
  user: string;
  request: Request;
}

export interface LeaseServiceOptions {
  connection: FleetConnection;
  bucket: LeaseBucket;
  /** Signs with the fleet's lease key. */
  sign(text: string): string;
  rejections: Rejections;
  /** The robots that are served: names, `GROUP/*` or `*`. */
  only: readonly string[];
  /** Whether another place keeps this robot's lease. */
  isElsewhere(robot: string): boolean;
  /** Wall clock. */
  nowMs(): number;
}

/**
 * One of several equal lease services. It keeps nothing: the bucket decides between them. Answers go to a
 * subject made from the user whose name the broker guarantees, never to a reply subject.
 */
export class LeaseService {
  readonly #options: LeaseServiceOptions;
  readonly #health: StoreHealth;
  readonly #name = randomBytes(6).toString('hex');
  readonly #timer: NodeJS.Timeout;
  readonly #boundary = new EntryBoundary('lease service');
  readonly counts = { requests: 0, contended: 0, away: 0 };
  #beating = false;

  constructor(options: LeaseServiceOptions) {
    this.#options = options;
    this.#health = new StoreHealth(options.nowMs());
    for (const robot of options.only)
      options.connection.nats.subscribe(subjects.lease('*', robot, '*'), {
        queue: QUEUE,
        callback: (error, message) => {
          if (error === null) this.#boundary.run(() => this.#receive(message));
        },
      });
    this.#timer = setInterval(() => void this.#beat(), BEAT_MS);
  }

  close(): void {
    clearInterval(this.#timer);
  }

  async #beat(): Promise<void> {
    if (this.#beating) return;
    this.#beating = true;
    await this.#options.bucket.beat(this.#name).then(
      () => this.#health.wrote(this.#options.nowMs()),
      () => this.#health.failed(this.#options.nowMs()),
    );
    this.#beating = false;
  }

  async #receive(message: Msg): Promise<void> {
    const { robot, user } = sentBy(message.subject);
    const verb = VERBS.find((each) => each === message.subject.split('.')[2]);
    const { rejections, isElsewhere } = this.#options;
    if (isElsewhere(robot)) return;
    const request = parseJson(message.data, requestSchema, MAX_REQUEST_BYTES);
    // No program of ours sets a reply subject: it would be somebody else's.
    if (message.reply) rejections.add(robot, user, 'reply subject');
    else if (verb === undefined || typeof request === 'string')
      rejections.add(robot, user, 'malformed request');
    else {
      this.counts.requests++;
      await this.#serve({ verb, robot, user, request });
    }
  }

  async #serve(asked: Asked): Promise<void> {
    const { bucket, nowMs } = this.#options;
    try {
      for (let left = ATTEMPTS; left > 0; left--) {
        const { entry, revision } = await bucket.get(asked.robot);
        const atMs = nowMs();
        const { verb, user, request } = asked;
        const decision = decide(entry, { verb, user, ...request }, atMs, this.#health.sinceMs(atMs));
        if (decision.kind !== 'write') return this.#answerOnly(asked, decision, entry, atMs);
        if (await bucket.put(asked.robot, decision.entry, revision))
          return this.#done(asked, entry, decision.entry);
      }
      this.counts.contended++;
      this.#answer(asked, { ok: false, why: 'contended' });
    } catch {
      this.counts.away++;
      this.#health.failed(nowMs());
      this.#answer(asked, { ok: false, why: 'store-away' });
    }
  }

  #answerOnly(
    asked: Asked,
    decision: Exclude<LeaseDecision, { kind: 'write' }>,
    entry: LeaseEntry | null,
    atMs: number,
  ): void {
    const user = isHeld(entry, atMs, this.#health.sinceMs(atMs)) ? entry!.user : null;
    const token = entry?.token ?? 0;
    if (decision.kind === 'show') this.#answer(asked, { ok: true, user, token });
    else this.#answer(asked, { ok: false, why: decision.why, user, token });
  }

  #done(asked: Asked, before: LeaseEntry | null, entry: LeaseEntry): void {
    const { robot, verb, request } = asked;
    const { user, key, token } = entry;
    const statement = { robot, user, key, token, termMs: LEASE_TERM_MS };
    const { connection, sign } = this.#options;
    const grant = user === '' ? undefined : signGrant({ ...statement, nonce: request.nonce }, sign);
    this.#answer(asked, { ok: true, user: user || null, was: before?.user ?? '', token, grant });
    // A robot's own renewals need no announcement.
    if (verb !== 'keep' && !connection.nats.isClosed()) {
      const change = signGrant({ ...statement, nonce: ANNOUNCED }, sign);
      connection.nats.publish(subjects.leased(robot), encodeFrame(change));
    }
    const entryOfLog = logged(asked, before, entry);
    if (entryOfLog !== null) this.#log(asked, entryOfLog);
  }

  #answer({ user, robot, request }: Asked, head: object): void {
    const { nats } = this.#options.connection;
    if (!nats.isClosed()) nats.publish(subjects.answer(user, 'store', robot, request.id), encodeFrame(head));
  }

  #log({ robot, user }: Asked, what: Omit<Audit, 'atMs'>): void {
    const entry: Audit = { ...what, atMs: this.#options.nowMs() };
    const { nats } = this.#options.connection;
    if (!nats.isClosed()) nats.publish(subjects.audit(robot, user), JSON.stringify(entry));
  }
}

const VERBS: readonly LeaseVerb[] = [...LEASE_VERBS, ...ROBOT_LEASE_VERBS];

/** The log entry of a change; null: only a renewal. */
function logged(
  { verb, request }: Asked,
  before: LeaseEntry | null,
  { token }: LeaseEntry,
): Omit<Audit, 'atMs'> | null {
  const revision = before?.token ?? 0;
  if (verb === 'take') return before?.token === token ? null : { what: 'lease-taken', revision: token };
  if (verb === 'away') return { what: 'lease-released', who: before!.user, why: 'taken away', revision };
  if (verb === 'drop')
    return { what: 'lease-released', who: before!.user, why: 'the session ended', revision };
  if (verb !== 'release') return null;
  if (request.to !== undefined) return { what: 'handed-over', who: request.to, revision };
  return { what: 'lease-released', revision };
}
