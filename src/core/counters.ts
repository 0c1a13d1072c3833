/** Why a datagram, sample or command was rejected or remarked on. Bad input is only ever counted. */
export const REASONS = [
  'bad-auth',
  'bad-json',
  'bad-magic',
  'bad-quaternion',
  'bad-range',
  'bad-tag',
  'bus-error',
  'clamped-acceleration',
  'clamped-jerk',
  'clamped-range',
  'clamped-velocity',
  'clamped-workspace',
  'decimal-comma',
  'degenerate',
  'driver-fault',
  'dropped-queue-full',
  'dropped-stale',
  'duplicate',
  'empty',
  'empty-hand',
  'engage-jump',
  'false-end',
  'frame-dropped',
  'frame-incomplete',
  'future-stamp',
  'handler-failed',
  'hard-contact',
  'joint-count',
  'joint-leap',
  'limit-breach',
  'malformed',
  'non-finite',
  'not-armed',
  'not-engaged',
  'not-operator',
  'not-ready',
  'old-engagement',
  'other-version',
  'oversize',
  'point-count',
  'rate-limited',
  'receipt-unknown',
  'replayed',
  'rough-stamp',
  'row-dropped',
  'row-skipped',
  'send-failed',
  'short',
  'slowed-backlog',
  'slowed-collision',
  'slowed-engage',
  'slowed-limit',
  'slowed-singularity',
  'stopped',
  'too-deep',
  'too-old',
  'tracking-lost',
  'unknown-key',
  'unknown-source',
  'unreachable',
  'unsealed',
  'watchdog',
  'wrong-epoch',
  'wrong-port',
] as const;

export type Reason = (typeof REASONS)[number];

const INDEX = new Map<Reason, number>(REASONS.map((reason, i) => [reason, i]));

/** Counts by reason, readable from another thread when given shared memory. */
export class Counters {
  readonly buffer: SharedArrayBuffer;
  readonly #counts: Int32Array;

  constructor(buffer = new SharedArrayBuffer(REASONS.length * 4)) {
    this.buffer = buffer;
    this.#counts = new Int32Array(buffer);
  }

  /** Hot path. */
  add(reason: Reason, n = 1): void {
    Atomics.add(this.#counts, INDEX.get(reason)!, n);
  }

  get(reason: Reason): number {
    return Atomics.load(this.#counts, INDEX.get(reason)!);
  }

  /** Only the reasons that occurred. */
  snapshot(): Partial<Record<Reason, number>> {
    const seen: Partial<Record<Reason, number>> = {};
    for (const reason of REASONS) if (this.get(reason) > 0) seen[reason] = this.get(reason);
    return seen;
  }
}
