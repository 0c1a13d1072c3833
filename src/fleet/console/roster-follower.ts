import type { Msg } from '@nats-io/transport-node';
import { EntryBoundary } from '../../core/entry-boundary.ts';
import type { FleetConnection } from '../connection.ts';
import { RosterClient } from '../roster/roster-client.ts';
import { subjects } from '../subjects.ts';
import type { FleetBoard } from './fleet-board.ts';

const POLL_MS = 1000;
/** Without a roster for this long, the console listens to every robot itself. */
const PATIENCE_MS = 6000;

export interface RosterFollowerOptions {
  connection: FleetConnection;
  /** From `rosterToken`. */
  token: string;
  /** The same robots as a pattern. */
  robots: string;
  board: FleetBoard;
  nowMs(): number;
  onPresence(message: Msg): void;
}

/** Puts a group on the board by its changes; without a roster, by every message of its robots. */
export class RosterFollower {
  readonly #options: RosterFollowerOptions;
  readonly #client: RosterClient;
  readonly #boundary = new EntryBoundary('message from the fleet');
  #direct: { unsubscribe(): void } | null = null;
  #answeredMs: number;
  #timer: NodeJS.Timeout | undefined;
  #isOver = false;

  constructor(options: RosterFollowerOptions) {
    this.#options = options;
    this.#client = new RosterClient(options.connection, options.token);
    this.#answeredMs = options.nowMs();
    void this.#repeat();
  }

  close(): void {
    this.#isOver = true;
    clearTimeout(this.#timer);
  }

  async #repeat(): Promise<void> {
    await this.#poll().catch(() => this.#withoutRoster());
    if (!this.#isOver) this.#timer = setTimeout(() => void this.#repeat(), POLL_MS);
  }

  async #poll(): Promise<void> {
    const { board, nowMs } = this.#options;
    const { rows, removed } = await this.#client.changes();
    this.#answeredMs = nowMs();
    this.#direct?.unsubscribe();
    this.#direct = null;
    for (const { presence, goneForMs } of rows) board.listed(presence, goneForMs, this.#answeredMs);
    for (const robot of removed) board.removed(robot);
  }

  #withoutRoster(): void {
    const { board, connection, robots, nowMs, onPresence } = this.#options;
    const isPatient = nowMs() - this.#answeredMs < PATIENCE_MS || !connection.isConnected();
    if (this.#isOver || this.#direct !== null || isPatient) return;
    board.unwatch(this.#answeredMs);
    this.#direct = connection.nats.subscribe(subjects.presence(robots), {
      callback: (error, message) => {
        if (error === null) this.#boundary.run(() => onPresence(message));
      },
    });
  }
}
