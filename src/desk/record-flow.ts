import type { DeskRequest, Telemetry } from '../messages/telemetry.ts';

export type EpisodeLabel = 'success' | 'failure';

/** A round of the world younger than this has just begun. */
const FRESH_ROUND_S = 3;

/**
 * Recording one demonstration after another without leaving the page: keep, discard or redo the current one; with
 * `repeats`, a new round of the simulated world starts the next episode, and its end keeps it.
 */
export class RecordFlow {
  repeats = false;
  /** Kept since the page was opened. */
  kept = 0;
  readonly #send: (request: DeskRequest) => void;
  readonly #instructionOf: (task: string) => string;
  #latest: Telemetry | null = null;
  /** The instruction this page gave. */
  #given = '';
  #startPending = false;
  #endedSeed: number | null = null;

  /** `instructionOf`: the instruction of a task of the simulated world, for episodes without another. */
  constructor(send: (request: DeskRequest) => void, instructionOf: (task: string) => string = () => '') {
    this.#send = send;
    this.#instructionOf = instructionOf;
  }

  get isRecording(): boolean {
    return this.#latest?.record?.state === 'recording';
  }

  /** Starts, or keeps as a success: one key for the usual case. */
  startOrKeep(): void {
    if (this.isRecording) this.keep('success');
    else this.start();
  }

  start(): void {
    const { record = null, world = null } = this.#latest ?? {};
    const named = record?.task ?? '';
    // Another task of the world has another instruction, unless a person named their own.
    const isOwn = named !== '' && named !== this.#given;
    const task = isOwn || world === null ? named : this.#instructionOf(world.task) || named;
    if (!isOwn) this.#given = task;
    this.#send({ kind: 'record', action: 'start', ...(task !== '' && { task }) });
  }

  keep(label: EpisodeLabel): void {
    if (!this.isRecording) return;
    this.#send({ kind: 'record', action: 'stop', label });
    this.kept++;
    this.#nextRound(null);
  }

  discard(): void {
    if (!this.isRecording) return;
    this.#send({ kind: 'record', action: 'discard' });
    this.#nextRound(null);
  }

  /** Discards, puts everything back to where this round began, and records it again. */
  redo(): void {
    if (this.isRecording) this.#send({ kind: 'record', action: 'discard' });
    this.#startPending = true;
    this.#nextRound(this.#latest?.world?.seed ?? null);
  }

  update(telemetry: Telemetry): void {
    this.#latest = telemetry;
    const { world = null, record = null } = telemetry;
    if (record === null) return;
    if (this.isRecording) return this.#endWithRound(telemetry);
    const isFresh = world !== null && world.outcome === 'running' && world.elapsedS < FRESH_ROUND_S;
    const isWanted = this.#startPending || (this.repeats && world !== null && world.seed !== this.#endedSeed);
    if (isWanted && (isFresh || world === null)) {
      this.#startPending = false;
      this.#endedSeed = world?.seed ?? null;
      this.start();
    }
  }

  #endWithRound({ world = null }: Telemetry): void {
    if (!this.repeats || world === null || world.outcome === 'running') return;
    this.keep(world.outcome === 'done' ? 'success' : 'failure');
  }

  /** Only in a simulated world. Null: a new round with other places. */
  #nextRound(seed: number | null): void {
    if (this.#latest?.world != null) this.#send({ kind: 'world', task: '', seed });
  }
}
