import { type Percentiles, percentiles } from '../../src/core/statistics/percentiles.ts';
import { createChain } from '../../src/geometry/chain.ts';
import { quatAngleRad } from '../../src/geometry/frames.ts';
import { createSolver, type Method } from '../../src/mapping/ik/solver.ts';
import { collisionCheck } from '../supervisor/speed.ts';
import type { Check } from '../text-table.ts';
import type { Timed } from '../timed.ts';
import { createTargets, type Targets } from './targets.ts';

export interface Timing {
  name: string;
  leastPerS: number | null;
  /** Median of the turns, in wall time. */
  perS: number;
  /** The same in processor time of the whole process, independent of other load. */
  perCpuS: number;
  /** One call each, including the cost of reading the clock. */
  callUs: Percentiles;
  rightPercent: number | null;
}

const TARGETS = 10_000;
const TURNS = 9;
/** Shorter turns give random results on a shared machine. */
const TURN_MS = 60;
/** Correct within this, in metres and radians. */
const RIGHT = 1e-4;

/** Everything the bench times. Add to this list. */
export function everythingTimed(): { timed: Timed[]; ur3: Targets; openarm: Targets } {
  const [ur3, piper, openarm] = ['ur3', 'piper', 'openarm'].map((name) => createTargets(name, TARGETS)) as [
    Targets,
    Targets,
    Targets,
  ];
  const timed = [
    solving('UR3 decoupled', ur3, 'decoupled', 1e6),
    solving('UR3 analytic, nearest of all', ur3, 'analytic', 250e3),
    solving('Piper analytic, nearest of all', piper, 'analytic', 250e3),
    listing('UR3 analytic, list of all', ur3),
    listing('Piper analytic, list of all', piper),
    solving('UR3 numeric', ur3, 'numeric', null),
    solving('OpenArm numeric, 7 joints', openarm, 'numeric', 15e3),
    forward('UR3 forward', ur3),
    forward('OpenArm forward', openarm),
    collisionCheck('UR3', ur3.model),
  ];
  return { timed, ur3, openarm };
}

function solving(name: string, targets: Targets, method: Method, leastPerS: number | null): Timed {
  const { model, count, quatXyzw, seedRad } = targets;
  const solver = createSolver(model, method);
  const isDecoupled = method === 'decoupled';
  const placesM = isDecoupled ? targets.elbowM : targets.positionM;
  const outRad = new Float64Array(model.joints.length);
  const chain = createChain(model);
  const [atM, at, aside] = [new Float64Array(3), new Float64Array(4), new Float64Array(4)];
  const isRight = (i: number): boolean => {
    solver.solve(placesM[i]!, quatXyzw[i]!, seedRad[i]!, outRad);
    chain.frame(outRad, chain.joints, atM, at);
    if (isDecoupled) chain.frame(outRad, 3, atM, aside);
    const offM = Math.hypot(...atM.map((value, axis) => value - placesM[i]![axis]!));
    return offM < RIGHT && quatAngleRad(at, quatXyzw[i]!) < RIGHT;
  };
  return {
    name,
    leastPerS,
    count,
    run: (i) => {
      solver.solve(placesM[i]!, quatXyzw[i]!, seedRad[i]!, outRad);
    },
    rightPercent: () => (100 * seedRad.filter((_, i) => isRight(i)).length) / count,
  };
}

function listing(name: string, { model, count, positionM, quatXyzw }: Targets): Timed {
  const solver = createSolver(model, 'analytic');
  const out = new Float64Array(solver.allSize);
  return {
    name,
    leastPerS: 250e3,
    count,
    run: (i) => {
      solver.all(positionM[i]!, quatXyzw[i]!, out);
    },
    rightPercent: () => null,
  };
}

function forward(name: string, { model, count, qRad }: Targets): Timed {
  const chain = createChain(model);
  const positionM = new Float64Array(3);
  const quatXyzw = new Float64Array(4);
  return {
    name,
    leastPerS: null,
    count,
    run: (i) => chain.frame(qRad[i]!, chain.joints, positionM, quatXyzw),
    rightPercent: () => null,
  };
}

/** They take turns, so that drift of the machine affects all; the first turn warms up. */
export function timeAll(timed: readonly Timed[]): Timing[] {
  const turns = timed.map((): Rate[] => []);
  for (let turn = 0; turn <= TURNS; turn++)
    timed.forEach((each, i) => {
      const rate = rateOf(each);
      if (turn > 0) turns[i]!.push(rate);
    });
  return timed.map((each, i) => ({
    name: each.name,
    leastPerS: each.leastPerS,
    perS: medianOf(turns[i]!, 'perS'),
    perCpuS: medianOf(turns[i]!, 'perCpuS'),
    callUs: callsOf(each),
    rightPercent: each.rightPercent(),
  }));
}

type Rate = Pick<Timing, 'perS' | 'perCpuS'>;

function medianOf(rates: readonly Rate[], key: keyof Rate): number {
  return rates.map((rate) => rate[key]).sort((a, b) => a - b)[rates.length >> 1]!;
}

function rateOf({ count, run }: Timed): Rate {
  const before = process.cpuUsage();
  const startMs = performance.now();
  let rounds = 0;
  let tookMs = 0;
  while (tookMs < TURN_MS) {
    for (let i = 0; i < count; i++) run(i);
    rounds += 1;
    tookMs = performance.now() - startMs;
  }
  const { user, system } = process.cpuUsage(before);
  const done = rounds * count;
  return { perS: (done * 1e3) / tookMs, perCpuS: (done * 1e6) / (user + system) };
}

function callsOf({ count, run }: Timed): Percentiles {
  const took = new Float64Array(count);
  for (let i = 0; i < count; i++) {
    const startMs = performance.now();
    run(i);
    took[i] = (performance.now() - startMs) * 1000;
  }
  return percentiles(took)!;
}

export const rateText = (perS: number): string => `${Math.round(perS).toLocaleString('en')}/s`;

/** By processor time; none without a requirement. */
export function rateChecks({ name, leastPerS, perCpuS }: Timing): Check[] {
  if (leastPerS === null) return [];
  const found = `${rateText(perCpuS)} of processor time, ${(perCpuS / leastPerS).toFixed(2)} × the required ${rateText(leastPerS)}`;
  return [{ what: name, ok: perCpuS >= leastPerS, found }];
}
