import { COLOURS, type Shape, type Vector, type WorldBody } from '../shape.ts';
import { go, grip, type Hand, HIGH_M, pick, place, WIDE_M } from '../skills.ts';
import { AT_REST, type Move, type Place, scatter, type Task, type WorldView } from '../task.ts';
import { CUBE_M, cube } from '../things.ts';

/** Inside of the drawer, half of it, and its walls. */
const INSIDE_M = [0.045, 0.06] as const;
const WALL_M = 0.003;
const WALL_HEIGHT_M = 0.024;
/** The drawer runs above the table. */
const GAP_M = 0.002;
const TRAVEL_M = 0.09;
/** A post at the front, to hold it by. */
const POST_X_M = -(INSIDE_M[0] + 2 * WALL_M + 0.02);
const POST_HALF_M = 0.007;
const POST_HEIGHT_M = 0.075;
const GRASP_M = 0.055;
const ROOF_M = 0.05;
/** Opened far enough to put the cube in; closed. */
const OPEN_M = 0.08;
const CLOSED_M = 0.006;
/** In front of the roof, from the drawer's middle. */
const DROP_X_M = -0.014;

const box = (half: Vector, at: Vector, colour: string): Shape => ({
  kind: 'box',
  sizeM: half,
  atM: at,
  colour,
});

function cabinet(): WorldBody {
  const [x, y] = [INSIDE_M[0] + 2 * WALL_M, INSIDE_M[1] + 2 * WALL_M + 0.004];
  const side = (at: number) =>
    box([x, WALL_M, ROOF_M / 2], [0, at * (y + WALL_M), ROOF_M / 2], COLOURS.board);
  return {
    name: 'cabinet',
    shapes: [
      side(1),
      side(-1),
      box([WALL_M, y, ROOF_M / 2], [x + 0.003 + WALL_M, 0, ROOF_M / 2], COLOURS.board),
      box([x, y + 2 * WALL_M, WALL_M], [0, 0, ROOF_M + WALL_M], COLOURS.board),
    ],
  };
}

function drawer(): WorldBody {
  const [x, y] = INSIDE_M;
  const z = GAP_M + WALL_HEIGHT_M / 2;
  const high = WALL_HEIGHT_M / 2;
  return {
    name: 'drawer',
    massKg: 0.25,
    slide: { in: 'cabinet', axis: [-1, 0, 0], rangeM: [0, TRAVEL_M], frictionN: 0.6 },
    shapes: [
      box([x, y, WALL_M / 2], [0, 0, GAP_M + WALL_M / 2], COLOURS.tray),
      box([WALL_M, y + 2 * WALL_M, high], [x + WALL_M, 0, z], COLOURS.tray),
      box([WALL_M, y + 2 * WALL_M, high], [-x - WALL_M, 0, z], COLOURS.tray),
      box([x, WALL_M, high], [0, y + WALL_M, z], COLOURS.tray),
      box([x, WALL_M, high], [0, -y - WALL_M, z], COLOURS.tray),
      box([0.01, POST_HALF_M, 0.004], [-x - 2 * WALL_M - 0.01, 0, GAP_M + 0.004], COLOURS.yellow),
      box(
        [POST_HALF_M, POST_HALF_M, (POST_HEIGHT_M - GAP_M) / 2],
        [POST_X_M, 0, (POST_HEIGHT_M + GAP_M) / 2],
        COLOURS.yellow,
      ),
    ],
  };
}

const openingM = (view: WorldView): number => view.see('cabinet').xM - view.see('drawer').xM;

const isInside = (thing: Place, { xM, yM }: Place): boolean =>
  Math.abs(thing.xM - xM) < INSIDE_M[0] && Math.abs(thing.yM - yM) < INSIDE_M[1] && thing.zM < 0.04;

/** Takes the post, moves the drawer to an opening, and lets go. */
function* slide(view: WorldView, hand: Hand, toM: number): Generator<Move, void, void> {
  const { xM, yM } = view.see('drawer');
  const x = xM + POST_X_M;
  const to = x + openingM(view) - toM;
  hand.yawRad = 0;
  yield grip(WIDE_M, 0);
  yield go([x, yM, HIGH_M + 0.02], 0, 0.4);
  yield go([x, yM, GRASP_M], 0, 0.2, 0.1, 0.005);
  yield grip(0, 0.35);
  yield go([to, yM, GRASP_M], 0, 0.15, 0.2, 0.006);
  yield grip(WIDE_M, 0.25);
  yield go([to, yM, HIGH_M + 0.02], 0, 0.3, 0, 0.01);
}

export const drawerTask: Task = {
  name: 'drawer',
  title: 'A cube into the drawer',
  instruction: 'Open the drawer by its yellow post, put the cube in, and close it.',
  limitS: 60,
  bodies: () => [cabinet(), drawer(), cube('red')],
  start({ trayM, ...layout }, random) {
    const [at] = scatter(random, 1, layout, 0);
    const yM = trayM[1] + Math.sign(trayM[1]) * 0.02 * random.uniform();
    return [
      { xM: trayM[0] + 0.05 + 0.02 * random.uniform(), yM, zM: 0, yawRad: 0 },
      { ...at!, zM: CUBE_M / 2 },
    ];
  },
  score(view) {
    const opening = openingM(view);
    const red = view.see('red');
    if (!isInside(red, view.see('drawer'))) return opening > OPEN_M - 0.02 ? 0.3 : 0;
    return opening < CLOSED_M && red.speed < AT_REST ? 1 : 0.7;
  },
  *expert(view) {
    const hand: Hand = { yawRad: view.gripYawRad };
    if (!isInside(view.see('red'), view.see('drawer'))) {
      if (openingM(view) < OPEN_M - 0.01) yield* slide(view, hand, OPEN_M + 0.004);
      yield* pick(view, hand, 'red', CUBE_M / 2, HIGH_M);
      const { xM, yM } = view.see('drawer');
      const goal = { xM: xM + DROP_X_M, yM, zM: 0.03, yawRad: 0, highM: HIGH_M };
      yield* place(view, hand, 'red', goal);
    }
    yield* slide(view, hand, -0.003);
  },
};
