import { drop, type Hand, HIGH_M, pick } from '../skills.ts';
import { AT_REST, type Place, scatter, type Task } from '../task.ts';
import { CUBE_M, CUBES, cube, tray } from '../things.ts';

const TRAY_HALF_M = 0.07;
const INSIDE_M = 0.065;
/** Where the expert lets go of them, from the middle of the tray; the height clears the walls and other cubes. */
const SLOTS = [
  [-0.03, -0.03],
  [0.03, -0.03],
  [0, 0.03],
] as const;
const DROP_M = 0.072;

const isInside = ({ xM, yM, zM }: Place, tray: Place): boolean =>
  Math.abs(xM - tray.xM) < INSIDE_M && Math.abs(yM - tray.yM) < INSIDE_M && zM < 0.075;

export const sort: Task = {
  name: 'sort',
  title: 'Three cubes into the tray',
  instruction: 'Put the three cubes into the tray.',
  limitS: 60,
  bodies: () => [tray('tray', TRAY_HALF_M), ...CUBES.map(cube)],
  start({ trayM, ...layout }, random) {
    const cubes = scatter(random, CUBES.length, layout, 0.075);
    return [
      { xM: trayM[0], yM: trayM[1], zM: 0, yawRad: 0 },
      ...cubes.map((at) => ({ ...at, zM: CUBE_M / 2 })),
    ];
  },
  score(view) {
    const at = view.see('tray');
    const inside = CUBES.filter((name) => {
      const thing = view.see(name);
      return isInside(thing, at) && thing.speed < AT_REST;
    });
    return inside.length / CUBES.length;
  },
  *expert(view) {
    const hand: Hand = { yawRad: view.gripYawRad };
    const at = view.see('tray');
    for (const [i, name] of CUBES.entries()) {
      if (isInside(view.see(name), at)) continue;
      const [dx, dy] = SLOTS[i]!;
      yield* pick(view, hand, name, CUBE_M / 2, HIGH_M, true);
      yield* drop(view, hand, name, { xM: at.xM + dx, yM: at.yM + dy, zM: DROP_M, yawRad: 0 });
    }
  },
};
