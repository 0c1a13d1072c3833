import type { Random } from '../core/random.ts';
import { GRIPPER, OPEN_M } from './gripper-body.ts';
import { EMPTY_M, go, grip, WIDE_M } from './skills.ts';
import type { Move, WorldView } from './task.ts';

/** A move, and whether it is a mistake made on purpose. */
export interface MarkedMove {
  move: Move;
  isMistake: boolean;
}

const START_SHARE = 0.85;
/** From where the gripper stands; z above the table. */
const START_M = { x: [-0.11, 0.11], y: [-0.2, 0.16], z: [0.07, 0.17] } as const;
const START_RAD = [-0.8, 0.8] as const;
const MISTAKE_SHARE = 0.4;
const CARRY_SHARE = 0.2;
/** Above this height of the pads an opened gripper touches no cube. */
const ABOVE_M = 0.058;
const STRAY_SPEED_M_S = 0.35;
/** Turned away from a thing by up to more than half a quarter turn: the other way round is then nearer. */
const TURN_RAD = [-0.85, 0.85] as const;
const MAX_YAW_RAD = 1.2;
/** From the goal of what is carried: sideways, and up so far that it touches nothing. */
const CARRIED_M = { side: [-0.03, 0.03], up: [0.04, 0.07] } as const;
const CARRIED_RAD = [-0.4, 0.4] as const;

const good = (move: Move): MarkedMove => ({ move, isMistake: false });
const mistake = (move: Move): MarkedMove => ({ move, isMistake: true });

/**
 * An expert's moves with mistakes among them: it starts anywhere, with the gripper anyhow, closes too early, beside a
 * thing or turned, arrives beside it, or carries something past its goal. What follows each mistake shows the way out, which a policy needs once it errs itself.
 */
export function* disturbed(
  moves: Iterator<Move, void, void>,
  view: WorldView,
  random: Random,
): Generator<MarkedMove, void, void> {
  if (random.uniform() < START_SHARE) {
    const openM = random.uniform() < 0.4 ? 0 : random.between([0, OPEN_M]);
    const point = [
      view.gripM[0]! + random.between(START_M.x),
      view.gripM[1]! + random.between(START_M.y),
      random.between(START_M.z),
    ] as const;
    yield mistake(grip(openM, 0));
    yield mistake(go(point, random.between(START_RAD), STRAY_SPEED_M_S));
  }
  for (;;) {
    const { value: move, done } = moves.next();
    if (done === true || move === undefined) return;
    if (isReachingDown(move, view) && random.uniform() < MISTAKE_SHARE) yield* miss(moves, move, random);
    else {
      if (isSettingDown(move, view) && random.uniform() < CARRY_SHARE) yield stray(move, random);
      yield good(move);
    }
  }
}

/** The same moves, none of them a mistake. */
export function* undisturbed(moves: Iterator<Move, void, void>): Generator<MarkedMove, void, void> {
  for (let next = moves.next(); next.done !== true; next = moves.next()) yield good(next.value);
}

type Go = Extract<Move, { kind: 'go' }>;

/** The last stretch to a thing on the table, with an open gripper. */
const isReachingDown = (move: Move, { openingM }: WorldView): move is Go =>
  move.kind === 'go' && move.restS > 0 && move.zM < 2 * GRIPPER.tipM && openingM > 0.9 * WIDE_M;

/** Above or at the goal of a thing that it holds. */
const isSettingDown = (move: Move, { openingM }: WorldView): move is Go =>
  move.kind === 'go' && move.restS > 0 && openingM > EMPTY_M && openingM < 0.9 * WIDE_M;

function stray({ xM, yM, zM, yawRad, speedMS }: Go, random: Random): MarkedMove {
  const { side, up } = CARRIED_M;
  const point = [xM + random.between(side), yM + random.between(side), zM + random.between(up)] as const;
  return mistake(go(point, yawRad + random.between(CARRIED_RAD), speedMS));
}

/** Where a hand errs to, and whether it closes there. */
interface Miss {
  share: number;
  closes: boolean;
  at(move: Go, random: Random): readonly [x: number, y: number, z: number, yawRad: number];
}

const MISSES: readonly Miss[] = [
  { share: 0.15, closes: true, at: (move, random) => around(move, random, 0.02, 0.15 * random.normal()) },
  { share: 0.15, closes: true, at: beside },
  // On the thing, but turned: it may turn with the pads, or be held by two of its edges.
  {
    share: 0.15,
    closes: true,
    at: ({ xM, yM, zM, yawRad }, random) => [xM, yM, zM, yawRad + random.between(TURN_RAD)],
  },
  { share: 0.2, closes: false, at: (move, random) => around(move, random, 0.03, random.between(TURN_RAD)) },
  { share: 0.1, closes: false, at: tooLow },
  { share: 0.2, closes: false, at: onTop },
  { share: 0.05, closes: false, at: elsewhere },
];

/** Gone down around the thing before it has turned. */
function tooLow({ xM, yM, zM, yawRad }: Go, random: Random): [number, number, number, number] {
  const off = () => random.between([-0.006, 0.006]);
  return [xM + off(), yM + off(), random.between([zM, ABOVE_M]), yawRad + random.between(TURN_RAD)];
}

/** A finger stands on the thing and presses: it never arrives, and nothing but rising helps. */
function onTop({ xM, yM, yawRad }: Go, random: Random): [number, number, number, number] {
  const turnedRad = yawRad + random.between(TURN_RAD);
  const offM = random.between([0.018, 0.036]) * (random.uniform() < 0.5 ? -1 : 1);
  const [x, y] = [xM + offM * Math.cos(turnedRad), yM + offM * Math.sin(turnedRad)];
  return [x, y, random.between([0.043, 0.05]), turnedRad];
}

/** Low, between things or above another one. */
function elsewhere({ xM, yM, yawRad }: Go, random: Random): [number, number, number, number] {
  const angle = random.between([-Math.PI, Math.PI]);
  const away = random.between([0.04, 0.1]);
  const z = random.between([ABOVE_M, ABOVE_M + 0.03]);
  return [xM + away * Math.cos(angle), yM + away * Math.sin(angle), z, yawRad + random.between(TURN_RAD)];
}

/** Above it and off by up to `strayM`. */
function around(
  { xM, yM, yawRad }: Go,
  random: Random,
  strayM: number,
  turnRad: number,
): [number, number, number, number] {
  const angle = random.between([-Math.PI, Math.PI]);
  const away = strayM * Math.sqrt(random.uniform());
  const z = random.between([ABOVE_M + 0.01, ABOVE_M + 0.05]);
  return [xM + away * Math.cos(angle), yM + away * Math.sin(angle), z, yawRad + turnRad];
}

/** Beside it, where the pads pass it: across the direction in which they close. */
function beside(move: Go, random: Random): [number, number, number, number] {
  const besideM = random.between([0.036, 0.055]) * (random.uniform() < 0.5 ? -1 : 1);
  const [x, y] = [move.xM + besideM * Math.cos(move.yawRad), move.yM + besideM * Math.sin(move.yawRad)];
  return [x, y, random.between([move.zM, ABOVE_M]), move.yawRad + 0.15 * random.normal()];
}

function drawn(random: Random): Miss {
  let left = random.uniform();
  for (const miss of MISSES) {
    left -= miss.share;
    if (left < 0) return miss;
  }
  return MISSES[0]!;
}

/** In place of reaching down. The expert's own closing is left out: it then sees that it does not hold the thing. */
function* miss(
  moves: Iterator<Move, void, void>,
  move: Go,
  random: Random,
): Generator<MarkedMove, void, void> {
  const kind = drawn(random);
  const [x, y, z, wantedRad] = kind.at(move, random);
  const yawRad = Math.max(-MAX_YAW_RAD, Math.min(MAX_YAW_RAD, wantedRad));
  // It turns first: turned pads would push the thing away.
  if (z < ABOVE_M) yield mistake(go([x, y, ABOVE_M + 0.02], yawRad, move.speedMS));
  yield mistake(go([x, y, z], yawRad, move.speedMS, kind.closes ? 0.05 : 0, 0.006));
  if (kind.closes) yield mistake(grip(0, 0.35));
  moves.next();
}
