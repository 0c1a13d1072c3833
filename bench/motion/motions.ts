import type { SimulatedHand } from '../../src/app/simulation.ts';
import { HandScript, randomsFrom, type Span } from './hand-script.ts';
import { follow, type Reacher, STEP_M } from './reachable.ts';
import {
  add,
  cross,
  dot,
  norm,
  pose,
  product,
  rotationVector,
  times,
  turned,
  type Vec,
} from './screw-kinematics.ts';
import { AXES, DIRECTIONS, type Start } from './start.ts';

/** What a part of a motion is judged by. */
export type Kind = 'line' | 'curve' | 'press' | 'slide' | 'leave' | 'turn' | 'return' | 'still' | 'steady';
export interface Segment extends Span {
  kind: Kind;
  name: string;
  /** Where the tool is judged, by its place relative to where it engaged; without it, everywhere. */
  judgedAt?: (placeM: Vec) => boolean;
}

export interface Motion {
  /** Name of the row in the table. */
  name: string;
  samples: SimulatedHand[];
  segments: Segment[];
  /** Settings on top of the rig's. */
  overrides: string[];
}

/** A rig whose motions are made. Lengths are of the hand; the tool moves `scale` times as far. */
export interface Place {
  reacher: Reacher;
  start: Start;
  scale: number;
  groundZM: number | null;
  stopM: number;
}

const SETTLE_S = 2.5;
const LINE_M = 0.2;
const PRESS_M = 0.05;
const SLIDE_M = 0.15;
/** A contact is found to this. */
const FINE_M = 0.002;
const FAR_M = 0.6;
const OWN_BASE_ZM = 0.2;
const RANDOM_LINES = 6;
const UP: Vec = [0, 0, 1];
const LEFT: Vec = [0, 1, 0];

const minus = (v: Vec): number[] => v.map((value) => -value);
const scaled = (v: Vec, k: number): number[] => v.map((value) => value * k);
const unit = (v: Vec): number[] => scaled(v, 1 / norm(v));

/** A script whose hand has gone to the start. */
function scriptAt({ start, scale }: Place): HandScript {
  const script = new HandScript(scale);
  script.moveTo(start.offsetM, 2.5, 1);
  return script;
}

const done = (name: string, script: HandScript, segments: Segment[], overrides: string[] = []): Motion => ({
  name,
  samples: script.samples,
  segments,
  overrides,
});

function lines(place: Place, name: string, directions: readonly Vec[], seconds: readonly number[]): Motion {
  const { start, scale } = place;
  const script = scriptAt(place);
  const segments: Segment[] = [];
  for (const direction of directions)
    for (const duration of seconds) {
      const [a, b] = [-1, 1].map((side) => add(start.offsetM, direction, (side * LINE_M * scale) / 2));
      script.moveTo(a!, 1.5, 1);
      for (const end of [b!, a!])
        segments.push({ kind: 'line', name, ...script.moveTo(end, duration, SETTLE_S) });
    }
  return done(name, script, segments);
}

/** A figure eight 20 cm wide in the plane of two axes; the speed is that in its middle, its highest. */
function eights(place: Place): Motion {
  const { start, scale } = place;
  const script = scriptAt(place);
  const segments: Segment[] = [];
  const halfM = (LINE_M / 2) * scale;
  for (const [across, along] of [
    [LEFT, UP],
    [LEFT, AXES[0]!],
  ] as const)
    for (const speedMS of [0.25, 0.5, 1]) {
      const rate = (speedMS * scale) / (Math.SQRT2 * halfM);
      const rampS = 0.8;
      const seconds = (2 * Math.PI) / rate + rampS;
      const span = script.draw(seconds, (_, s) => {
        const phase = rate * phaseTime(s, seconds, rampS);
        const wide = add(start.offsetM, across, halfM * Math.sin(phase));
        return { placeM: add(wide, along, (halfM / 2) * Math.sin(2 * phase)) };
      });
      segments.push({
        kind: 'curve',
        name: `eight ${speedMS} m/s`,
        ...span,
        toS: script.rest(SETTLE_S + 1).toS,
      });
    }
  return done('eights', script, segments);
}

/** Time along the curve: eases in and out over `rampS`, and covers `seconds − rampS` in all. */
function phaseTime(s: number, seconds: number, rampS: number): number {
  const eased = (x: number) => (rampS * Math.min(1, x / rampS) ** 2) / 2 + Math.max(0, x - rampS);
  const beforeEnd = seconds - s;
  return beforeEnd < rampS ? seconds - rampS - eased(beforeEnd) : eased(s);
}

/** How far the arm gets from a pose in a direction before it is closer than this to something. */
function contact({ reacher }: Place, fromRad: Vec, along: Vec, roomM = 0): number {
  const { m, qRad } = follow(reacher, fromRad, along, FAR_M, roomM);
  return m + follow(reacher, qRad, along, STEP_M, roomM, FINE_M).m;
}

/** The pose that the arm takes on the way from the start to a place; null if it does not get there. */
function poseAt({ reacher, start }: Place, placeM: Vec): number[] | null {
  const way = add(placeM, start.offsetM, -1);
  const lengthM = norm(way);
  if (lengthM < 1e-9) return start.qRad;
  const { m, qRad } = follow(reacher, start.qRad, scaled(way, 1 / lengthM), lengthM, -1);
  return m < lengthM ? null : qRad;
}

interface Press {
  name: string;
  into: Vec;
  across: Vec;
  /** Middle of the slide before the contact. */
  at: Vec;
  /** From there to the contact, where it is known. */
  contactM?: number;
  overrides?: string[];
}

/** Presses by 5 cm, slides 15 cm across and back, and leaves. */
function press(place: Place, { name, into, across, at, contactM, overrides }: Press): Motion | null {
  const { scale } = place;
  const script = scriptAt(place);
  const aside = add(at, across, (-SLIDE_M * scale) / 2);
  const qRad = poseAt(place, aside);
  if (qRad === null && contactM === undefined) return null;
  const depthM = contactM ?? contact(place, qRad!, into);
  script.moveTo(aside, 2, 1.5);
  const backS = script.tS;
  const down = add(aside, into, depthM + PRESS_M * scale);
  const segments: Segment[] = [{ kind: 'press', name, ...script.moveTo(down, 2, 1) }];
  for (const end of [add(down, across, SLIDE_M * scale), down])
    segments.push({ kind: 'slide', name, ...script.moveTo(end, 1.5, 1.5) });
  segments.push({ kind: 'leave', name, ...script.moveTo(aside, 2, 3) });
  segments.push({ kind: 'return', name, fromS: backS - 0.1, toS: script.tS });
  return done(name, script, segments, overrides);
}

/** An arm without a table gets one, 6 cm under the lowest part of its tool, and clear of its home pose. */
function table(place: Place): Motion | null {
  const { reacher, start, groundZM, stopM } = place;
  const { homeRad, joints } = reacher.model;
  const toolZM = lowestZM(place, start.qRad, joints.length - 2);
  const underM = Math.min(toolZM - 0.06, lowestZM(place, homeRad, 1) - stopM - 0.01);
  const atZM = groundZM ?? Math.floor(underM * 1e3) / 1e3;
  return press(place, {
    name: 'table',
    into: minus(UP),
    across: LEFT,
    at: start.offsetM,
    contactM: toolZM - atZM - stopM,
    overrides: [`robot.groundZM=${atZM}`],
  });
}

/** Height of the lowest point of the arm in this pose, from one of its frames on. */
function lowestZM({ reacher }: Place, qRad: Vec, fromFrame: number): number {
  const { frames } = pose(reacher.arm, qRad);
  const own = reacher.model.capsules.filter(({ frame }) => frame >= fromFrame);
  return Math.min(
    ...own.flatMap(({ frame, fromM, toM, radiusM }) =>
      [fromM, toM].map((end) => add(frames[frame]!.p, times(frames[frame]!.r, end))[2]! - radiusM),
    ),
  );
}

/** A wall of the workspace 6 cm to the left of the start. */
function wall(place: Place): Motion | null {
  const { reacher, start } = place;
  const flange = pose(reacher.arm, start.qRad).frames[reacher.arm.joints]!.p;
  const atM = Math.round((flange[1]! + 0.06) * 1e3) / 1e3;
  const own = reacher.model.workspace;
  const [min, max] = [[...(own?.minM ?? [-2, -2, -2])], [...(own?.maxM ?? [2, 2, 2])]];
  max[1] = atM;
  return press(place, {
    name: 'wall',
    into: LEFT,
    across: UP,
    at: start.offsetM,
    contactM: atM - flange[1]!,
    overrides: [`robot.workspace={minM: [${min}], maxM: [${max}]}`],
  });
}

/** From the second joint's axis to the guided point: the direction in which the arm stretches. */
function outward({ reacher, start }: Place): number[] {
  const { frames, axes } = pose(reacher.arm, start.qRad);
  const shoulder = axes[1]!.point;
  return unit(add(frames[reacher.lead]!.p, shoulder, -1));
}

/** The operator's own box must not end the stretch before the arm does. */
const NO_BOX = 'operator.mapper.workspace={minM: [-5, -5, -5], maxM: [5, 5, 5]}';
/** Any room will do: what ends the motion is the arm's own reach. */
const boundless = (place: Place): Place => ({ ...place, reacher: { ...place.reacher, room: () => 1 } });

function reach(place: Place): Motion | null {
  const into = outward(place);
  const across = unit(add(LEFT, into, -dot(LEFT, into)));
  return press(boundless(place), {
    name: 'reach',
    into,
    across,
    at: place.start.offsetM,
    overrides: [NO_BOX],
  });
}

/**
 * Towards the axis of the base, at the first height below the start where the arm meets itself, then across. If it meets
 * something else first at every height: 20 cm above the base.
 */
function ownBase(place: Place, overrides: string[] = []): Motion {
  const { reacher, start } = place;
  const self = { ...reacher, room: reacher.selfRoom };
  let [dropM, contactM, inward]: [number, number, Vec] = [0, 0, [-1, 0, 0]];
  for (let nextM = 0; ; nextM += STEP_M) {
    const low = follow(reacher, start.qRad, minus(UP), nextM, 0.005);
    const point = pose(reacher.arm, low.qRad).frames[reacher.lead]!.p;
    if (low.m < nextM - 1e-9 || (point[2]! < OWN_BASE_ZM && nextM > 0)) break;
    dropM = nextM;
    inward = unit([-point[0]!, -point[1]!, 0]);
    contactM = follow(reacher, low.qRad, inward, FAR_M, 0).m;
    const bare = follow({ ...self, room: () => 1 }, low.qRad, inward, contactM + STEP_M, 0);
    // The hand stays on this side of the axis.
    const pressedM = contactM + PRESS_M * place.scale;
    const isFree = bare.m >= contactM + STEP_M && pressedM < Math.hypot(point[0]!, point[1]!) - STEP_M;
    if (isFree && self.room(bare.qRad) < 0) break;
  }
  const at = add(start.offsetM, UP, -dropM);
  const across = cross(UP, inward);
  return press(place, { name: 'own base', into: inward, across, at, contactM, overrides })!;
}

function cone(place: Place, deg: number): Motion {
  const script = scriptAt(place);
  const tilt = (deg * Math.PI) / 180;
  const fromS = script.tS - 0.2;
  const at = (phase: number): number[] => [0, tilt * Math.cos(phase), tilt * Math.sin(phase)];
  script.turnTo(at(0), 2, 0.5);
  script.draw(5, (share) => ({ turnRad: at(2 * Math.PI * eased(share)) }));
  script.turnTo([0, 0, 0], 2, 4);
  return done(`cone ${deg}°`, script, [
    { kind: 'turn', name: 'turn', fromS, toS: script.tS },
    { kind: 'return', name: 'return', fromS, toS: script.tS },
  ]);
}

const eased = (x: number): number => x ** 3 * (10 + x * (6 * x - 15));

/** Turns the hand so that the wrist passes the pose where its first and last axes align, and comes back. */
function singularWrist(place: Place): Motion | null {
  const { reacher, start, scale } = place;
  const { arm, model } = reacher;
  const middle = arm.joints - 2;
  const { minRad, maxRad } = model.joints[middle]!;
  const here = start.qRad[middle]!;
  const aligned = Array.from({ length: 721 }, (_, n) => minRad + (n / 720) * (maxRad - minRad))
    .map((rad) => ({ rad, share: Math.abs(dot(axisOf(rad, middle - 1), axisOf(rad, middle + 1))) }))
    .filter(({ share }) => share > 1 - 1e-4)
    .sort((a, b) => Math.abs(a.rad - here) - Math.abs(b.rad - here))[0];
  if (aligned === undefined) return null;
  function axisOf(rad: number, joint: number): Vec {
    return pose(arm, start.qRad.with(middle, rad)).axes[joint]!.axis;
  }
  const side = Math.sign(here - aligned.rad) || 1;
  const beyond = start.qRad.with(middle, Math.max(minRad, Math.min(maxRad, aligned.rad - side * 0.25)));
  const [from, to] = [start.qRad, beyond].map((q) => pose(arm, q).frames[arm.joints]!.r);
  const turnRad = rotationVector(product(to!, turned(from!)));
  const script = scriptAt(place);
  const fromS = script.tS - 0.2;
  script.turnTo(turnRad, 2.5, 0.5);
  for (const asideM of [0.04, -0.04, 0]) script.moveTo(add(start.offsetM, LEFT, asideM * scale), 1.2, 0.3);
  script.turnTo([0, 0, 0], 2.5, 4);
  return done('wrist singularity', script, [
    { kind: 'curve', name: 'turn', fromS, toS: script.tS },
    { kind: 'return', name: 'return', fromS, toS: script.tS },
  ]);
}

function stretch(place: Place): Motion {
  const { start, scale } = place;
  const out = outward(place);
  const script = scriptAt(place);
  const fromS = script.tS - 0.2;
  const contactM = contact(boundless(place), start.qRad, out);
  script.moveTo(add(start.offsetM, out, contactM + 0.1 * scale), 2, 1);
  script.moveTo(start.offsetM, 2, 4);
  const judgedAt = (placeM: Vec) => dot(add(placeM, start.offsetM, -1), out) < contactM - 0.01;
  return done(
    'full stretch',
    script,
    [
      { kind: 'curve', name: 'stretch', fromS, toS: script.tS, judgedAt },
      { kind: 'return', name: 'return', fromS, toS: script.tS },
    ],
    [NO_BOX],
  );
}

/** Down 60 cm, right 15, up 60, left 15: mostly outside what the arm can reach. */
function rectangle(place: Place): Motion {
  const { start, scale } = place;
  const script = scriptAt(place);
  const fromS = script.tS - 0.2;
  const low = add(start.offsetM, UP, -0.6 * scale);
  script.moveTo(low, 2.5, 0.5);
  script.moveTo(add(low, LEFT, -0.15 * scale), 1, 0.5);
  script.moveTo(add(start.offsetM, LEFT, -0.15 * scale), 2.5, 0.5);
  script.moveTo(start.offsetM, 1, 6);
  return done('rectangle', script, [{ kind: 'return', name: 'rectangle', fromS, toS: script.tS }]);
}

/** A still hand with 1 mm of noise in each axis. */
function still(place: Place): Motion {
  const script = scriptAt(place);
  const { normal } = randomsFrom(7);
  script.rest(0.5);
  const noisy = script.draw(6, () => ({
    placeM: place.start.offsetM.map((m) => m + 1e-3 * place.scale * normal()),
  }));
  return done('still', script, [{ kind: 'still', name: 'still', ...noisy, fromS: noisy.fromS + 1 }]);
}

/** 1 where the first and last axes of the wrist align. */
const wristAlignment = ({ arm }: Reacher, qRad: Vec): number => {
  const { axes } = pose(arm, qRad);
  return Math.abs(dot(axes[arm.joints - 3]!.axis, axes[arm.joints - 1]!.axis));
};
const STRAIGHT_WRIST = Math.cos(0.38);

/** How far the wrist is from the base's axis, in the direction in which it was at the start; negative: beyond the axis. */
function shoulderRoomM({ reacher, start }: Place, qRad: Vec): number {
  const { arm } = reacher;
  const [at, begun] = [qRad, start.qRad].map((q) => pose(arm, q).frames[arm.joints - 2]!.p);
  const turnedRad = Math.atan2(at![1]!, at![0]!) - Math.atan2(begun![1]!, begun![0]!);
  return Math.hypot(at![0]!, at![1]!) * Math.cos(turnedRad - (qRad[0]! - start.qRad[0]!));
}
const SHOULDER_ROOM_M = 0.04;

/**
 * The straight line through the start that is long enough and asks least of the joints' velocities, and the time that they
 * need for it; with a nearly straight wrist, or over the shoulder, only if there is no other.
 */
function easiestLine(place: Place, lengthM: number): { from: number[]; along: Vec; leastS: number } | null {
  const { reacher, start } = place;
  const { joints } = reacher.model;
  const found = DIRECTIONS.flatMap((along) => {
    const ahead = follow(reacher, start.qRad, along, lengthM, 0.01);
    const back = follow(reacher, start.qRad, minus(along), lengthM - ahead.m, 0.01);
    if (ahead.m + back.m < lengthM - 1e-9) return [];
    const isSingular = [ahead, back].some(
      ({ qRad }) =>
        wristAlignment(reacher, qRad) > STRAIGHT_WRIST || shoulderRoomM(place, qRad) < SHOULDER_ROOM_M,
    );
    const times = joints.map(
      ({ maxVelocityRadS }, i) => Math.abs(ahead.qRad[i]! - back.qRad[i]!) / maxVelocityRadS,
    );
    const leastS = isSingular ? Number.POSITIVE_INFINITY : Math.max(...times);
    return [{ from: add(start.offsetM, along, -back.m), along, leastS }];
  });
  return found.sort((a, b) => a.leastS - b.leastS)[0] ?? null;
}

/** Share of a motion's time that its slowest joint may need on average. */
const FREE_TIME = 0.3;

/** Long enough at an even speed for the ramp to be forgotten. */
function steady(place: Place, name: string, overrides: string[]): Motion | null {
  const { scale } = place;
  const [speedMS, rampS] = [0.3, 0.5];
  const lines = [0.4, 0.35, 0.3, 0.25].flatMap((lengthM) => {
    const line = easiestLine(place, lengthM * scale);
    return line === null ? [] : [{ lengthM, ...line }];
  });
  // One that leaves the joints' velocities some room, where there is one.
  const best = lines.find(({ lengthM, leastS }) => leastS < FREE_TIME * (lengthM / speedMS)) ?? lines[0];
  if (best === undefined) return null;
  const { lengthM, from, along } = best;
  const seconds = lengthM / speedMS + rampS;
  const script = scriptAt(place);
  script.moveTo(from, 2.5, 2);
  const { fromS } = script.draw(seconds, (_, s) => ({
    placeM: add(from, along, scale * speedMS * phaseTime(s, seconds, rampS)),
  }));
  script.rest(1);
  const toS = fromS + seconds - rampS;
  return done(name, script, [{ kind: 'steady', name, fromS: toS - STEADY_S, toS }], overrides);
}

/** The last part of the even motion is judged. */
const STEADY_S = 0.25;

/** So that no limit acts. */
const FULL_SPEED = 'robot.speedPercent=100';

export const MOTIONS: Record<string, (place: Place) => Motion | null> = {
  'axis lines': (place) => lines(place, 'axis lines', AXES, [2, 1, 0.5]),
  'random lines': (place) => {
    const { normal } = randomsFrom(21);
    const directions = Array.from({ length: RANDOM_LINES }, () => unit([normal(), normal(), normal()]));
    return lines(place, 'random lines', directions, [1, 0.5]);
  },
  eights,
  table,
  wall,
  reach,
  'own base': (place) => ownBase(place),
  'own base at 100 %': (place) => ownBase(place, [FULL_SPEED]),
  'cone 30°': (place) => cone(place, 30),
  'cone 60°': (place) => cone(place, 60),
  'wrist singularity': singularWrist,
  'full stretch': stretch,
  rectangle,
  still,
  'steady 0.3 m/s': (place) => steady(place, 'steady 0.3 m/s', ['robot.playout=none', FULL_SPEED]),
  'steady 0.3 m/s with playout': (place) => steady(place, 'steady 0.3 m/s with playout', [FULL_SPEED]),
};
