/**
 * Whether pictures are in the places they were recorded in, from their brightness in a few cells before and after
 * encoding. A constant difference per cell is the codec's; what remains over time is well below one level where the
 * pictures are the recorded ones, and rises with the motion where they are not.
 */

/** Pictures that are judged together. */
const PART = 100;
const FEWEST = 20;
/** Shifts that are tried, in pictures. */
const MOST_LAG = 8;
/** Larger than what encoding leaves: at least this, and this share of the recorded change. */
const OTHER_LEVELS = 1;
const OTHER_SHARE = 1 / 3;
/** A shift counts if it leaves less than this share, and this much less, of the difference. */
const LAG_SHARE = 0.85;
const LAG_LEVELS = 0.05;
/** With few pictures only what is beyond doubt counts. */
const SURE_SHARE = 0.5;

type Cells = ArrayLike<number>;

export interface Misplaced {
  /** The first picture of the part, and how many rows too early (−) or late (+) it is; null: other pictures. */
  from: number;
  lag: number | null;
}

export function findMisplaced(shown: readonly Cells[], recorded: readonly Cells[]): Misplaced | null {
  const count = Math.min(shown.length, recorded.length);
  const parts = Math.max(1, Math.floor(count / PART));
  for (let part = 0; part < parts; part++) {
    const from = Math.floor((part * count) / parts);
    const to = Math.floor(((part + 1) * count) / parts);
    if (to - from < FEWEST) return null;
    const found = judge(shown, recorded, from, to);
    if (found !== null) return found;
  }
  return null;
}

function judge(
  shown: readonly Cells[],
  recorded: readonly Cells[],
  from: number,
  to: number,
): Misplaced | null {
  const own = difference(shown, recorded, from, to, 0);
  const lag = bestLag(shown, recorded, from, to);
  if (lag !== 0) {
    const [start, end] = [Math.max(from, lag), Math.min(to, recorded.length + lag)];
    const here = difference(shown, recorded, start, end, 0);
    const there = difference(shown, recorded, start, end, lag);
    const share = to - from < PART ? SURE_SHARE : LAG_SHARE;
    if (there < share * here && here - there > LAG_LEVELS) return { from, lag };
  }
  const change = difference(recorded, null, from, to, 0);
  return own > OTHER_LEVELS && own > OTHER_SHARE * change ? { from, lag: null } : null;
}

/** The shift with the least difference. */
function bestLag(shown: readonly Cells[], recorded: readonly Cells[], from: number, to: number): number {
  let best = 0;
  let least = difference(shown, recorded, from, to, 0);
  for (let lag = -MOST_LAG; lag <= MOST_LAG; lag++) {
    const start = Math.max(from, lag);
    const end = Math.min(to, recorded.length + lag);
    if (end - start < FEWEST) continue;
    const found = difference(shown, recorded, start, end, lag);
    if (found < least) [best, least] = [lag, found];
  }
  return best;
}

/** Root mean square over pictures and cells, without each cell's own mean. Picture i is compared with row i − lag. */
function difference(
  shown: readonly Cells[],
  recorded: readonly Cells[] | null,
  from: number,
  to: number,
  lag: number,
): number {
  const cells = shown[from]?.length ?? 0;
  let total = 0;
  for (let cell = 0; cell < cells; cell++) {
    let [sum, squares] = [0, 0];
    for (let i = from; i < to; i++) {
      const value = shown[i]![cell]! - (recorded === null ? 0 : recorded[i - lag]![cell]!);
      sum += value;
      squares += value * value;
    }
    total += squares / (to - from) - (sum / (to - from)) ** 2;
  }
  return Math.sqrt(Math.max(0, total / Math.max(1, cells)));
}
