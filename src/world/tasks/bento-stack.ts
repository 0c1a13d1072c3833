import { BLOCK_M, block, CUP_HEIGHT_M, cup, DOWN_M } from '../bento-things.ts';
import { COLOURS } from '../shape.ts';
import { type Hand, HIGH_M, pick, place } from '../skills.ts';
import { AT_REST, type Seen, scatter, type Task, type WorldView } from '../task.ts';

interface Tower {
  names: readonly string[];
  heightM: number;
  sidewaysM: number;
  /** So much wider than a thing must the gripper be open in the end. */
  openM: number;
}

/** Lowest place of the pads' middle: their tips reach 15 mm further down. */
const LOWEST_M = 0.019;

const isOn = (upper: Seen, lower: Seen, { heightM, sidewaysM }: Tower): boolean =>
  Math.hypot(upper.xM - lower.xM, upper.yM - lower.yM) < sidewaysM &&
  Math.abs(upper.zM - lower.zM - heightM) < 0.005;

/** How many stand on the first one, one on the other. */
function stacked(view: WorldView, tower: Tower): number {
  const seen = tower.names.map((name) => view.see(name));
  const end = seen.findIndex((thing, i) => i > 0 && !isOn(thing, seen[i - 1]!, tower));
  return (end < 0 ? seen.length : end) - 1;
}

function score(view: WorldView, tower: Tower): number {
  const most = tower.names.length - 1;
  const done = stacked(view, tower);
  const isOver = view.openingM > tower.openM && tower.names.every((name) => view.see(name).speed < AT_REST);
  return done < most ? (0.9 * done) / most : isOver ? 1 : 0.95;
}

function* build(view: WorldView, tower: Tower) {
  const hand: Hand = { yawRad: view.gripYawRad };
  const { names, heightM } = tower;
  // The fingertips stay above the table.
  const aboveM = Math.max(0, LOWEST_M - heightM / 2);
  for (let i = stacked(view, tower) + 1; i < names.length; i++) {
    const highM = Math.max(HIGH_M, heightM * (i + 1) + 0.02);
    yield* pick(view, hand, names[i]!, heightM / 2 + aboveM, highM);
    const { xM, yM, yawRad } = view.see(names[0]!);
    const zM = heightM * (i + 0.5) + aboveM + 0.0005;
    yield* place(view, hand, names[i]!, { xM, yM, zM, yawRad, highM, toleranceM: 0.003 });
  }
}

const BLOCKS: Tower = {
  names: ['b', 'e', 'n', 't', 'o'],
  heightM: BLOCK_M,
  sidewaysM: 0.01,
  openM: BLOCK_M + 0.01,
};
const BLOCK_COLOURS = [COLOURS.blue, COLOURS.green, COLOURS.red, COLOURS.yellow, COLOURS.tray];

/** Scene 5. */
export const bentoBlocks: Task = {
  name: 'bento-blocks',
  title: 'Bento Block Stacking',
  instruction: 'Stack the five blocks: green on blue, then red, yellow and grey.',
  limitS: 90,
  bodies: () => BLOCKS.names.map((name, i) => block(name, BLOCK_COLOURS[i]!)),
  start({ xM, yM, trayM }, random) {
    const across = [Math.min(yM[0], trayM[1]), Math.max(yM[1], trayM[1])] as const;
    return scatter(random, BLOCKS.names.length, { xM, yM: across }, 0.085).map((at) => ({
      ...at,
      zM: BLOCK_M / 2,
    }));
  },
  score: (view) => score(view, BLOCKS),
  expert: (view) => build(view, BLOCKS),
};

const CUPS: Tower = {
  names: ['red', 'yellow', 'blue'],
  heightM: CUP_HEIGHT_M,
  sidewaysM: 0.008,
  openM: 0.065,
};

/** Scene 6. */
export const bentoCups: Task = {
  name: 'bento-cups',
  title: 'Cup Stacking',
  instruction: 'Stack the cups: yellow on red, blue on yellow. Then let go.',
  limitS: 60,
  bodies: () => [
    cup('red', COLOURS.red, 'down'),
    cup('yellow', COLOURS.yellow, 'down'),
    cup('blue', COLOURS.blue, 'down'),
  ],
  start({ xM, yM, trayM }, random) {
    const across = [Math.min(yM[0], trayM[1]), Math.max(yM[1], trayM[1])] as const;
    return scatter(random, 3, { xM, yM: across }, 0.13).map((at) => ({ ...at, zM: DOWN_M, yawRad: 0 }));
  },
  score: (view) => score(view, CUPS),
  expert: (view) => build(view, CUPS),
};
