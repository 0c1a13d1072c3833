import type { SimulatedCycle } from '../../src/app/simulation.ts';
import { HAND_HZ, wantedOf, wantedTurnOf } from './hand-script.ts';
import type { Motion, Segment } from './motions.ts';
import {
  type Arm,
  add,
  dot,
  norm,
  pose,
  product,
  rotationVector,
  turned,
  type Vec,
} from './screw-kinematics.ts';

/** What a run has to offer for judging. */
export type Judged = Pick<SimulatedCycle, 'tS' | 'state' | 'limitedBy' | 'targetRad'> & {
  wantedM?: number[];
};

export interface Limits {
  velocityRadS: number[];
  accelerationRadS2: number[];
  jerkRadS3: number[];
}

export interface JudgeSettings {
  arm: Arm;
  lead: number;
  homeRad: readonly number[];
  scale: number;
  limits: Limits;
  room: ((qRad: ArrayLike<number>) => number) | null;
  /** What mink is told of the table; the room knows it too. */
  groundZM: number | null;
  stopM: number;
}

/** Figures of one motion, worst of its segments. */
export type Figures = Record<string, number>;

/** One cycle as judged: by the evaluator's own kinematics, not by what the program reports. */
interface Moment {
  tS: number;
  toolM: number[];
  rotation: number[];
  wantedM: number[];
  qRad: readonly number[];
  limited: boolean;
}

/** History of the drawn path that counts. */
const HISTORY_S = 6;
/** A contact counts as left when the point is this far from it; the lag of free motion is not counted. */
const LEFT_M = 0.002;
const FREE_LAG_S = 0.05;
const BRANCH_RAD = 0.5;
/** Behind the hand by more than this, something must be reported as the cause. */
const BEHIND_M = 0.01;
/** Limited for less than this share of the time, a motion counts as free. */
const FREE_SHARE = 0.05;
const SMALLEST = new Set(['share']);

export function judge(motion: Motion, cycles: readonly Judged[], settings: JudgeSettings): Figures {
  const figures: Figures = {};
  const note = (name: string, value: number) => {
    const worst = SMALLEST.has(name) ? Math.min : Math.max;
    figures[name] = figures[name] === undefined ? value : worst(figures[name], value);
  };
  const { wanted, moments } = momentsOf(motion, cycles, settings);
  for (const segment of motion.segments) {
    const part = moments.filter(({ tS }) => tS >= segment.fromS && tS < segment.toS);
    if (part.length < 10) continue;
    const found = KINDS[segment.kind](part, { motion, segment, settings, wanted });
    for (const [name, value] of Object.entries(found)) note(name, value);
  }
  for (const [name, value] of Object.entries(ratios(cycles, settings.limits))) note(name, value);
  note(
    'holds',
    cycles.filter(({ state }, i) => state !== 'engaged' && cycles[i - 1]?.state === 'engaged').length,
  );
  note('backlog', cycles.filter(({ limitedBy }) => limitedBy.includes('backlog')).length / cycles.length);
  // Contacts only: elsewhere, the room is what the start was chosen by.
  if (settings.room !== null && motion.segments.some(({ kind }) => kind === 'slide'))
    for (let i = 0; i < moments.length; i += 2) note('insideMm', -1e3 * settings.room(moments[i]!.qRad));
  if (figures['insideMm'] !== undefined) figures['insideMm'] = Math.max(0, figures['insideMm']);
  return figures;
}

function momentsOf(motion: Motion, cycles: readonly Judged[], { arm, lead, homeRad, scale }: JudgeSettings) {
  const home = pose(arm, homeRad).frames[lead]!.p;
  const at = wantedOf(motion.samples, scale);
  const wanted = (tS: number) => add(home, at(tS));
  const moments = cycles.map(({ tS, targetRad, limitedBy }): Moment => {
    const { frames } = pose(arm, targetRad);
    return {
      tS,
      toolM: frames[lead]!.p,
      rotation: frames[arm.joints]!.r,
      wantedM: wanted(tS),
      qRad: targetRad,
      limited: limitedBy.length > 0,
    };
  });
  return { wanted, moments };
}

interface Context {
  motion: Motion;
  segment: Segment;
  settings: JudgeSettings;
  wanted(tS: number): number[];
}

const mm = (m: number): number => 1e3 * m;
const apart = (a: Vec, b: Vec): number => norm(add(a, b, -1));

const KINDS: Record<Segment['kind'], (part: readonly Moment[], context: Context) => Figures> = {
  line: (part) => {
    const [a, b] = [part[0]!.wantedM, part.at(-1)!.wantedM];
    const lengthM = apart(a, b);
    const along = add(b, a, -1).map((value) => value / lengthM);
    let [off, beyond] = [0, 0];
    for (const { toolM } of part) {
      const from = add(toolM, a, -1);
      const m = dot(from, along);
      off = Math.max(off, norm(add(from, along, -m)));
      beyond = Math.max(beyond, m - lengthM, -m);
    }
    return { offMm: mm(off), beyondMm: mm(beyond), endMm: mm(apart(part.at(-1)!.toolM, b)) };
  },
  curve: (part, context) => ({
    offMm: mm(offCurve(part, context)),
    endMm: mm(apart(part.at(-1)!.toolM, part.at(-1)!.wantedM)),
  }),
  press: () => ({}),
  slide: (part) => {
    const [first, last] = [part[0]!, part.at(-1)!];
    const sideways = add(last.wantedM, first.wantedM, -1);
    const share = dot(add(last.toolM, first.toolM, -1), sideways) / dot(sideways, sideways);
    const silent = part.filter(({ limited, toolM, wantedM }) => !limited && apart(toolM, wantedM) > BEHIND_M);
    return { share, silent: silent.length / part.length };
  },
  leave: (part) => {
    const [first, last] = [part[0]!, part.at(-1)!];
    const way = add(last.wantedM, first.wantedM, -1);
    const along = way.map((value) => value / norm(way));
    const level = dot(first.toolM, along) + LEFT_M;
    const when = (which: 'wantedM' | 'toolM') => part.find((m) => dot(m[which], along) > level)?.tS ?? 1e3;
    return { freeMs: 1e3 * (when('toolM') - when('wantedM') - FREE_LAG_S) };
  },
  turn: (part) => ({ offMm: mm(Math.max(...part.map(({ toolM, wantedM }) => apart(toolM, wantedM)))) }),
  return: (part) => {
    const [first, last] = [part[0]!, part.at(-1)!];
    const turn = rotationVector(product(last.rotation, turned(first.rotation)));
    return {
      backMm: mm(apart(last.toolM, first.toolM)),
      backDeg: (norm(turn) * 180) / Math.PI,
      branch: last.qRad.some((q, i) => Math.abs(q - first.qRad[i]!) > BRANCH_RAD) ? 1 : 0,
    };
  },
  still: (part, { settings }) => {
    const spread = [0, 1, 2].map((k) => {
      const mean = part.reduce((sum, { toolM }) => sum + toolM[k]!, 0) / part.length;
      return Math.sqrt(part.reduce((sum, { toolM }) => sum + (toolM[k]! - mean) ** 2, 0) / part.length);
    });
    return { sigmaMm: mm(Math.max(...spread)), gain: Math.max(...spread) / (1e-3 * settings.scale) };
  },
  steady: (part, { wanted }) => {
    const lags = part.map(({ tS, toolM, wantedM }) => {
      const ahead = add(wanted(tS + 0.02), wanted(tS - 0.02), -1);
      return dot(add(wantedM, toolM, -1), ahead) / (norm(ahead) ** 2 / 0.04);
    });
    const lagMs = (1e3 * lags.reduce((sum, lag) => sum + lag, 0)) / lags.length;
    const limited = part.filter((moment) => moment.limited).length / part.length;
    return { limited, ...(limited < FREE_SHARE ? { lagMs } : { limitedLagMs: lagMs }) };
  },
};

/** Farthest from the path that the hand had drawn by then. */
function offCurve(part: readonly Moment[], { motion, segment, wanted }: Context): number {
  const first = Math.max(0, Math.floor((segment.fromS - HISTORY_S) * HAND_HZ));
  const drawn = motion.samples.slice(first).map((_, n) => wanted((first + n) / HAND_HZ));
  let most = 0;
  const home = wanted(0);
  for (const { tS, toolM } of part) {
    if (segment.judgedAt?.(add(toolM, home, -1)) === false) continue;
    const until = Math.min(drawn.length - 1, Math.floor(tS * HAND_HZ) - first);
    let least = apart(toolM, wanted(tS));
    for (let k = until; k > 0 && least > 0; k--)
      least = Math.min(least, fromPiece(toolM, drawn[k - 1]!, drawn[k]!));
    most = Math.max(most, least);
  }
  return most;
}

function fromPiece(p: Vec, a: Vec, b: Vec): number {
  const [ux, uy, uz] = [b[0]! - a[0]!, b[1]! - a[1]!, b[2]! - a[2]!];
  const [vx, vy, vz] = [p[0]! - a[0]!, p[1]! - a[1]!, p[2]! - a[2]!];
  const square = ux * ux + uy * uy + uz * uz;
  const share = square > 0 ? Math.max(0, Math.min(1, (ux * vx + uy * vy + uz * vz) / square)) : 0;
  return Math.hypot(vx - share * ux, vy - share * uy, vz - share * uz);
}

/** Largest velocity, acceleration and jerk between consecutive writes, as shares of the limits. */
function ratios(cycles: readonly Judged[], { velocityRadS, accelerationRadS2, jerkRadS3 }: Limits): Figures {
  const worst = { velocity: 0, acceleration: 0, jerk: 0 };
  const joints = velocityRadS.length;
  for (let i = 3; i < cycles.length; i++) {
    const dt = cycles[i]!.tS - cycles[i - 1]!.tS;
    for (let j = 0; j < joints; j++) {
      const [a, b, c, d] = [3, 2, 1, 0].map((back) => cycles[i - back]!.targetRad[j]!) as [
        number,
        number,
        number,
        number,
      ];
      worst.velocity = Math.max(worst.velocity, Math.abs(d - c) / dt / velocityRadS[j]!);
      worst.acceleration = Math.max(
        worst.acceleration,
        Math.abs(d - 2 * c + b) / dt ** 2 / accelerationRadS2[j]!,
      );
      worst.jerk = Math.max(worst.jerk, Math.abs(d - 3 * c + 3 * b - a) / dt ** 3 / jerkRadS3[j]!);
    }
  }
  return worst;
}

/** How far the program's own account is from the evaluator's: its guided point and where the hand wants it, in metres. */
export function disagreement(
  motion: Motion,
  cycles: readonly SimulatedCycle[],
  settings: JudgeSettings,
): number {
  const { moments } = momentsOf(motion, cycles, settings);
  const turn = wantedTurnOf(motion.samples);
  return Math.max(
    ...cycles.map(({ toolM, wantedM, wantedQuatXyzw, tS, state }, i) => {
      const place = apart(toolM, moments[i]!.toolM);
      if (state !== 'engaged' || !atRest(motion, tS)) return place;
      const size = Math.abs(Math.hypot(...wantedQuatXyzw) - Math.hypot(...turn(tS)));
      return Math.max(place, size, apart(wantedM, moments[i]!.wantedM));
    }),
  );
}

/** The hand has not moved for two samples, so that it does not matter which of them counts. */
function atRest({ samples }: Motion, tS: number): boolean {
  const k = Math.floor(tS * HAND_HZ);
  const [a, b] = [samples[k - 1], samples[Math.min(samples.length - 1, k + 1)]];
  return a !== undefined && b !== undefined && apart(a.positionM, b.positionM) === 0;
}
