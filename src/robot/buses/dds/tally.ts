/** Why received data was ignored or only partly used. */
export const DDS_REASONS = [
  'bad-magic',
  'bad-sequence',
  'budget',
  'duplicate',
  'lease-expired',
  'lost',
  'malformed',
  'oversize',
  'qos-mismatch',
  'refused-message',
  'send-failed',
  'short',
  'too-many-peers',
  'type-mismatch',
  'unknown-source',
  'unknown-submessage',
] as const;

export type DdsReason = (typeof DDS_REASONS)[number];

/** Counts by reason. */
export class Tally {
  readonly #counts = new Map<DdsReason, number>();

  add(reason: DdsReason, n = 1): void {
    this.#counts.set(reason, this.get(reason) + n);
  }

  get(reason: DdsReason): number {
    return this.#counts.get(reason) ?? 0;
  }

  /** Only the reasons that occurred. */
  snapshot(): Partial<Record<DdsReason, number>> {
    return Object.fromEntries(this.#counts);
  }
}
