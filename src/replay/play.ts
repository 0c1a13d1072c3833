import { setTimeout as sleep } from 'node:timers/promises';
import { TeleopError } from '../core/errors.ts';
import { printable } from '../core/printable.ts';
import { NS_PER_MS, NS_PER_S } from '../core/time/clock.ts';
import type { JointDesk, SeenTelemetry } from '../desk/joint-desk.ts';
import { power } from '../desk/power.ts';
import type { RobotModel } from '../geometry/robot-model.ts';
import type { EpisodeInfo, EpisodeRow } from '../messages/recording.ts';

export interface PlayOptions {
  rows: readonly EpisodeRow[];
  model: RobotModel;
  /** 1: as recorded. */
  speed: number;
  /** Requests power when the robot has none: only for a simulated one. */
  arm: boolean;
  say: (text: string) => void;
  onProgress: (doneS: number, totalS: number) => void;
  /** Ends it early, in an orderly way. */
  stop?: AbortSignal;
}

export interface Played {
  rows: number;
  seconds: number;
  /** Largest difference between a measured joint and the recorded command while playing. */
  maxErrorRad: number;
  complete: boolean;
}

const TICK_MS = 10;
const CONTACT_MS = 30_000;
const OPEN_MS = 150;
/** The operator waits for a second of silence before it accepts targets from another program. */
const ADMIT_MS = 2000;
/** The longest approach at the slowest homing speed. */
const APPROACH_MS = 120_000;
const ARRIVED_RAD = 0.02;
const SETTLE_MS = 500;
/** Telemetry and playout lag behind; a robot that does not follow for longer has stopped following. */
const LOST_MS = 400;

/** The recording must be of this robot, joint by joint. */
export function checkModel(info: EpisodeInfo, model: RobotModel): void {
  const names = model.joints.map(({ name }) => name);
  if (names.length === info.joints.length && names.every((name, i) => name === info.joints[i])) return;
  throw new TeleopError(
    'model-mismatch',
    printable(
      `the episode was recorded with ${info.robot} (${info.joints.length} joints), the rig has ${model.name} (${names.length})`,
    ),
    {
      hint: 'Use the rig that the episode was recorded with: --rig NAME, or model=NAME.',
    },
  );
}

/** Outside a joint's range by more than this, a command was not made for it. */
const RANGE_SLACK_RAD = 0.1;

/** Before anything moves: what a damaged or foreign file may hold instead of a row of commands. */
export function checkRows(rows: readonly EpisodeRow[], model: RobotModel): void {
  if (rows.length === 0) throw badRows('the episode has no rows');
  const last = rows.findIndex(
    ({ timeNs }, i) => !(timeNs > (rows[i - 1]?.timeNs ?? Number.NEGATIVE_INFINITY)),
  );
  if (last >= 0) throw badRows(`row ${last} is not later than the row before`);
  for (const [i, { commandRad, commandGripper }] of rows.entries()) {
    if (commandRad.length !== model.joints.length || !Number.isFinite(commandGripper))
      throw badRows(`row ${i} is not a command for ${model.name}`);
    const wrong = model.joints.findIndex(({ minRad, maxRad }, joint) => {
      const rad = commandRad[joint];
      return !Number.isFinite(rad) || rad! < minRad - RANGE_SLACK_RAD || rad! > maxRad + RANGE_SLACK_RAD;
    });
    if (wrong < 0) continue;
    const { name } = model.joints[wrong]!;
    throw badRows(`row ${i} has no command within the range of ${name}: ${commandRad[wrong]} rad`);
  }
}

const badRows = (message: string): TeleopError =>
  new TeleopError('bad-episode', message, {
    hint: 'Nothing has moved. Choose another episode; this one is damaged or was made for another robot.',
  });

/**
 * Plays recorded commands into a running operator: it homes to the first pose, and its link and the
 * robot's supervisor check every row. Anything that ends the engagement ends the replay.
 */
export async function playEpisode(desk: JointDesk, options: PlayOptions): Promise<Played> {
  const { rows, say } = options;
  checkRows(rows, options.model);
  const first = rows[0]!;
  await desk.take(CONTACT_MS);
  await power(desk, options.arm);
  const playing = new Playing(desk, rows);
  try {
    say('moving to the first pose');
    const arrived = await playing.lead(first, options.stop);
    if (!arrived) return { rows: 0, seconds: 0, maxErrorRad: 0, complete: false };
    say('playing');
    return await playing.play(options);
  } finally {
    // The robot stops by itself once the clutch is open.
    playing.release();
  }
}

class Playing {
  readonly #desk: JointDesk;
  readonly #rows: readonly EpisodeRow[];
  readonly #targetRad: number[];
  #at = 0;
  #maxErrorRad = 0;
  #followsMs = Number.NaN;

  constructor(desk: JointDesk, rows: readonly EpisodeRow[]) {
    this.#desk = desk;
    this.#rows = rows;
    this.#targetRad = [...(rows[0]?.commandRad ?? [])];
  }

  /**
   * Opens the clutch long enough for the operator to see it, closes it, and waits until the robot is there
   * and follows.
   */
  async lead(first: EpisodeRow, stop: AbortSignal | undefined): Promise<boolean> {
    const startedMs = performance.now();
    let openUntilMs = startedMs + OPEN_MS;
    for (;;) {
      const nowMs = performance.now();
      if (!this.#desk.isAdmitted && nowMs - startedMs < ADMIT_MS) openUntilMs = nowMs + OPEN_MS;
      this.#desk.target(first.commandRad, first.commandGripper, nowMs > openUntilMs);
      const seen = this.#desk.newest;
      if (seen !== null && nowMs > openUntilMs && this.#isThere(seen, first)) return true;
      if (stop?.aborted === true) return false;
      const isLost = nowMs > openUntilMs + SETTLE_MS && !this.#isLed(seen);
      if (isLost || nowMs - startedMs > APPROACH_MS) throw this.#ended(seen, 'on the way to the first pose');
      await sleep(TICK_MS);
    }
  }

  #isThere({ operator, robot }: SeenTelemetry, first: EpisodeRow): boolean {
    if (operator.mode !== 'teleop' || operator.mapping !== 'ok' || robot?.state !== 'engaged') return false;
    return errorRad(robot.measuredRad, first.commandRad) < ARRIVED_RAD;
  }

  /** Tolerates the delay between engaging and its report. */
  #isLed(seen: SeenTelemetry | null): boolean {
    const nowMs = performance.now();
    if (seen !== null && seen.operator.mode === 'teleop' && seen.robot?.state === 'engaged')
      this.#followsMs = nowMs;
    if (Number.isNaN(this.#followsMs)) this.#followsMs = nowMs;
    return nowMs - this.#followsMs < LOST_MS;
  }

  async play({ speed, onProgress, stop }: PlayOptions): Promise<Played> {
    const totalNs = this.#rows.at(-1)!.timeNs;
    const startMs = performance.now();
    for (;;) {
      const timeNs = Math.min(totalNs, (performance.now() - startMs) * NS_PER_MS * speed);
      const gripper = this.#seek(timeNs);
      this.#desk.target(this.#targetRad, gripper, true);
      const seen = this.#desk.newest;
      if (!this.#isLed(seen)) throw this.#ended(seen, `${(timeNs / NS_PER_S).toFixed(2)} s into the episode`);
      if (seen?.robot)
        this.#maxErrorRad = Math.max(this.#maxErrorRad, errorRad(seen.robot.measuredRad, this.#targetRad));
      onProgress(timeNs / NS_PER_S, totalNs / NS_PER_S);
      if (timeNs >= totalNs || stop?.aborted === true) break;
      await sleep(TICK_MS);
    }
    const complete = stop?.aborted !== true;
    if (complete) await this.#rest();
    return {
      rows: this.#at + 1,
      seconds: (performance.now() - startMs) / 1000,
      maxErrorRad: this.#maxErrorRad,
      complete,
    };
  }

  /** Lets the robot arrive at the last row before the clutch opens. */
  async #rest(): Promise<void> {
    const last = this.#rows.at(-1)!;
    for (let ms = 0; ms < SETTLE_MS; ms += TICK_MS) {
      this.#desk.target(last.commandRad, last.commandGripper, true);
      await sleep(TICK_MS);
    }
  }

  /** Interpolates the target at that instant; returns the gripper's. */
  #seek(timeNs: number): number {
    const rows = this.#rows;
    while (this.#at + 1 < rows.length && rows[this.#at + 1]!.timeNs <= timeNs) this.#at++;
    const row = rows[this.#at]!;
    const next = rows[this.#at + 1] ?? row;
    const spanNs = next.timeNs - row.timeNs;
    const part = spanNs > 0 ? (timeNs - row.timeNs) / spanNs : 0;
    for (let i = 0; i < this.#targetRad.length; i++)
      this.#targetRad[i] = row.commandRad[i]! + part * (next.commandRad[i]! - row.commandRad[i]!);
    return row.commandGripper + part * (next.commandGripper - row.commandGripper);
  }

  release(): void {
    for (let i = 0; i < 3; i++)
      this.#desk.target(this.#targetRad, this.#rows[this.#at]?.commandGripper ?? 0, false);
  }

  #ended(seen: SeenTelemetry | null, where: string): TeleopError {
    const why =
      seen === null
        ? 'no operator answers'
        : `robot ${seen.robot?.state ?? 'disconnected'} (${seen.robot?.cause ?? ''}), operator ${seen.operator.mode}, mapping ${seen.operator.mapping}`;
    return new TeleopError('replay-stopped', `the robot stopped following ${where}: ${why}`, {
      hint: 'Clear what stopped it, re-arm it if necessary, and restart the replay from the first pose.',
    });
  }
}

function errorRad(aRad: readonly number[], bRad: readonly number[]): number {
  let worst = 0;
  for (let i = 0; i < bRad.length; i++) worst = Math.max(worst, Math.abs((aRad[i] ?? Number.NaN) - bRad[i]!));
  return Number.isNaN(worst) ? Number.POSITIVE_INFINITY : worst;
}
