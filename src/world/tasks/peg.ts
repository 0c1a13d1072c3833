import { COLOURS, type Shape, type WorldBody } from '../shape.ts';
import { type Hand, pick, place } from '../skills.ts';
import { AT_REST, scatter, type Task } from '../task.ts';

const PEG_HALF_M = 0.01;
const PEG_HEIGHT_M = 0.08;
/** 2 mm on each side. */
const HOLE_HALF_M = 0.012;
const BOARD_HALF_M = 0.05;
const BOARD_HEIGHT_M = 0.03;
const GRASP_M = 0.06;
const HIGH_M = GRASP_M + BOARD_HEIGHT_M + 0.015;

function board(): WorldBody {
  const half = BOARD_HEIGHT_M / 2;
  const width = (BOARD_HALF_M - HOLE_HALF_M) / 2;
  const beside = HOLE_HALF_M + width;
  const part = (x: number, y: number, halfX: number, halfY: number): Shape => ({
    kind: 'box',
    sizeM: [halfX, halfY, half],
    atM: [x, y, half],
    colour: COLOURS.board,
  });
  return {
    name: 'board',
    shapes: [
      part(beside, 0, width, BOARD_HALF_M),
      part(-beside, 0, width, BOARD_HALF_M),
      part(0, beside, HOLE_HALF_M, width),
      part(0, -beside, HOLE_HALF_M, width),
    ],
  };
}

const peg: WorldBody = {
  name: 'peg',
  massKg: 0.06,
  shapes: [
    {
      kind: 'box',
      sizeM: [PEG_HALF_M, PEG_HALF_M, PEG_HEIGHT_M / 2],
      atM: [0, 0, 0],
      colour: COLOURS.yellow,
    },
  ],
};

export const pegTask: Task = {
  name: 'peg',
  title: 'A peg into a hole',
  instruction: 'Put the peg into the hole of the board. It has 2 mm of play on each side.',
  limitS: 40,
  bodies: () => [board(), peg],
  start({ xM, yM, trayM }, random) {
    const low = Math.min(yM[0], trayM[1]);
    const high = Math.max(yM[1], trayM[1]);
    const [at, hole] = scatter(random, 2, { xM, yM: [low, high] }, 0.12);
    return [
      { ...hole!, zM: 0, yawRad: hole!.yawRad / 2 },
      { ...at!, zM: PEG_HEIGHT_M / 2 },
    ];
  },
  score(view) {
    const hole = view.see('board');
    const { xM, yM, zM, upright, speed } = view.see('peg');
    const asideM = Math.hypot(xM - hole.xM, yM - hole.yM);
    if (asideM > 0.004 || upright < 0.99) return 0;
    if (zM > PEG_HEIGHT_M / 2 + 0.004) return 0.5;
    return speed < AT_REST ? 1 : 0.75;
  },
  *expert(view) {
    const hand: Hand = { yawRad: view.gripYawRad };
    yield* pick(view, hand, 'peg', GRASP_M, HIGH_M);
    const { xM, yM, yawRad } = view.see('board');
    const goal = { xM, yM, zM: GRASP_M + 0.001, yawRad, highM: HIGH_M, speedMS: 0.1, toleranceM: 0.0018 };
    yield* place(view, hand, 'peg', goal);
  },
};
