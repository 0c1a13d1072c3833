import { type Hand, HIGH_M, pick, place, WIDE_M } from '../skills.ts';
import { AT_REST, type Seen, scatter, type Task } from '../task.ts';
import { CUBE_M, CUBES, cube } from '../things.ts';

/** Half the opening, a finger and half a diagonal: nothing is touched beside the cube that is taken. */
const APART_M = 0.095;
const SIDEWAYS_M = 0.015;
const HEIGHT_M = 0.004;

const isOn = (upper: Seen, lower: Seen): boolean =>
  Math.hypot(upper.xM - lower.xM, upper.yM - lower.yM) < SIDEWAYS_M &&
  Math.abs(upper.zM - lower.zM - CUBE_M) < HEIGHT_M;

export const stack: Task = {
  name: 'stack',
  title: 'A tower of three cubes',
  instruction: 'Stack the cubes: green on red, blue on green. Then let go.',
  limitS: 60,
  bodies: () => CUBES.map(cube),
  start: (layout, random) =>
    scatter(random, CUBES.length, layout, APART_M).map((at) => ({ ...at, zM: CUBE_M / 2 })),
  score(view) {
    const [red, green, blue] = CUBES.map((name) => view.see(name)) as [Seen, Seen, Seen];
    if (!isOn(green, red)) return 0;
    if (!isOn(blue, green)) return 0.5;
    const isDone = view.openingM > CUBE_M + 0.01 && [red, green, blue].every(({ speed }) => speed < AT_REST);
    return isDone ? 1 : 0.75;
  },
  *expert(view) {
    const hand: Hand = { yawRad: view.gripYawRad };
    for (const [i, name] of CUBES.entries()) {
      if (i === 0 || isOn(view.see(name), view.see(CUBES[i - 1]!))) continue;
      const highM = Math.max(HIGH_M, CUBE_M * (i + 1.25));
      yield* pick(view, hand, name, CUBE_M / 2, highM);
      const { xM, yM, yawRad } = view.see(CUBES[0]);
      const zM = CUBE_M * (i + 0.5) + 0.0005;
      yield* place(view, hand, name, { xM, yM, zM, yawRad, highM, toleranceM: 0.004 });
    }
    yield { kind: 'grip', openM: WIDE_M, waitS: 0.2 };
  },
};
