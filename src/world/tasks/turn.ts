import { OPEN_HAND } from '../hand-bodies.ts';
import { COLOURS, type Shape, type Vector, type WorldBody } from '../shape.ts';
import { AT_REST, type Move, type Task, type WorldView } from '../task.ts';

const HALF_M = 0.02;
/** Where the cube starts on the palm, and a height that it has only in the hand. */
const START_M = [0.2367, 0.003, 0.2061] as const;
const IN_HAND_M = 0.18;
/** How far it is to be turned: anticlockwise, seen from above. */
const TURN_RAD = Math.PI / 4;
const SPREAD_RAD = 0.1;
const SPREAD_M = 0.002;
const DONE_RAD = 0.25;
const UPRIGHT = 0.95;
const TRIES = 12;

/** Thickness and half width of its yellow mark. */
const MARK_M = 0.0008;
const EDGE_M = 0.006;
const mark = (sizeM: Vector, atM: Vector): Shape => ({
  ...{ kind: 'box', sizeM, atM, colour: COLOURS.yellow, isDrawnOnly: true },
});

const cube: WorldBody = {
  name: 'cube',
  massKg: 0.05,
  shapes: [
    { kind: 'box', sizeM: [HALF_M, HALF_M, HALF_M], atM: [0, 0, 0], colour: COLOURS.blue },
    // The edge that is to point to the fingertips.
    mark([EDGE_M, MARK_M, 0.8 * HALF_M], [HALF_M - EDGE_M, -HALF_M, 0]),
    mark([MARK_M, EDGE_M, 0.8 * HALF_M], [HALF_M, EDGE_M - HALF_M, 0]),
    mark([EDGE_M, EDGE_M, MARK_M], [HALF_M - EDGE_M, EDGE_M - HALF_M, HALF_M]),
  ],
};

const isInHand = (view: WorldView): boolean => view.see('cube').zM > IN_HAND_M;

/** What turns it, found by search in this world: angles of an ORCA v2 hand, one after the other. */
const STROKE: readonly Readonly<Record<string, number>>[] = [
  {
    ...{ thumb_cmc: -0.39, thumb_abd: 0.03, thumb_mcp: 1.46, thumb_dip: 1.84 },
    ...{ index_mcp: 0.05, index_pip: 0.33 },
    ...{ middle_mcp: -0.08, middle_pip: 0.07 },
    ...{ ring_abd: 0.41, ring_mcp: 0.82, ring_pip: 1.83 },
    ...{ pinky_abd: 0.07, pinky_mcp: 0.46, pinky_pip: 1.85 },
  },
  {
    ...{ thumb_cmc: 0.56, thumb_abd: -0.29, thumb_mcp: 0.8, thumb_dip: 1.84 },
    ...{ index_mcp: -0.38, index_pip: 0.11 },
    ...{ middle_mcp: 0.11, middle_pip: 0.23 },
    ...{ ring_abd: -0.05, ring_mcp: 1.28, ring_pip: 1.62 },
    ...{ pinky_abd: -0.5, pinky_mcp: 1.52, pinky_pip: 1.57 },
  },
];

const fingers = (jointsRad: Readonly<Record<string, number>>): Move => ({
  kind: 'fingers',
  jointsRad,
  moveS: 0.5,
  waitS: 0.6,
});

export const turn: Task = {
  name: 'turn',
  title: 'A cube turned in the hand',
  instruction: 'Turn the cube on the palm until its yellow edge points to the fingertips. Do not drop it.',
  limitS: 60,
  robot: 'hand',
  bodies: () => [cube],
  start: (_, random) => {
    const off = () => SPREAD_M * (2 * random.uniform() - 1);
    const [xM, yM, zM] = START_M;
    const yawRad = SPREAD_RAD * (2 * random.uniform() - 1);
    return [{ xM: xM + off(), yM: yM + off(), zM, yawRad }];
  },
  score(view) {
    const { yawRad, upright, speed } = view.see('cube');
    if (!isInHand(view) || upright < UPRIGHT) return 0;
    const offRad = Math.abs(yawRad - TURN_RAD);
    if (offRad < DONE_RAD && speed < AT_REST) return 1;
    return 0.9 * Math.max(0, Math.min(1, 1 - offRad / TURN_RAD));
  },
  *expert(view) {
    for (let i = 0; i < TRIES && isInHand(view); i++) {
      if (view.see('cube').yawRad > TURN_RAD - DONE_RAD) return;
      for (const posture of STROKE) yield fingers(posture);
      yield fingers(OPEN_HAND);
    }
  },
};
