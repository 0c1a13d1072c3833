import { COLOURS, type Shape, type WorldBody } from '../shape.ts';
import { go, grip, type Hand, heldOffset, nearestYaw, pick } from '../skills.ts';
import { AT_REST, scatter, type Task } from '../task.ts';

const PEG_HALF_M = 0.01;
const PEG_HEIGHT_M = 0.08;
/** 2 mm on each side. */
const HOLE_HALF_M = 0.012;
const BOARD_HALF_M = 0.05;
const BOARD_HEIGHT_M = 0.03;
const GRASP_M = 0.06;
const HIGH_M = GRASP_M + BOARD_HEIGHT_M + 0.015;
/** Here the peg's end is 6 mm inside the hole. A gripper that stays higher by more has missed it. */
const ENTERED_M = GRASP_M + BOARD_HEIGHT_M - 0.006;
const STUCK_M = 0.004;
const TRIES = 5;
const TOLERANCE_M = 0.0018;

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
    hand.yawRad = nearestYaw(view.see('board').yawRad, hand.yawRad);
    for (let tries = 0; tries < TRIES; tries++) {
      const { xM, yM } = view.see('board');
      yield go([xM, yM, HIGH_M], hand.yawRad, 0.4, 0.2, TOLERANCE_M);
      const [dx, dy] = heldOffset(view, 'peg');
      const [x, y] = [xM - dx, yM - dy];
      yield go([x, y, ENTERED_M], hand.yawRad, 0.1, 0.1, TOLERANCE_M);
      if (view.gripM[2]! > ENTERED_M + STUCK_M) continue;
      yield go([x, y, GRASP_M + 0.001], hand.yawRad, 0.1, 0.12, 0.004);
      break;
    }
    yield grip(0.05, 0.25);
    const { xM, yM } = view.see('board');
    yield go([xM, yM, HIGH_M + 0.02], hand.yawRad, 0.3, 0, 0.01);
  },
};
