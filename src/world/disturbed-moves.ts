import type { Random } from '../core/random.ts';
import { GRIPPER, OPEN_M } from './gripper-body.ts';
import { go, grip, WIDE_M } from './skills.ts';
import type { Move, WorldView } from './task.ts';

/** A move, and whether it is a mistake made on purpose. */
export interface MarkedMove {
  move: Move;
  isMistake: boolean;
}

const START_SHARE = 0.85;
/** From where the gripper stands; z above the table. */
const START_M = { x: [-0.11, 0.11], y: [-0.2, 0.16], z: [0.07, 0.17] } as const;
const MISTAKE_SHARE = 0.3;
/** Above this height of the pads an opened gripper touches no cube. */
const ABOVE_M = 0.058;
const STRAY_SPEED_M_S = 0.35;

const good = (move: Move): MarkedMove => ({ move, isMistake: false });
const mistake = (move: Move): MarkedMove => ({ move, isMistake: true });

/**
 * An expert's moves with mistakes among them: it starts anywhere, with the gripper anyhow, closes too early or beside a
 * thing, or arrives beside it. What follows each mistake shows the way out, which a policy needs once it errs itself.
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
    yield mistake(go(point, random.between([-0.7, 0.7]), STRAY_SPEED_M_S));
  }
  for (;;) {
    const { value: move, done } = moves.next();
    if (done === true || move === undefined) return;
    if (isReachingDown(move, view) && random.uniform() < MISTAKE_SHARE) yield* miss(moves, move, random);
    else yield good(move);
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

function* miss(
  moves: Iterator<Move, void, void>,
  move: Go,
  random: Random,
): Generator<MarkedMove, void, void> {
  const kind = random.uniform();
  const strayM = kind < 0.6 ? 0.02 : 0.025;
  const angle = random.between([-Math.PI, Math.PI]);
  const away = strayM * Math.sqrt(random.uniform());
  let [x, y] = [move.xM + away * Math.cos(angle), move.yM + away * Math.sin(angle)];
  let z = random.between([ABOVE_M, ABOVE_M + 0.03]);
  if (kind >= 0.4 && kind < 0.6) {
    // Beside it, where the pads pass it: across the direction in which they close.
    const besideM = random.between([0.036, 0.055]) * (random.uniform() < 0.5 ? -1 : 1);
    [x, y] = [move.xM + besideM * Math.cos(move.yawRad), move.yM + besideM * Math.sin(move.yawRad)];
    z = random.between([move.zM, ABOVE_M]);
  }
  const yawRad = move.yawRad + 0.15 * random.normal();
  yield mistake(go([x, y, z], yawRad, move.speedMS, 0.05, 0.006));
  if (kind >= 0.6) {
    yield good(move);
    return;
  }
  // Closes on nothing. The expert's own closing and lifting are left out: it then sees that it holds nothing.
  yield mistake(grip(0, 0.35));
  moves.next();
  moves.next();
}
