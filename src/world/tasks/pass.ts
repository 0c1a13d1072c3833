import type { ArmFacts, Layout } from '../arm-facts.ts';
import { PARTNER } from '../partner-arm.ts';
import { seeGripper, seenFingers } from '../seen-gripper.ts';
import { COLOURS, type Shape, type WorldBody } from '../shape.ts';
import { go, grip, WIDE_M } from '../skills.ts';
import { AT_REST, type Move, type Task, type WorldView } from '../task.ts';

/** Each arm stands this far to its side of the table's middle. */
const ASIDE_M = 0.25;
const BAR_HALF_M = [0.008, 0.18, 0.006] as const;
const KNOB_HALF_M = [0.01, 0.01, 0.03] as const;
/** The knobs, from the bar's middle, and the middle of the part to grasp above it. */
export const KNOB_M = 0.15;
export const GRASP_M = 0.045;
/** Neither arm reaches from its own side to the other's. */
const START_M = -0.33;
const GOAL_M = 0.34;
const SPREAD_M = 0.02;
const WITHIN_M = 0.06;
const RAISED_M = 0.05;
const OPEN_M = 0.03;

const knob = (y: number): Shape => ({
  kind: 'box',
  sizeM: KNOB_HALF_M,
  atM: [0, y, BAR_HALF_M[2] + KNOB_HALF_M[2]],
  colour: COLOURS.yellow,
});

const bar: WorldBody = {
  name: 'bar',
  massKg: 0.06,
  shapes: [
    { kind: 'box', sizeM: BAR_HALF_M, atM: [0, 0, 0], colour: COLOURS.red },
    knob(KNOB_M),
    knob(-KNOB_M),
  ],
};
const mat: WorldBody = {
  name: 'mat',
  shapes: [
    {
      kind: 'box',
      sizeM: [WITHIN_M, BAR_HALF_M[1] + WITHIN_M, 0.0005],
      atM: [0, 0, 0.0005],
      colour: COLOURS.tray,
      isDrawnOnly: true,
    },
  ],
};

const middleM = ({ xM }: Layout): number => (xM[0] + xM[1]) / 2;

function aside(facts: ArmFacts, byM: number): ArmFacts {
  const { layout } = facts;
  const [x, y, z] = layout.baseM;
  return {
    ...facts,
    layout: {
      ...layout,
      baseM: [x, y + byM, z],
      yM: [layout.yM[0] + byM, layout.yM[1] + byM],
      trayM: [layout.trayM[0], layout.trayM[1] + byM],
    },
  };
}

/** Where the bar's middle is passed on, and how high its pads are. */
const GIVE_Y_M = 0;
const HIGH_M = 0.1;
/** So far above a knob, the pads clear it. */
const CLEAR_M = 0.09;
/** Pads on a knob. */
const HOLDING_M = [0.012, OPEN_M] as const;
const NEAR_M = 0.03;
const TRIES = 5;
/** How often it looks whether the other arm is ready, and how often in all. */
const LOOK_S = 0.1;
const LOOKS = 300;

const RIGHT = -1;
const LEFT = 1;

const knobAt = (view: WorldView, side: number): { xM: number; yM: number; zM: number } => {
  const { xM, yM, zM, yawRad } = view.see('bar');
  return {
    xM: xM - side * KNOB_M * Math.sin(yawRad),
    yM: yM + side * KNOB_M * Math.cos(yawRad),
    zM: zM + GRASP_M,
  };
};

/** Whether an arm's pads are closed on its knob. */
function holds(view: WorldView, side: number): boolean {
  const { xM, yM, openM } = seeGripper(view, side === LEFT ? '' : PARTNER);
  const knob = knobAt(view, side);
  return openM > HOLDING_M[0] && openM < HOLDING_M[1] && Math.hypot(xM - knob.xM, yM - knob.yM) < NEAR_M;
}

function* pick(view: WorldView, side: number, untilHeld: () => boolean): Generator<Move, void, void> {
  for (let tries = 0; tries < TRIES && !untilHeld(); tries++) {
    yield grip(WIDE_M, 0);
    const { xM, yM, zM } = knobAt(view, side);
    yield go([xM, yM, zM + CLEAR_M], 0, 0.3, 0.2, 0.003);
    yield go([xM, yM, zM], 0, 0.12, 0.2, 0.003);
    yield grip(0, 0.5);
  }
}

function* lookUntil(holds: () => boolean): Generator<Move, void, void> {
  for (let looks = 0; looks < LOOKS && !holds(); looks++) yield { kind: 'wait', waitS: LOOK_S };
}

/** Moves by what is seen of the gripper now. */
const from = ({ gripM }: WorldView, [dx, dy, dz]: readonly number[], speedMS: number, restS = 0.2): Move =>
  go([gripM[0]! + dx!, gripM[1]! + dy!, gripM[2]! + dz!], 0, speedMS, restS, 0.004);

/** The right arm lifts the bar, holds it out until the left one has it, and lets go. */
function* give(view: WorldView): Generator<Move, void, void> {
  if (view.see('bar').yM > (GOAL_M + GIVE_Y_M) / 2 || holds(view, LEFT)) return;
  yield* pick(view, RIGHT, () => holds(view, RIGHT));
  const { gripM } = view;
  yield go([gripM[0]!, gripM[1]!, HIGH_M], 0, 0.12, 0.2, 0.003);
  const { xM } = view.see('mat');
  yield go([xM, GIVE_Y_M - KNOB_M, HIGH_M], 0, 0.18, 0.4, 0.003);
  yield* lookUntil(() => holds(view, LEFT) || view.see('bar').zM < RAISED_M / 2);
  yield grip(WIDE_M, 0.5);
  yield from(view, [0, 0, CLEAR_M], 0.12);
  yield from(view, [0, -KNOB_M / 2, 0], 0.2);
}

const isOffered = (view: WorldView): boolean => {
  const { yM, zM } = view.see('bar');
  return zM > RAISED_M - 0.005 && Math.abs(yM - GIVE_Y_M) < 0.01 && holds(view, RIGHT);
};

/** The left arm takes what is held out to it and lays it on the mat. */
function* take(view: WorldView): Generator<Move, void, void> {
  yield* lookUntil(() => isOffered(view) || holds(view, LEFT));
  // It may still swing.
  yield { kind: 'wait', waitS: 0.5 };
  if (isOffered(view)) yield* pick(view, LEFT, () => holds(view, LEFT));
  yield* lookUntil(() => !holds(view, RIGHT));
  if (!holds(view, LEFT)) return;
  // The other arm leaves.
  yield { kind: 'wait', waitS: 1.2 };
  const goal = view.see('mat');
  const bar = view.see('bar');
  yield from(view, [goal.xM - bar.xM, goal.yM - bar.yM, 0], 0.18, 0.3);
  yield from(view, [0, 0, BAR_HALF_M[2] + 0.001 - view.see('bar').zM], 0.06, 0.3);
  yield grip(WIDE_M, 0.4);
  yield from(view, [0, 0, CLEAR_M], 0.12);
}

export const pass: Task = {
  name: 'pass',
  title: 'From one arm to the other',
  instruction:
    'Lift the bar by its right knob with the right arm, take its left knob with the left arm, let go with the right arm, and lay the bar on the mat.',
  limitS: 180,
  robot: 'two-arms',
  twoArms: (facts) => [aside(facts, ASIDE_M), aside(facts, -ASIDE_M)],
  bodies: () => [mat, bar, ...seenFingers()],
  start(layout, random) {
    const spread = () => (2 * random.uniform() - 1) * SPREAD_M;
    const x = middleM(layout);
    return [
      { xM: x, yM: GOAL_M, zM: 0, yawRad: 0 },
      { xM: x + spread(), yM: START_M + spread(), zM: BAR_HALF_M[2], yawRad: 0 },
    ];
  },
  score(view) {
    const goal = view.see('mat');
    const { xM, yM, zM, speed } = view.see('bar');
    const lies = zM < 2 * BAR_HALF_M[2];
    if (lies && Math.abs(xM - goal.xM) < WITHIN_M && Math.abs(yM - goal.yM) < WITHIN_M)
      return speed < AT_REST && view.openingM > OPEN_M && (view.secondOpeningM ?? 0) > OPEN_M ? 1 : 0.9;
    if (yM > (goal.yM + START_M) / 2 && view.openingM < OPEN_M) return 0.6;
    return zM > RAISED_M ? 0.3 : 0;
  },
  expert: (view, arm) => (arm === 'left' ? take(view) : give(view)),
};
