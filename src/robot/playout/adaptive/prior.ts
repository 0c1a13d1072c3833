/** What one session learnt about a network, as plain data. */
export interface PriorJson {
  version: 1;
  /** Largest needs of single seconds, largest first, in milliseconds above the floor. */
  needsMs: number[];
  /** Jitter of a usual second. */
  usualMs: number;
}

const MAX_NEEDS = 16;
const MAX_MS = 1000;

const isMs = (value: unknown): value is number => typeof value === 'number' && value >= 0 && value <= MAX_MS;

/** Validates a prior read from a file; null if invalid. */
export function parsePrior(value: unknown): PriorJson | null {
  if (typeof value !== 'object' || value === null) return null;
  const { version, needsMs, usualMs } = value as Partial<Record<keyof PriorJson, unknown>>;
  if (version !== 1 || !Array.isArray(needsMs) || needsMs.length > MAX_NEEDS) return null;
  if (!needsMs.every(isMs) || !isMs(usualMs)) return null;
  return { version, needsMs: [...needsMs].sort((a, b) => b - a), usualMs };
}
