import { COLOURS, type Quaternion, type Shape, type WorldBody } from './shape.ts';

/** The things of the virtual Bento arm's scenes. Cups are smaller than there: the world's gripper opens 80 mm. */
export const BALL_RADIUS_M = 0.02;
const BALL_KG = 0.02;
export const CUP_HEIGHT_M = 0.06;
const CUP_RADIUS_M = 0.03;
const WALL_M = 0.003;
const CUP_KG = 0.05;
const STAVES = 12;
/** Points that a cup stands on, at its rim and under its bottom: an edge would cost milliseconds of contacts per step. */
const POINTS = 6;
const FOOT_PLACE_M = 0.0135;
const FOOT_RADIUS_M = 0.003;
const FOOT_HEIGHT_M = 0.004;
export const BLOCK_M = 0.0254;
const BLOCK_KG = 0.02;

export const ball: WorldBody = {
  name: 'ball',
  massKg: BALL_KG,
  shapes: [{ kind: 'sphere', sizeM: [BALL_RADIUS_M], atM: [0, 0, 0], colour: COLOURS.yellow }],
};

function ring(
  count: number,
  radiusM: number,
  zM: number,
  shape: Pick<Shape, 'kind' | 'sizeM' | 'colour'>,
): Shape[] {
  return Array.from({ length: count }, (_, i) => {
    const rad = (2 * Math.PI * (i + 0.5)) / count;
    const quatWxyz: Quaternion = [Math.cos(rad / 2), 0, 0, Math.sin(rad / 2)];
    return { ...shape, atM: [radiusM * Math.cos(rad), radiusM * Math.sin(rad), zM], quatWxyz };
  });
}

/** Origin at half its height. `facing` is where it opens. */
export function cup(name: string, colour: string, facing: 'up' | 'down'): WorldBody {
  const sign = facing === 'up' ? 1 : -1;
  const [wall, half] = [WALL_M / 2, CUP_HEIGHT_M / 2];
  const middleM = CUP_RADIUS_M - wall;
  const stave = [wall, Math.tan(Math.PI / STAVES) * CUP_RADIUS_M, half - wall / 2];
  const point = (radiusM: number) => ({ kind: 'sphere' as const, sizeM: [radiusM], colour });
  const footZ = sign * (-half - FOOT_HEIGHT_M + FOOT_RADIUS_M);
  return {
    name,
    massKg: CUP_KG,
    shapes: [
      ...ring(STAVES, middleM, (-sign * wall) / 2, { kind: 'box', sizeM: stave, colour }),
      { kind: 'cylinder', sizeM: [CUP_RADIUS_M - WALL_M, wall], atM: [0, 0, sign * (wall - half)], colour },
      ...ring(POINTS, middleM, sign * (half - wall), point(wall)),
      ...ring(POINTS, FOOT_PLACE_M, footZ, point(FOOT_RADIUS_M)),
    ],
  };
}

/** Heights of a cup's middle on the table, and of a ball in it or on it. */
export const UP_M = FOOT_HEIGHT_M + CUP_HEIGHT_M / 2;
export const DOWN_M = CUP_HEIGHT_M / 2;
export const BALL_IN_CUP_M = FOOT_HEIGHT_M + WALL_M + BALL_RADIUS_M;
/** It lies among the feet. */
export const BALL_ON_CUP_M = CUP_HEIGHT_M + BALL_RADIUS_M + 0.0002;

export const block = (name: string, colour: string): WorldBody => ({
  name,
  massKg: BLOCK_KG,
  shapes: [{ kind: 'box', sizeM: [BLOCK_M / 2, BLOCK_M / 2, BLOCK_M / 2], atM: [0, 0, 0], colour }],
});

/** A round mat on the table; nothing touches it. */
export const mat = (name: string): WorldBody => ({
  name,
  shapes: [
    {
      kind: 'cylinder',
      sizeM: [0.045, 0.0004],
      atM: [0, 0, 0.0012],
      colour: COLOURS.tray,
      isDrawnOnly: true,
    },
    { kind: 'cylinder', sizeM: [0.03, 0.0004], atM: [0, 0, 0.0016], colour: COLOURS.arm, isDrawnOnly: true },
  ],
});
