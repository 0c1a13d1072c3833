import { z } from 'zod';
import { TeleopError } from '../../core/errors.ts';
import type { FleetConnection } from '../connection.ts';
import { parsed } from '../messages.ts';
import { type LeaseVerb, subjects } from '../subjects.ts';
import { type Signed, signedSchema } from './grant.ts';

/** Longer than the lease service waits for its store. */
const ANSWER_MS = 5000;

const answerSchema = z.object({
  ok: z.boolean(),
  why: z.string().max(64).optional(),
  /** Who holds it now; null: free. */
  user: z.string().max(64).nullable().optional(),
  /** Who held it before. */
  was: z.string().max(64).optional(),
  token: z.number().optional(),
  grant: signedSchema.optional(),
});
type LeaseAnswer = z.infer<typeof answerSchema>;

export interface HeldGrant {
  token: number;
  grant: Signed;
}

/** Requests to the lease service. Every one of them rejects when there is no answer. */
export class LeaseClient {
  readonly #connection: FleetConnection;

  constructor(connection: FleetConnection) {
    this.#connection = connection;
  }

  /** Throws if another holder has it. */
  async take(robot: string, key: string, nonce = ''): Promise<HeldGrant> {
    const answer = await this.#ask('take', robot, { key, nonce });
    const held = heldOf(answer);
    if (held !== null) return held;
    if (answer.why !== 'held') throw unavailable(robot, answer);
    throw new TeleopError('lease-held', `${robot} is driven by ${answer.user ?? 'another operator'}`, {
      hint: `Ask them to stop, or revoke their lease: \`farhand fleet release ${robot}\`.`,
    });
  }

  /** Null: this lease is over. */
  renew(robot: string, token: number, nonce: string): Promise<HeldGrant | null> {
    return this.#renewed('renew', robot, { token, nonce });
  }

  /** Of the robot itself: renews its driver's lease. */
  keep(robot: string, token: number, nonce: string): Promise<HeldGrant | null> {
    return this.#renewed('keep', robot, { token, nonce });
  }

  /** Of the robot itself: no lease below this token, whatever the store has lost. */
  async raise(robot: string, seen: number): Promise<void> {
    await this.#ask('keep', robot, { seen, token: 0 });
  }

  /** False: it was no longer held. `to`: whom it is handed over to. */
  async release(robot: string, token: number, to?: string): Promise<boolean> {
    return (await this.#ask('release', robot, { token, ...(to === undefined ? {} : { to }) })).ok;
  }

  /** Of the robot itself. */
  async drop(robot: string, token: number): Promise<boolean> {
    return (await this.#ask('drop', robot, { token })).ok;
  }

  /** Takes it from whoever holds it; null: nobody did. */
  async takeAway(robot: string): Promise<{ user: string; token: number } | null> {
    const answer = await this.#ask('away', robot, {});
    if (answer.ok) return { user: answer.was ?? '', token: answer.token ?? 0 };
    if (answer.why === 'not-holder') return null;
    throw unavailable(robot, answer);
  }

  /** Null: free. */
  async look(robot: string): Promise<{ user: string; token: number } | null> {
    const answer = await this.#ask('look', robot, {});
    if (!answer.ok) throw unavailable(robot, answer);
    return answer.user == null ? null : { user: answer.user, token: answer.token ?? 0 };
  }

  async #renewed(verb: LeaseVerb, robot: string, head: object): Promise<HeldGrant | null> {
    const answer = await this.#ask(verb, robot, head);
    const held = heldOf(answer);
    if (held !== null || answer.why === 'not-holder') return held;
    throw unavailable(robot, answer);
  }

  async #ask(verb: LeaseVerb, robot: string, head: object): Promise<LeaseAnswer> {
    const subject = subjects.lease(verb, robot, this.#connection.user);
    const request = { subject, by: 'store', robot, head, timeoutMs: ANSWER_MS } as const;
    const answer = parsed(answerSchema, (await this.#connection.request(request)).head);
    return answer ?? { ok: false, why: 'malformed' };
  }
}

const heldOf = ({ ok, token, grant }: LeaseAnswer): HeldGrant | null =>
  ok && token !== undefined && grant !== undefined ? { token, grant } : null;

function unavailable(robot: string, { why = '' }: LeaseAnswer): TeleopError {
  const text = WHY[why] ?? why;
  return new TeleopError('fleet-unreachable', `the lease of ${robot} cannot be changed now: ${text}`, {
    hint: 'Try again. If this persists, check the servers: a cluster needs most of them.',
  });
}

const WHY: Record<string, string> = {
  'store-away': 'the servers that keep the leases do not answer, or are electing a leader',
  contended: 'too many changed it at the same moment',
  malformed: 'the request or the answer was not understood (another version?)',
  'bad-token': 'the robot’s token is too far ahead of the clock',
};
