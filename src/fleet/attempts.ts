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

const LINE = /(Publish|Subscription) Violation - .*?(?:Nkey|User) "(U[A-Z2-7]{55})".*?Subject "([^"]*)"/;
const MOST_SUBJECTS = 5;

/** Adds one line of a server's log. The name that a client declares there may be false; its key is not. */
export class AttemptLog {
  readonly #names: Map<string, string>;
  readonly #found = new Map<string, Attempts>();

  constructor({ users }: Pick<Authority, 'users'>) {
    this.#names = new Map(Object.entries(users).map(([name, { publicKey }]) => [publicKey, name]));
  }

  add(line: string): void {
    const [, kind, publicKey, subject = ''] = LINE.exec(line) ?? [];
    if (publicKey === undefined) return;
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
