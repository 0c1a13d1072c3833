import type { ArmFacts, Layout } from '../arm-facts.ts';
import { COLOURS, type Shape, type WorldBody } from '../shape.ts';
import { AT_REST, type Task } from '../task.ts';

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

export const pass: Task = {
  name: 'pass',
  title: 'From one arm to the other',
  instruction:
    'Lift the bar by its right knob with the right arm, take its left knob with the left arm, let go with the right arm, and lay the bar on the mat.',
  limitS: 180,
  robot: 'two-arms',
  hasNoExpert: true,
  twoArms: (facts) => [aside(facts, ASIDE_M), aside(facts, -ASIDE_M)],
  bodies: () => [mat, bar],
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
  *expert() {},
};
