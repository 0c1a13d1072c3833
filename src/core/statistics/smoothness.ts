/** Windows of a second in which the robot did not follow steadily; docs/playout.md defines them. At 100 Hz throughout. */
export const TICK_MS = 10;
export const WINDOW_TICKS = 100;
export const BAD_TICKS = 6;
export const THRESHOLD_MS = 10.5;
const PHASE_TICKS = 10;
const MEDIAN_HALF = 10;
/** Slow down by at most a tenth, speed up by at most a twentieth: more feels like a jerk. */
export const MAX_WARP_UP = 0.1;
export const MAX_WARP_DOWN = 0.05;
export const STEP_UP_MS = TICK_MS * MAX_WARP_UP;
export const STEP_DOWN_MS = TICK_MS * MAX_WARP_DOWN;

/** The steady delay that a person perceives: a slew-limited follower of the centred median. */
export const runningTargetMs = (latencyMs: Float64Array, warmTicks: number): Float64Array =>
  slewLimited(centredMedian(latencyMs, MEDIAN_HALF), warmTicks);

/** A slew-limited delay that follows `wanted`; free to jump during the first ticks. */
export function slewLimited(wanted: Float64Array, warmTicks: number): Float64Array {
  const out = new Float64Array(wanted.length);
  if (wanted.length > 0) out[0] = wanted[0]!;
  for (let i = 1; i < wanted.length; i++) {
    const step = Math.max(-STEP_DOWN_MS - 1e-9, Math.min(STEP_UP_MS + 1e-9, wanted[i]! - out[i - 1]!));
    out[i] = i < warmTicks ? wanted[i]! : out[i - 1]! + step;
  }
  return out;
}

/** Windows with too many deviating ticks, in the worst of ten phases; the first ticks do not count. */
export function countBad(deviates: Uint8Array, warmTicks: number): number {
  const before = new Int32Array(deviates.length + 1);
  for (let i = 0; i < deviates.length; i++) before[i + 1] = before[i]! + deviates[i]!;
  let worst = 0;
  for (let phase = 0; phase < WINDOW_TICKS; phase += PHASE_TICKS) {
    let bad = 0;
    for (let s = warmTicks + phase; s + WINDOW_TICKS <= deviates.length; s += WINDOW_TICKS)
      if (before[s + WINDOW_TICKS]! - before[s]! >= BAD_TICKS) bad++;
    worst = Math.max(worst, bad);
  }
  return worst;
}

/** Bad windows of the given latencies, tick by tick. */
export function badWindowsOf(latencyMs: Float64Array, warmTicks: number): number {
  const target = runningTargetMs(latencyMs, warmTicks);
  const deviates = Uint8Array.from(latencyMs, (value, i) =>
    i >= warmTicks && Math.abs(value - target[i]!) > THRESHOLD_MS ? 1 : 0,
  );
  return countBad(deviates, warmTicks);
}

/** Median of the values up to `half` places away; fewer at the ends. */
function centredMedian(values: Float64Array, half: number): Float64Array {
  const out = new Float64Array(values.length);
  const sorted = new Float64Array(2 * half + 1);
  let count = 0;
  const place = (value: number) => {
    let low = 0;
    for (let high = count; low < high; ) {
      const middle = (low + high) >>> 1;
      if (sorted[middle]! < value) low = middle + 1;
      else high = middle;
    }
    return low;
  };
  for (let i = -half; i < values.length; i++) {
    if (i - half - 1 >= 0) {
      const leaving = place(values[i - half - 1]!);
      sorted.copyWithin(leaving, leaving + 1, count--);
    }
    if (i + half < values.length) {
      const at = place(values[i + half]!);
      sorted.copyWithin(at + 1, at, count++);
      sorted[at] = values[i + half]!;
    }
    if (i >= 0) out[i] = sorted[count >> 1]!;
  }
  return out;
}
