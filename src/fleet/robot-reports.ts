import { SnapshotBoard } from '../core/memory/snapshot.ts';
import { monotonicClock } from '../core/time/clock.ts';
import { type RobotSnapshot, readRobotBoard } from '../messages/robot-board.ts';
import type { FleetConnection } from './connection.ts';
import type { FleetEvent, FleetTelemetry, Presence } from './messages.ts';
import { PageSession } from './page-operator/page-session.ts';
import type { RobotSession } from './robot-session.ts';
import { subjects } from './subjects.ts';

const TICK_MS = 200;
const DRIVEN_MS = 1000;
/** An idle robot. The broker needs no ping of a client that sends this often. */
const IDLE_MS = 5000;
/** How long telemetry is sent after a request for it. */
const WANTED_MS = 10_000;

export interface RobotReportsOptions {
  connection: FleetConnection;
  robot: string;
  model: string;
  version: string;
  joints: number;
  board: SharedArrayBuffer;
  session(): RobotSession | PageSession | null;
  /** Who may drive it now; null: nobody. */
  holder(): string | null;
  nonce(): string;
}

/** What a robot reports to the fleet: presence at every change, telemetry while it is driven or somebody asks. */
export class RobotReports {
  readonly #options: RobotReportsOptions;
  readonly #board: SnapshotBoard;
  #timer: NodeJS.Timeout;
  #sentMs = Number.NEGATIVE_INFINITY;
  #wantedMs = Number.NEGATIVE_INFINITY;
  #counted = { fromOperator: 0, toOperator: 0, atNs: 0 };

  constructor(options: RobotReportsOptions) {
    this.#options = options;
    this.#board = new SnapshotBoard(options.board);
    // Robots that start together do not report together.
    this.#timer = setTimeout(() => this.#tick(), Math.random() * IDLE_MS);
  }

  snapshot(): RobotSnapshot | null {
    return readRobotBoard(this.#board, this.#options.joints);
  }

  /** Somebody wants telemetry. */
  want(): void {
    this.#wantedMs = performance.now();
    this.#wake();
  }

  sessionBegan(): void {
    this.#wake();
    this.#counted = { fromOperator: 0, toOperator: 0, atNs: monotonicClock.nowNs() };
  }

  event(event: Omit<FleetEvent, 'kind' | 'atMs'>): void {
    this.#publish(subjects.event(this.#options.robot), { kind: 'transition', ...event, atMs: Date.now() });
  }

  presence(state?: string): void {
    const { robot, model, version, session, holder, nonce } = this.#options;
    const seen = this.snapshot();
    const open = session();
    this.#sentMs = performance.now();
    this.#publish(subjects.presence(robot), {
      ...{ kind: 'presence', robot, model, version, cause: seen?.cause ?? '', holder: holder() },
      state: state ?? seen?.state ?? 'disconnected',
      link: open?.isOpen ? this.#linkQuality(open) : null,
      ...{ nonce: nonce(), atMs: Date.now() },
    });
  }

  close(): void {
    clearTimeout(this.#timer);
    this.presence('ended');
  }

  #tick(): void {
    const nowMs = performance.now();
    const isDriven = this.#options.session() !== null;
    const isWanted = isDriven || nowMs - this.#wantedMs < WANTED_MS;
    const everyMs = isDriven ? DRIVEN_MS : IDLE_MS;
    if (nowMs - this.#sentMs >= everyMs - 1) this.presence();
    if (isWanted) this.#telemetry();
    const restMs = Math.max(1, this.#sentMs + everyMs - performance.now());
    this.#timer = setTimeout(() => this.#tick(), isWanted ? Math.min(TICK_MS, restMs) : restMs);
  }

  #wake(): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#tick(), TICK_MS);
  }

  #linkQuality(session: RobotSession | PageSession): NonNullable<Presence['link']> {
    const { fromOperator, toOperator, refused } = session.counts;
    const atNs = monotonicClock.nowNs();
    const perS = 1e9 / Math.max(1, atNs - this.#counted.atNs);
    const link = {
      rttMs: session.rttMs,
      fromOperatorHz: (fromOperator - this.#counted.fromOperator) * perS,
      toOperatorHz: (toOperator - this.#counted.toOperator) * perS,
      refused,
      client: session instanceof PageSession ? ('page' as const) : ('operator' as const),
    };
    this.#counted = { fromOperator, toOperator, atNs };
    return link;
  }

  #telemetry(): void {
    const seen = this.snapshot();
    if (seen === null) return;
    this.#publish(subjects.telemetry(this.#options.robot), {
      ...{ kind: 'telemetry', state: seen.state, limitedBy: seen.limitedBy },
      measuredRad: [...seen.measuredRad],
      targetRad: [...seen.targetRad],
      gripper: Number.isFinite(seen.gripper) ? seen.gripper : null,
      atMs: Date.now(),
    });
  }

  /** Nothing is queued for an unreachable broker: it would be outdated. */
  #publish(subject: string, message: Presence | FleetTelemetry | FleetEvent): void {
    const { connection } = this.#options;
    if (connection.isConnected()) connection.nats.publish(subject, JSON.stringify(message));
  }
}
