import { parseJson } from '../../core/parse-json.ts';
import type { FleetConnection } from '../connection.ts';
import { subjects } from '../subjects.ts';
import { type RosterAnswer, rosterAnswerSchema, rosterName } from './roster-messages.ts';

const ANSWER_MS = 2000;
const MAX_ANSWER_BYTES = 1 << 20;
const MOST_PAGES = 100;

/** Follows the changes of a group of robots. */
export class RosterClient {
  readonly #connection: FleetConnection;
  readonly #token: string;
  #by = '';
  #version = 0;

  /** `token`: from `rosterToken`. */
  constructor(connection: FleetConnection, token: string) {
    this.#connection = connection;
    this.#token = token;
  }

  /**
   * What changed since the last call; the first one, and one after the service was replaced, brings all
   * robots (`isAll`). Rejects if no service answers.
   */
  async changes(): Promise<Pick<RosterAnswer, 'rows' | 'removed'> & { isAll: boolean }> {
    const isAll = this.#by === '';
    const found: Pick<RosterAnswer, 'rows' | 'removed'> = { rows: [], removed: [] };
    try {
      for (let pages = 0; pages < MOST_PAGES; pages++) {
        const { rows, removed, more } = await this.#page();
        found.rows.push(...rows);
        found.removed.push(...removed);
        if (!more) break;
      }
      return { ...found, isAll };
    } catch (error) {
      this.#by = '';
      this.#version = 0;
      throw error;
    }
  }

  async #page(): Promise<RosterAnswer> {
    const request = {
      subject: subjects.roster(this.#token, this.#connection.user),
      ...({ by: 'roster', robot: rosterName(this.#token), timeoutMs: ANSWER_MS } as const),
      head: { to: this.#by, since: this.#version },
    };
    const answer = parseJson(
      (await this.#connection.request(request)).head,
      rosterAnswerSchema,
      MAX_ANSWER_BYTES,
    );
    if (typeof answer === 'string') throw new Error(`the roster's answer is ${answer}`);
    this.#by = answer.by;
    this.#version = answer.version;
    return answer;
  }
}
