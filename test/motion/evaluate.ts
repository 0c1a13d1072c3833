import type { SimulatedCycle, SimulatedHand } from '../../src/app/simulation.ts';

/** A part of a case, in seconds of the hand's clock, and what it is judged for. */
export interface Segment {
  name: string;
  kind: 'line' | 'curve' | 'turn' | 'return' | 'press' | 'slide' | 'leave' | 'still' | 'steady' | 'jump';
  fromS: number;
  toS: number;
}

export type Verdict = Partial<
  Record<
    | 'deviationMm'
    | 'overshootMm'
    | 'endErrorMm'
    | 'endErrorDeg'
    | 'positionErrorMm'
    | 'sidewaysShare'
    | 'penetrationMm'
    | 'freeMs'
    | 'toolSigmaMm'
    | 'largestStepMm'
    | 'lagMs'
    | 'branchChanged',
    number
  >
>;

/** A joint that ends further from where it began than this is on another branch. */
const BRANCH_RAD = 0.5;
/** A curve drawn this long ago still counts as drawn. */
const HISTORY_S = 6;
const CLEAR_M = 0.002;
/** The lag of a free motion, which leaving a contact may take as well. */
const FREE_LAG_MS = 50;

type Vector = readonly number[];
const minus = (a: Vector, b: Vector): number[] => a.map((x, i) => x - b[i]!);
const dot = (a: Vector, b: Vector): number => a.reduce((sum, x, i) => sum + x * b[i]!, 0);
const norm = (a: Vector): number => Math.hypot(...a);
const unit = (a: Vector): number[] => a.map((x) => x / norm(a));
const most = (values: readonly number[]): number => values.reduce((a, b) => Math.max(a, b), 0);
const along = (a: Vector, direction: Vector): number => dot(a, direction);
/** What is left of a vector once its part in a direction is taken off. */
const across = (a: Vector, direction: Vector): number =>
  norm(a.map((x, i) => x - along(a, direction) * direction[i]!));
const angleDeg = (a: Vector, b: Vector): number =>
  (2 * Math.acos(Math.min(1, Math.abs(dot(a, b)))) * 180) / Math.PI;

/** Judges one segment of a simulated motion by the definitions of its kind. */
export function judge({ kind, fromS, toS }: Segment, cycles: readonly SimulatedCycle[]): Verdict {
  const own = cycles.filter(({ tS }) => tS >= fromS && tS < toS);
  const first = own[0]!;
  const last = own.at(-1)!;
  const way = minus(last.wantedM, first.wantedM);
  if (kind === 'line') return lineOf(own, first.wantedM, way);
  if (kind === 'curve') return { deviationMm: 1e3 * offCurveM(own, cycles, fromS - HISTORY_S) };
  if (kind === 'turn')
    return { positionErrorMm: 1e3 * most(own.map((each) => norm(minus(each.toolM, each.wantedM)))) };
  if (kind === 'return') return returnOf(first, last);
  if (kind === 'slide')
    return { sidewaysShare: along(minus(last.toolM, first.toolM), unit(way)) / norm(way) };
  if (kind === 'press') {
    // Standing against the constraint at the end: how far past that it went before.
    const beyond = own.map(({ toolM }) => along(minus(toolM, last.toolM), unit(way)));
    return { penetrationMm: 1e3 * most(beyond) };
  }
  if (kind === 'leave') return { freeMs: freeAfterMs(own, unit(way)) };
  if (kind === 'still')
    return { toolSigmaMm: 1e3 * most([0, 1, 2].map((i) => deviationOf(own.map((c) => c.toolM[i]!)))) };
  if (kind === 'steady') return { lagMs: lagOf(own) };
  return { largestStepMm: 1e3 * most(own.slice(1).map((each, n) => norm(minus(each.toolM, own[n]!.toolM)))) };
}

function lineOf(own: readonly SimulatedCycle[], from: Vector, way: Vector): Verdict {
  const ahead = unit(way);
  const offsets = own.map(({ toolM }) => minus(toolM, from));
  return {
    deviationMm: 1e3 * most(offsets.map((off) => across(off, ahead))),
    overshootMm: 1e3 * most(offsets.flatMap((off) => [along(off, ahead) - norm(way), -along(off, ahead)])),
    endErrorMm: 1e3 * norm(minus(offsets.at(-1)!, way)),
  };
}

function returnOf(first: SimulatedCycle, last: SimulatedCycle): Verdict {
  const turned = most(minus(last.targetRad, first.targetRad).map(Math.abs));
  return {
    endErrorMm: 1e3 * norm(minus(last.toolM, first.toolM)),
    endErrorDeg: angleDeg(last.toolQuatXyzw, first.toolQuatXyzw),
    branchChanged: turned > BRANCH_RAD ? 1 : 0,
  };
}

/** Largest distance of the tool from the curve that the hand had drawn by then. */
function offCurveM(own: readonly SimulatedCycle[], all: readonly SimulatedCycle[], sinceS: number): number {
  const drawn = all.filter(({ tS }) => tS >= sinceS);
  let worst = 0;
  for (const { tS, toolM } of own.slice(1)) {
    let least = Number.POSITIVE_INFINITY;
    for (let n = 1; n < drawn.length && drawn[n]!.tS <= tS; n++)
      least = Math.min(least, offPieceM(toolM, drawn[n - 1]!.wantedM, drawn[n]!.wantedM));
    worst = Math.max(worst, least);
  }
  return worst;
}

function offPieceM(point: Vector, from: Vector, to: Vector): number {
  const way = minus(to, from);
  const square = dot(way, way);
  const share = square > 0 ? Math.max(0, Math.min(1, dot(minus(point, from), way) / square)) : 0;
  return norm(
    minus(
      point,
      from.map((x, i) => x + share * way[i]!),
    ),
  );
}

/** From when the hand is clear of the contact until the tool is, less the lag of a free motion. */
function freeAfterMs(own: readonly SimulatedCycle[], away: Vector): number {
  const levelM = along(own[0]!.toolM, away) + CLEAR_M;
  const hand = own.find(({ wantedM }) => along(wantedM, away) > levelM);
  const tool = own.find(({ toolM }) => along(toolM, away) > levelM);
  if (hand === undefined) return 0;
  return tool === undefined ? Number.POSITIVE_INFINITY : (tool.tS - hand.tS) * 1e3 - FREE_LAG_MS;
}

function deviationOf(values: readonly number[]): number {
  const mean = values.reduce((sum, x) => sum + x, 0) / values.length;
  return Math.sqrt(values.reduce((sum, x) => sum + (x - mean) ** 2, 0) / values.length);
}

/** Distance behind the hand along its motion, over its speed: mean of the cycles in which it moves. */
function lagOf(own: readonly SimulatedCycle[]): number {
  const lags: number[] = [];
  for (let n = 10; n + 10 < own.length; n++) {
    const [before, now, after] = [own[n - 10]!, own[n]!, own[n + 10]!];
    const way = minus(after.wantedM, before.wantedM);
    const speed = norm(way) / (after.tS - before.tS);
    if (speed > 0.05) lags.push((1e3 * along(minus(now.wantedM, now.toolM), unit(way))) / speed);
  }
  return lags.reduce((sum, x) => sum + x, 0) / lags.length;
}

/** Times at which the robot left `engaged` although the hand held the clutch and was tracked. */
export function holdsOf(hands: readonly SimulatedHand[], cycles: readonly SimulatedCycle[]): number {
  const isHeld = (atS: number): boolean => {
    const hand = hands.findLast(({ tS }) => tS <= atS);
    return hand?.clutch === true && hand.tracking && atS - hand.tS < 0.1;
  };
  return cycles.filter(
    ({ tS, state }, n) =>
      n > 0 && cycles[n - 1]!.state === 'engaged' && state !== 'engaged' && isHeld(tS) && isHeld(tS - 0.05),
  ).length;
}
