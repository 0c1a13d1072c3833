import { type ArmFacts, type Layout, UPRIGHT } from '../arm-facts.ts';
import { PARTNER, PARTNER_MODEL, partnerBodies } from '../partner-arm.ts';
import { seeGripper } from '../seen-gripper.ts';
import { COLOURS, type WorldBody } from '../shape.ts';
import { go, grip, type Hand, nearestYaw, WIDE_M } from '../skills.ts';
import { AT_REST, type Move, type Partner, type Seen, scatter, type Task, type WorldView } from '../task.ts';
import { tray } from '../things.ts';

const BATON_HALF_M = [0.1, 0.01, 0.012] as const;
/** Where each arm takes it, from its middle. */
const END_M = 0.07;
/** Pads around it while it lies on the table. */
const GRASP_M = 0.019;
const GIVE_M = 0.13;
const HIGH_M = 0.2;
const TRAY_HALF_M = 0.13;
/** The second arm takes a baton that is raised, nearly at rest, and this close to where it waits. */
const RAISED_M = 0.07;
const CLOSE_M = 0.07;
const STILL = 0.15;
const HELD_M = 0.03;
/** Its middle on the tray's floor, with a little to spare. */
const LYING_M = 0.022;
const CAREFUL_M = 0.004;

/** Where the baton's middle is handed over, and the tray behind it, in the world. */
const giveM = ({ xM, yM, trayM }: Layout): readonly [number, number] => [
  (xM[0] + xM[1]) / 2,
  (yM[1] + trayM[1]) / 2,
];
const goalM = (layout: Layout): readonly [number, number] => {
  const [x, y] = giveM(layout);
  return [x + END_M, y + 0.2 * Math.sign(layout.trayM[1])];
};

const baton: WorldBody = {
  name: 'baton',
  massKg: 0.06,
  shapes: [{ kind: 'box', sizeM: BATON_HALF_M, atM: [0, 0, 0], colour: COLOURS.yellow }],
};

/** An end of the baton: −1 the one of the first arm, 1 that of the second. */
function endOf({ xM, yM, zM, yawRad }: Seen, side: number): [number, number, number] {
  const ahead = Math.cos(yawRad) < 0 ? -side : side;
  return [xM + ahead * END_M * Math.cos(yawRad), yM + ahead * END_M * Math.sin(yawRad), zM];
}

function partnerFacts(layout: Layout): ArmFacts {
  const [x, y] = giveM(layout);
  const [goalX] = goalM(layout);
  return {
    massKg: 9,
    torqueNm: [50, 50, 28, 12, 12, 12],
    mountRpyRad: UPRIGHT,
    layout: {
      baseM: [x + END_M + 0.32, y, 0],
      xM: [x + END_M, x + END_M],
      yM: [y, y],
      trayM: [goalX, y],
      yawRad: 0,
    },
  };
}

const partner: Partner = {
  model: PARTNER_MODEL,
  facts: partnerFacts,
  *script(own, giver, layout) {
    const [x, y] = giveM(layout);
    const [goalX, goalY] = goalM(layout);
    for (;;) {
      yield grip(WIDE_M, 0);
      yield go([x + END_M, y, HIGH_M], 0, 0.3);
      yield* untilTrue(() => isOffered(own.see('baton'), x, y));
      const seen = own.see('baton');
      const yaw = nearestHalfTurn(seen.yawRad);
      const [endX, endY, endZ] = endOf(seen, 1);
      yield go([endX, endY, endZ], yaw, 0.2, 0.15);
      yield grip(0, 0.4);
      yield* untilTrue(() => giver.openingM > HELD_M + 0.01);
      yield go([endX, endY, HIGH_M], yaw, 0.15, 0.1);
      yield go([goalX, goalY, HIGH_M], 0, 0.25, 0.1);
      yield go([goalX + CAREFUL_M, goalY, GRASP_M + 0.012], 0, 0.15, 0.15);
      yield grip(WIDE_M, 0.3);
      yield go([goalX, goalY, HIGH_M], 0, 0.25, 0.1);
    }
  },
};

function* untilTrue(holds: () => boolean): Generator<Move, void, void> {
  while (!holds()) yield { kind: 'wait', waitS: 0.05 };
}

function isOffered(seen: Seen, x: number, y: number): boolean {
  const [endX, endY] = endOf(seen, 1);
  const awayM = Math.hypot(endX - x - END_M, endY - y);
  return seen.zM > RAISED_M && seen.speed < STILL && awayM < CLOSE_M && seen.upright > 0.9;
}

const nearestHalfTurn = (yawRad: number): number => Math.atan(Math.tan(yawRad));

/** The second arm's pads have closed on the baton's end. */
function isTaken(view: WorldView): boolean {
  const { xM, yM, openM } = seeGripper(view, PARTNER);
  const [x, y] = endOf(view.see('baton'), 1);
  return openM < HELD_M && Math.hypot(xM - x, yM - y) < 0.03;
}

export const handover: Task = {
  name: 'handover',
  title: 'A baton to the other arm',
  instruction:
    'Lift the baton by its near end, hold it out level to the other arm, and let go once it has taken it. It puts it into the tray.',
  limitS: 60,
  partner,
  bodies: () => [tray('tray', TRAY_HALF_M), baton, ...partnerBodies()],
  start(layout, random) {
    const [at] = scatter(random, 1, layout, 0);
    const [goalX, goalY] = goalM(layout);
    const [x, y] = giveM(layout);
    // Its far end stays out of the tray.
    const middle = { xM: (at!.xM + x) / 2, yM: Math.min(at!.yM, y) };
    return [
      { xM: goalX - END_M, yM: goalY, zM: 0, yawRad: 0 },
      { ...middle, zM: BATON_HALF_M[2], yawRad: at!.yawRad * 0.7 },
    ];
  },
  score(view) {
    const at = view.see('tray');
    const { xM, yM, zM, speed } = view.see('baton');
    const isInside = Math.abs(xM - at.xM) < TRAY_HALF_M && Math.abs(yM - at.yM) < TRAY_HALF_M && zM < LYING_M;
    if (isInside)
      return speed < AT_REST && view.openingM > HELD_M && seeGripper(view, PARTNER).openM > HELD_M ? 1 : 0.9;
    if (zM < RAISED_M) return 0;
    return isTaken(view) ? 0.6 : 0.3;
  },
  *expert(view) {
    const hand: Hand = { yawRad: view.gripYawRad };
    const near = (zM: number, speedMS: number, restS = 0): Move => {
      const [x, y] = endOf(view.see('baton'), -1);
      return go([x, y, zM], hand.yawRad, speedMS, restS, 0.005);
    };
    hand.yawRad = nearestYaw(nearestHalfTurn(view.see('baton').yawRad), 0);
    yield grip(WIDE_M, 0);
    yield near(0.1, 0.4);
    yield near(GRASP_M, 0.2, 0.1);
    yield grip(0, 0.4);
    yield near(0.1, 0.25);
    const { xM, yM, yawRad } = view.see('tray');
    hand.yawRad = yawRad;
    const give = go([xM - END_M, yM - 0.2 * Math.sign(yM), GIVE_M], 0, 0.3, 0.2, 0.02);
    yield give;
    for (let i = 0; i < 40 && !isTaken(view); i++) yield give;
    yield grip(WIDE_M, 0.3);
    yield go([xM - END_M, yM - 0.2 * Math.sign(yM), HIGH_M], 0, 0.3, 4, 0.02);
  },
};
