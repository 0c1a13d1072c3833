/** One control cycle of a motion: where the hand asked the guided point to be, and where it was. */
export interface MotionCycle {
  tS: number;
  state: string;
  limitedBy: readonly string[];
  wantedM: readonly number[];
  toolM: readonly number[];
}

export interface MotionSummary {
  engagedS: number;
  /** Distance of the tool from the path that the hand had drawn by then. */
  deviationMm: { p50: number; p95: number; max: number };
  /** The delay that explains the tool best by the hand. */
  lagMs: number | null;
  /** Farthest that the tool went beyond a place where the hand came to rest. */
  overshootMm: number;
  /** Motion of the tool over motion of the hand while the hand was still, RMS; null: it never was. */
  noiseGain: number | null;
  /** Share of the engaged time, by limit. */
  limited: Record<string, number>;
  holds: number;
}

/** History of the drawn path that counts. */
const HISTORY_S = 6;
const MAX_LAG_S = 1.5;
/** A hand slower than this over STILL_S is still. */
const STILL_M_S = 0.02;
const STILL_S = 0.5;
/** Time for the tool to arrive after the hand came to rest. */
const ARRIVE_S = 2;

/** Judges a motion as a person would: does the tool keep to the path, how late is it, what holds it back. */
export function summarise(cycles: readonly MotionCycle[]): MotionSummary {
  const engaged = cycles.filter(({ state }) => state === 'engaged');
  const periodS = cycles.length > 1 ? (cycles.at(-1)!.tS - cycles[0]!.tS) / (cycles.length - 1) : 0;
  const deviations = deviationsM(cycles, periodS).sort((a, b) => a - b);
  const at = (share: number) => 1e3 * (deviations[Math.floor(share * (deviations.length - 1))] ?? 0);
  return {
    engagedS: engaged.length * periodS,
    deviationMm: { p50: at(0.5), p95: at(0.95), max: at(1) },
    lagMs: lagMs(engaged, periodS),
    overshootMm: 1e3 * overshootM(engaged, periodS),
    noiseGain: noiseGain(engaged, periodS),
    limited: limitedShares(engaged),
    holds: cycles.filter(({ state }, i) => state !== 'engaged' && cycles[i - 1]?.state === 'engaged').length,
  };
}

type Point = readonly number[];
const away = (a: Point, b: Point): number => Math.hypot(a[0]! - b[0]!, a[1]! - b[1]!, a[2]! - b[2]!);

function deviationsM(cycles: readonly MotionCycle[], periodS: number): number[] {
  const history = Math.round(HISTORY_S / periodS);
  return cycles.flatMap(({ state, toolM }, i) => {
    if (state !== 'engaged') return [];
    let least = away(toolM, cycles[i]!.wantedM);
    for (let k = i; k > Math.max(0, i - history) && cycles[k - 1]!.state === 'engaged'; k--)
      least = Math.min(least, fromSegment(toolM, cycles[k - 1]!.wantedM, cycles[k]!.wantedM));
    return [least];
  });
}

function fromSegment(p: Point, a: Point, b: Point): number {
  const span = [0, 1, 2].map((i) => b[i]! - a[i]!);
  const square = span.reduce((sum, value) => sum + value * value, 0);
  const along = square > 0 ? span.reduce((sum, value, i) => sum + value * (p[i]! - a[i]!), 0) / square : 0;
  const share = Math.max(0, Math.min(1, along));
  return away(
    p,
    span.map((value, i) => a[i]! + share * value),
  );
}

function lagMs(cycles: readonly MotionCycle[], periodS: number): number | null {
  if (cycles.length < 50) return null;
  let best = { square: Number.POSITIVE_INFINITY, steps: 0 };
  for (let steps = 0; steps * periodS <= MAX_LAG_S; steps++) {
    let square = 0;
    for (let i = steps; i < cycles.length; i += 2)
      square += away(cycles[i]!.toolM, cycles[i - steps]!.wantedM) ** 2;
    square /= cycles.length - steps;
    if (square < best.square) best = { square, steps };
  }
  return 1e3 * best.steps * periodS;
}

/** Stretches in which the hand is still, as index ranges. */
function rests(cycles: readonly MotionCycle[], periodS: number): [number, number][] {
  const window = Math.round(STILL_S / periodS);
  const found: [number, number][] = [];
  let from = -1;
  for (let i = window; i <= cycles.length; i++) {
    const still =
      i < cycles.length && away(cycles[i]!.wantedM, cycles[i - window]!.wantedM) < STILL_M_S * STILL_S;
    if (still && from < 0) from = i - window;
    if (!still && from >= 0) {
      found.push([from, i - 1]);
      from = -1;
    }
  }
  return found;
}

/** How far the tool goes beyond a resting place, along the direction it came from. */
function overshootM(cycles: readonly MotionCycle[], periodS: number): number {
  const window = Math.round(STILL_S / periodS);
  let most = 0;
  for (const [from, to] of rests(cycles, periodS)) {
    const end = cycles[Math.min(to, from + window)]!.wantedM;
    const start = cycles[Math.max(0, from - window)]!.wantedM;
    const length = away(start, end);
    if (length < 0.01) continue;
    const until = Math.min(to, from + Math.round(ARRIVE_S / periodS));
    for (let i = from; i <= until; i++) {
      const beyond = [0, 1, 2].reduce(
        (sum, k) => sum + ((cycles[i]!.toolM[k]! - end[k]!) * (end[k]! - start[k]!)) / length,
        0,
      );
      most = Math.max(most, beyond);
    }
  }
  return most;
}

function noiseGain(cycles: readonly MotionCycle[], periodS: number): number | null {
  let [tool, hand] = [0, 0];
  const settle = Math.round(ARRIVE_S / periodS);
  for (const [from, to] of rests(cycles, periodS)) {
    if (to - from < 2 * settle) continue;
    const slice = cycles.slice(from + settle, to + 1);
    tool += spread(slice.map(({ toolM }) => toolM));
    hand += spread(slice.map(({ wantedM }) => wantedM));
  }
  return hand > 1e-12 ? Math.sqrt(tool / hand) : null;
}

/** Sum of squared distances from the mean. */
function spread(points: readonly Point[]): number {
  const mean = [0, 1, 2].map((k) => points.reduce((sum, point) => sum + point[k]!, 0) / points.length);
  return points.reduce((sum, point) => sum + away(point, mean) ** 2, 0);
}

function limitedShares(cycles: readonly MotionCycle[]): Record<string, number> {
  const counts = new Map<string, number>();
  for (const { limitedBy } of cycles) for (const by of limitedBy) counts.set(by, (counts.get(by) ?? 0) + 1);
  const sorted = [...counts].sort((a, b) => b[1] - a[1]);
  return Object.fromEntries(sorted.map(([by, count]) => [by, count / cycles.length]));
}
