import type { Random } from '../core/random.ts';
import type { RobotModel } from '../geometry/robot-model.ts';
import type { ArmFacts, Layout } from './arm-facts.ts';
import type { WorldBody } from './shape.ts';

/** Where a body starts: on the table, upright. */
export interface Place {
  xM: number;
  yM: number;
  zM: number;
  yawRad: number;
}

/** What a task, an expert or a modelled person sees of a body. */
export interface Seen extends Place {
  /** Cosine of its tilt: 1 upright. */
  upright: number;
  /** Metres and radians per second together. */
  speed: number;
}

export interface WorldView {
  /** By its name. */
  see(body: string): Seen;
  /** The point between the pads, and their distance. */
  readonly gripM: ArrayLike<number>;
  readonly gripYawRad: number;
  readonly openingM: number;
  /** Of the second of two arms that people drive. */
  readonly secondOpeningM?: number;
}

/** Progress from 0 to 1; 1 is success. */
export type Score = number;

/** Of two arms that people drive; the left one stands where y is larger. */
export type ArmSide = 'left' | 'right';

/** What an expert does next; an arm with its gripper straight down, unless it is tilted. */
export type Move =
  /** Takes the point between the pads to a place, along a straight line. */
  | {
      kind: 'go';
      xM: number;
      yM: number;
      zM: number;
      yawRad: number;
      /** From straight down, about the line through both pads: forward, at a yaw of zero away from the arm. */
      tiltRad?: number;
      speedMS: number;
      restS: number;
      toleranceM: number;
    }
  | { kind: 'grip'; openM: number; waitS: number }
  /** A hand: moves its joints, by name, in `moveS`; all in all it takes `waitS`. */
  | { kind: 'fingers'; jointsRad: Readonly<Record<string, number>>; moveS: number; waitS: number }
  /** Looks again after this long. */
  | { kind: 'wait'; waitS: number };

/** A second arm that the world itself moves. */
export interface Partner {
  readonly model: RobotModel;
  facts(layout: Layout): ArmFacts;
  /** What it does for as long as a round lasts; `giver` is the other arm. */
  script(own: WorldView, giver: WorldView, layout: Layout): Generator<Move, void, void>;
}

/** A task: one file in `tasks/`, found by its name. Pure: the same seed gives the same start everywhere. */
export interface Task {
  readonly name: string;
  readonly title: string;
  /** For the person. */
  readonly instruction: string;
  readonly limitS: number;
  /** What does it: an arm with a gripper, if absent. */
  readonly robot?: 'hand' | 'two-arms';
  /** Where two arms of the same model stand, left before right; of those alone. */
  twoArms?(facts: ArmFacts): readonly [left: ArmFacts, right: ArmFacts];
  bodies(): readonly WorldBody[];
  /** A second arm; its parts are among the bodies. */
  readonly partner?: Partner;
  /** One per body that neither slides in another nor belongs to the second arm, in their order. */
  start(layout: Layout, random: Random): readonly Place[];
  score(view: WorldView): Score;
  /** A way to do it: yields moves, and looks again after each. Of two arms, each has its own. */
  expert(view: WorldView, arm?: ArmSide): Generator<Move, void, void>;
}

/** Random places in a rectangle, each at least `apartM` from the others. */
export function scatter(
  random: Random,
  count: number,
  { xM, yM }: Pick<Layout, 'xM' | 'yM'>,
  apartM: number,
): { xM: number; yM: number; yawRad: number }[] {
  for (let attempt = 0; ; attempt++) {
    const found: { xM: number; yM: number; yawRad: number }[] = [];
    for (let tries = 0; found.length < count && tries < 200; tries++) {
      const place = {
        xM: random.between(xM),
        yM: random.between(yM),
        yawRad: (random.uniform() - 0.5) * (Math.PI / 2),
      };
      if (found.every((other) => Math.hypot(other.xM - place.xM, other.yM - place.yM) >= apartM))
        found.push(place);
    }
    if (found.length === count) return found;
    if (attempt > 100) throw new Error(`${count} things do not fit ${apartM} m apart`);
  }
}

/** Slower than this counts as at rest. */
export const AT_REST = 0.05;

/** What a pose of seven numbers shows. */
export function seenAt(poses: Float64Array, at: number, speed: number): Seen {
  const w = poses[at + 3]!;
  const x = poses[at + 4]!;
  const y = poses[at + 5]!;
  const z = poses[at + 6]!;
  return {
    xM: poses[at]!,
    yM: poses[at + 1]!,
    zM: poses[at + 2]!,
    yawRad: Math.atan2(2 * (w * z + x * y), 1 - 2 * (y * y + z * z)),
    upright: 1 - 2 * (x * x + y * y),
    speed,
  };
}
