import type { Authority } from './authority.ts';

/** What the servers rejected, by user, from the log of a server. */
export interface Attempts {
  /** Null: the key belongs to nobody in the list, for example to a revoked user. */
  user: string | null;
  publicKey: string;
  published: number;
  subscribed: number;
  /** The subjects tried most recently. */
  subjects: string[];
}

const KEY = '(U[A-Z2-7]{55})';
/** A rejected reply subject counts like a rejected subject. */
const SUBJECT = '(?:Subject|Reply) "((?:[^"\\\\]|\\\\.)*)"(?:, \\w+ \\S+)?$';
/** From the end of the line: before it is the client's own name, which may look like anything. */
const LINES = [
  // Up to 2.11, for example.
  new RegExp(`(Publish|Subscription) Violation - [\\w ]*"${KEY}", ${SUBJECT}`),
  // 2.15.
  new RegExp(`"[^"]*\\b${KEY}[^"]*" - (Publish|Subscription) Violation - ${SUBJECT}`),
] as const;
const MOST_SUBJECTS = 5;

/** Adds one line of a server's log. The name that a client declares there may be false; its key is not. */
export class AttemptLog {
  readonly #names: Map<string, string>;
  readonly #found = new Map<string, Attempts>();

  constructor({ users }: Pick<Authority, 'users'>) {
    this.#names = new Map(Object.entries(users).map(([name, { publicKey }]) => [publicKey, name]));
  }

  add(line: string): void {
    const match = LINES.map((pattern) => pattern.exec(line)).find((found) => found !== null);
    if (match == null) return;
    const [, first = '', second = '', subject = ''] = match;
    const [kind, publicKey] = first.startsWith('U') ? [second, first] : [first, second];
    const found = this.#found.get(publicKey) ?? {
      ...{ user: this.#names.get(publicKey) ?? null, publicKey, published: 0, subscribed: 0, subjects: [] },
    };
    this.#found.set(publicKey, found);
    if (kind === 'Publish') found.published++;
    else found.subscribed++;
    if (!found.subjects.includes(subject))
      found.subjects = [subject, ...found.subjects].slice(0, MOST_SUBJECTS);
  }

  /** Most attempts first. */
  get users(): Attempts[] {
    const all = ({ published, subscribed }: Attempts) => published + subscribed;
    return [...this.#found.values()].sort((a, b) => all(b) - all(a));
  }
}
