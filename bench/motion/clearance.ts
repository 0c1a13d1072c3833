import type { Box, RobotModel } from '../../src/geometry/robot-model.ts';
import { randomsFrom } from './hand-script.ts';
import { type Arm, add, dot, norm, pose, times, type Vec } from './screw-kinematics.ts';

/** What an arm has around it. */
export interface Around {
  groundZM: number | null;
  stopM: number;
  workspace: Box | null;
}

const ROUNDS = 40;
const GOLDEN = (Math.sqrt(5) - 1) / 2;

/** Room left before the arm is closer to something than it may be; negative: how far inside the margin. */
export function roomOf(model: RobotModel, arm: Arm, around: Around): (qRad: ArrayLike<number>) => number {
  const { capsules } = model;
  const placed = (q: ArrayLike<number>): Vec[][] => {
    const { frames } = pose(arm, q);
    return capsules.map(({ frame, fromM, toM }) =>
      [fromM, toM].map((end) => add(frames[frame]!.p, times(frames[frame]!.r, end))),
    );
  };
  const apartM = (ends: Vec[][], a: number, b: number) =>
    segmentsApart(ends[a]!, ends[b]!) - capsules[a]!.radiusM - capsules[b]!.radiusM;
  const home = placed(model.homeRad);
  const between = watched(model).map(({ a, b }): Room => {
    const restM = apartM(home, a, b);
    const allowedM = restM > 0 ? Math.min(around.stopM, restM / 2) : around.stopM;
    return (ends) => apartM(ends, a, b) - allowedM;
  });
  const { groundZM, stopM, workspace } = around;
  const above = capsules.flatMap(({ frame, radiusM }, i): Room[] => {
    if (groundZM === null || frame === 0) return [];
    return [(ends) => Math.min(ends[i]![0]![2]!, ends[i]![1]![2]!) - radiusM - groundZM - stopM];
  });
  const rooms = varying([...between, ...above], model, placed);
  return (q) => {
    const ends = placed(q);
    let roomM = rooms.reduce((least, room) => Math.min(least, room(ends)), Number.POSITIVE_INFINITY);
    const flange = pose(arm, q).frames[arm.joints]!.p;
    if (workspace !== null)
      for (let i = 0; i < 3; i++)
        roomM = Math.min(roomM, flange[i]! - workspace.minM[i]!, workspace.maxM[i]! - flange[i]!);
    return roomM;
  };
}

/** A room by the ends of all capsules. */
type Room = (ends: Vec[][]) => number;

/** Leaves out what no motion of the arm changes. */
function varying(rooms: Room[], model: RobotModel, placed: (q: number[]) => Vec[][]): Room[] {
  const { uniform } = randomsFrom(3);
  const poses = Array.from({ length: 12 }, () =>
    placed(model.joints.map(({ minRad, maxRad }) => minRad + uniform() * (maxRad - minRad))),
  );
  return rooms.filter((room) => {
    const values = poses.map(room);
    return Math.max(...values) - Math.min(...values) > 1e-6;
  });
}

/** Pairs of capsules that are neither neighbours nor allowed to touch. */
function watched({ capsules, mayTouch }: RobotModel): { a: number; b: number }[] {
  return capsules.flatMap((own, a) =>
    capsules.slice(0, a).flatMap((other, b) => {
      const may = mayTouch.some((pair) => pair.includes(own.name) && pair.includes(other.name));
      return may || Math.abs(own.frame - other.frame) <= 1 ? [] : [{ a, b }];
    }),
  );
}

/** The distance from a point of one segment to the other is convex along it: golden section. */
function segmentsApart([a, b]: readonly Vec[], other: readonly Vec[]): number {
  const at = (share: number) => pointApart(add(a!, add(b!, a!, -1), share), other);
  let [low, high] = [0, 1];
  for (let round = 0; round < ROUNDS; round++) {
    const span = GOLDEN * (high - low);
    if (at(high - span) < at(low + span)) high = low + span;
    else low = high - span;
  }
  return Math.min(at(0), at(1), at((low + high) / 2));
}

export function pointApart(p: Vec, [a, b]: readonly Vec[]): number {
  const span = add(b!, a!, -1);
  const square = dot(span, span);
  const share = square > 0 ? Math.max(0, Math.min(1, dot(span, add(p, a!, -1)) / square)) : 0;
  return norm(add(p, add(a!, span, share), -1));
}
