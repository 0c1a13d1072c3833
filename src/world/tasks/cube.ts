import { type Hand, HIGH_M, pick, place } from '../skills.ts';
import { AT_REST, type Task } from '../task.ts';
import { CUBE_M, cube, tray } from '../things.ts';

/** Wider than the tray of `sort`: a first try should succeed. */
const TRAY_HALF_M = 0.085;
const INSIDE_M = 0.08;
const THING = 'red';
/** Open by this much more than the cube is wide. */
const LET_GO_M = 0.004;

export const cubeTask: Task = {
  name: 'cube',
  title: 'One cube into the tray',
  instruction: 'Put the cube into the tray.',
  // For a first try by keyboard.
  limitS: 600,
  bodies: () => [tray('tray', TRAY_HALF_M), cube(THING)],
  start({ trayM, xM, yM }, random) {
    const middle = ([low, high]: readonly [number, number]) =>
      (low + high) / 2 + (random.uniform() - 0.5) * 0.04;
    return [
      { xM: trayM[0], yM: trayM[1], zM: 0, yawRad: 0 },
      { xM: middle(xM), yM: middle(yM), zM: CUBE_M / 2, yawRad: 0 },
    ];
  },
  score(view) {
    const at = view.see('tray');
    const { xM, yM, zM, speed } = view.see(THING);
    const isInside = Math.abs(xM - at.xM) < INSIDE_M && Math.abs(yM - at.yM) < INSIDE_M && zM < 0.075;
    const isLetGo = view.openingM > CUBE_M + LET_GO_M;
    return isInside && isLetGo && speed < AT_REST ? 1 : 0;
  },
  *expert(view) {
    const hand: Hand = { yawRad: view.gripYawRad };
    const { xM, yM } = view.see('tray');
    yield* pick(view, hand, THING, CUBE_M / 2, HIGH_M);
    yield* place(view, hand, THING, { xM, yM, zM: 0.026, yawRad: 0, highM: HIGH_M });
  },
};
