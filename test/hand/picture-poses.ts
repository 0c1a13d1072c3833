import { createRobotHandPoints } from '../../src/geometry/hand-points.ts';
import { HAND_NUMBERS } from '../../src/hand/points.ts';
import { createRetargeter, retargetConfig } from '../../src/mapping/retarget/retargeter.ts';
import { loadModel } from '../../src/rig/robot-models.ts';
import { body, pinch, points, SHAPES, type Shape } from './people.ts';

/** A person's poses beside the robot's, as one drawing: each pose from the palm's side and from the thumb's. */
const who = body('mean', 1);
const FINGERS = ['index', 'middle', 'ring', 'little'];
export const PICTURE_POSES: Readonly<Record<string, Shape>> = {
  ...(({ open, fist, point, spread, count1, count2, count3, count4, count5 }) => ({
    open,
    fist,
    point,
    spread,
    'count 1': count1,
    'count 2': count2,
    'count 3': count3,
    'count 4': count4,
    'count 5': count5,
  }))(SHAPES),
  ...Object.fromEntries(FINGERS.map((name, f) => [`pinch ${name}`, pinch(who, f, 0.012)])),
};

const [WIDTH, HEIGHT, COLUMNS] = [470, 220, 3];
const PX_PER_M = 800;
const BONES = [0, 4, 8, 12, 16].flatMap((f) => [
  [0, f + 1],
  [f + 1, f + 2],
  [f + 2, f + 3],
  [f + 3, f + 4],
]);

/** Points of the robot in the axes of its palm after a second of this pose. */
function robotPoints(model: string, shape: Shape): Float64Array {
  const robot = loadModel(model);
  const hands = createRetargeter(robot, retargetConfig.parse({}));
  const q = new Float64Array(robot.joints.length);
  for (let i = 0; i < 72; i++) hands.retarget(points(who, shape), 21, q);
  const out = new Float64Array(HAND_NUMBERS);
  createRobotHandPoints(robot)!.fill(q, out);
  return out;
}

/** The person's hand, which lies palm down with its fingers along −z, in the same axes. */
const personPoints = (shape: Shape): Float64Array => {
  const p = points(who, shape);
  return Float64Array.from(p, (_, i) => [-p[i]!, -p[i + 1]!, -p[i - 1]!][i % 3]!);
};

export function picture(model: string): string {
  const names = Object.keys(PICTURE_POSES);
  const rows = Math.ceil(names.length / COLUMNS);
  const cells = names.map((name, i) => {
    const at = `translate(${(i % COLUMNS) * WIDTH} ${Math.floor(i / COLUMNS) * HEIGHT})`;
    const shape = PICTURE_POSES[name]!;
    const [person, robot] = [personPoints(shape), robotPoints(model, shape)];
    const views = [person, robot].flatMap((hand, h) =>
      [false, true].map((fromSide, v) =>
        drawing(hand, 85 + 215 * h + 100 * v, fromSide, h === 0 ? '#c2703d' : '#2f6fb3'),
      ),
    );
    return `<g transform="${at}"><text x="12" y="22">${name}</text>${views.join('')}</g>`;
  });
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${COLUMNS * WIDTH} ${rows * HEIGHT}" font-family="sans-serif" font-size="15">
<title>Poses of a person, and of the robot beside them</title>
<rect width="100%" height="100%" fill="#fff"/>
${cells.join('\n')}
</svg>
`;
}

/** Looking into the palm, thumb to the right; or from the thumb's side, palm to the right. */
function drawing(hand: Float64Array, atX: number, fromSide: boolean, colour: string): string {
  const x = (i: number) => (atX + PX_PER_M * hand[3 * i + (fromSide ? 2 : 0)]!).toFixed(1);
  const y = (i: number) => (HEIGHT - 30 - PX_PER_M * hand[3 * i + 1]!).toFixed(1);
  const lines = BONES.map(([a, b]) => `M${x(a!)} ${y(a!)}L${x(b!)} ${y(b!)}`).join('');
  const tips = [4, 8, 12, 16, 20].map(
    (i) => `<circle cx="${x(i)}" cy="${y(i)}" r="6" fill="${i === 4 ? '#333' : colour}"/>`,
  );
  return `<path d="${lines}" fill="none" stroke="${colour}" stroke-width="7" stroke-linecap="round" opacity="0.75"/>${tips.join('')}`;
}
