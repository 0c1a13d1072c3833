/** What two machines can compare to find out that they share a clock. */
export interface SharedClock {
  /** Identifies the monotonic clock: two processes with the same text read the same one. Empty: unknown. */
  readonly id: string;
  /** Wall − monotonic time in microseconds; NaN where it cannot be read precisely. */
  wallUs(): number;
}

export const NO_SHARED_CLOCK: SharedClock = { id: '', wallUs: () => Number.NaN };

/** An offset known without an exchange. */
export interface CommonOffset {
  /** Robot − operator. */
  offsetNs: number;
  errorNs: number;
}

/** Kernel stamps are wall time, converted to within tens of microseconds. */
const STAMP_ERROR_NS = 50e3;

/**
 * The offset between two machines with a common clock: the same kernel, or wall clocks that the user declares to be
 * synchronized to `wallErrorNs` (null: they are not). Null if there is none.
 */
export function commonOffset(
  operator: SharedClock,
  robotId: string,
  robotWallUs: number,
  wallErrorNs: number | null,
): CommonOffset | null {
  if (robotId !== '' && robotId === operator.id) return { offsetNs: 0, errorNs: STAMP_ERROR_NS };
  const offsetNs = (operator.wallUs() - robotWallUs) * 1e3;
  if (wallErrorNs === null || Number.isNaN(offsetNs)) return null;
  return { offsetNs, errorNs: wallErrorNs + STAMP_ERROR_NS };
}
