import type { FleetConnection } from '../connection.ts';
import type { Audit } from '../messages.ts';
import { subjects } from '../subjects.ts';

const REPORT_MS = 5000;
/** Of different users and robots between two reports. */
const MOST = 1000;

/**
 * Requests that no honest program sends, for the log: who, about which robot, why, and how often. They are
 * added up, so that a flood of them does not push other entries out of the log.
 */
export class Rejections {
  readonly #connection: FleetConnection;
  readonly #counts = new Map<string, { robot: string; user: string; why: string; count: number }>();
  readonly #timer: NodeJS.Timeout;
  total = 0;

  constructor(connection: FleetConnection) {
    this.#connection = connection;
    this.#timer = setInterval(() => this.report(), REPORT_MS);
  }

  add(robot: string, user: string, why: string): void {
    this.total++;
    const key = `${robot} ${user} ${why}`;
    const known = this.#counts.get(key);
    if (known) known.count++;
    else if (this.#counts.size < MOST) this.#counts.set(key, { robot, user, why, count: 1 });
  }

  report(): void {
    for (const { robot, user, why, count } of this.#counts.values()) {
      const entry: Audit = { what: 'rejected', who: user, why, count, atMs: Date.now() };
      this.#connection.nats.publish(subjects.audit(robot, this.#connection.user), JSON.stringify(entry));
    }
    this.#counts.clear();
  }

  close(): void {
    clearInterval(this.#timer);
    this.report();
  }
}
