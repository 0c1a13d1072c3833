import type { Body, Shape, Vector } from './bento-view.ts';
import { ARM } from './bodies.ts';

const BALL_RADIUS_M = 0.0225;
const BALL_KG = 0.02;
const CUP_RADIUS_M = 0.03875;
const CUP_HEIGHT_M = 0.097;
const CUP_WALL_M = 0.003;
const CUP_KG = 0.05;
const CUP_STAVES = 12;
/** Feet under a cup; on an overturned cup they keep a ball from rolling off. */
const FEET = 6;
const FOOT_PLACE_M = 0.016;
const FOOT_RADIUS_M = 0.003;
const FOOT_HEIGHT_M = 0.004;
const BLOCK_M = 0.0254;
const BLOCK_KG = 0.012;
/** The shoulder axis; objects are placed around it within reach. */
const SHOULDER_X_M = 0.1006;
/** Where the fingers of a level arm meet, from the shoulder's axis. */
const GRIP_M = 0.37;

/** A place on the table by direction (left is positive) and distance from the shoulder's axis. */
function around(directionDeg: number, radiusM: number, zM: number): Vector {
  const rad = (directionDeg * Math.PI) / 180;
  return [SHOULDER_X_M + radiusM * Math.cos(rad), radiusM * Math.sin(rad), zM];
}

const ball = (atM: Vector, colour: string): Body => ({
  name: 'ball',
  atM,
  free: true,
  shapes: [{ kind: 'sphere', sizeM: [BALL_RADIUS_M], atM: [0, 0, 0], colour, massKg: BALL_KG }],
});

/** This many shapes around a cup's axis. */
function ring(
  count: number,
  radiusM: number,
  zM: number,
  shape: Pick<Shape, 'kind' | 'sizeM' | 'massKg'>,
): Shape[] {
  return Array.from({ length: count }, (_, i) => {
    const rad = (2 * Math.PI * (i + 0.5)) / count;
    const atM: Vector = [radiusM * Math.cos(rad), radiusM * Math.sin(rad), zM];
    return { ...shape, atM, eulerRad: [0, 0, rad], colour: '#000000', only: 'felt' };
  });
}

/**
 * Origin at half height. Staves form the wall. It stands on points, at rim and bottom: a wall standing on its
 * whole edge costs milliseconds of contacts per step.
 */
function cup(name: string, atM: Vector, colour: string, facing: 'up' | 'down'): Body {
  const sign = facing === 'up' ? 1 : -1;
  const wall = CUP_WALL_M / 2;
  const stave: Vector = [wall, Math.tan(Math.PI / CUP_STAVES) * CUP_RADIUS_M, CUP_HEIGHT_M / 2 - wall / 2];
  const middleM = CUP_RADIUS_M - wall;
  const rimZ = sign * (CUP_HEIGHT_M / 2 - wall);
  const footZ = sign * (-CUP_HEIGHT_M / 2 - FOOT_HEIGHT_M + FOOT_RADIUS_M);
  const point = (radiusM: number) => ({ kind: 'sphere' as const, sizeM: [radiusM], massKg: CUP_KG * 0.01 });
  return {
    name,
    atM,
    free: true,
    shapes: [
      {
        kind: 'cup',
        sizeM: [CUP_RADIUS_M, CUP_HEIGHT_M, CUP_WALL_M],
        atM: [0, 0, 0],
        eulerRad: [facing === 'up' ? 0 : Math.PI, 0, 0],
        colour,
        only: 'drawn',
      },
      ...ring(CUP_STAVES, middleM, (-sign * wall) / 2, {
        kind: 'box',
        sizeM: stave,
        massKg: (CUP_KG * 0.7) / CUP_STAVES,
      }),
      {
        kind: 'cylinder',
        sizeM: [CUP_RADIUS_M - CUP_WALL_M, wall],
        atM: [0, 0, sign * (-CUP_HEIGHT_M / 2 + wall)],
        colour,
        only: 'felt',
        massKg: CUP_KG * 0.18,
      },
      ...ring(FEET, middleM, rimZ, point(wall)),
      ...ring(FEET, FOOT_PLACE_M, footZ, point(FOOT_RADIUS_M)),
    ],
  };
}

/** Height of a cup's centre on the table. */
const UP_Z = FOOT_HEIGHT_M + CUP_HEIGHT_M / 2;
const DOWN_Z = CUP_HEIGHT_M / 2;
/** A ball on an overturned cup, held in place by its feet. */
const ON_CUP_Z = CUP_HEIGHT_M + BALL_RADIUS_M + 0.0002;

const block = (letter: string, atM: Vector, turnRad: number, colour: string): Body => ({
  name: `block_${letter.toLowerCase()}`,
  atM,
  free: true,
  turnRad,
  shapes: [
    {
      kind: 'box',
      sizeM: [BLOCK_M / 2, BLOCK_M / 2, BLOCK_M / 2],
      atM: [0, 0, 0],
      colour,
      label: letter,
      massKg: BLOCK_KG,
    },
  ],
});

const mat: Body = {
  name: 'mat',
  atM: [SHOULDER_X_M + 0.37, 0, 0],
  shapes: [
    { kind: 'cylinder', sizeM: [0.06, 0.0004], atM: [0, 0, 0.0012], colour: '#2f6f9f', only: 'drawn' },
    { kind: 'cylinder', sizeM: [0.045, 0.0004], atM: [0, 0, 0.0016], colour: '#e9e4d8', only: 'drawn' },
  ],
};

const RED = '#d94f45';
const BLUE = '#3b7dd8';
const GREEN = '#3fa66b';
const YELLOW = '#e5b93c';
const PURPLE = '#8a63c9';
const ORANGE = '#ef8f3a';

function blocks(): Body[] {
  const colours = [BLUE, GREEN, PURPLE, '#35a7b5', YELLOW];
  return [...'BENTO'].map((letter, i) => {
    const directionDeg = 36 - 18 * i;
    const at = around(directionDeg, 0.352, BLOCK_M / 2);
    // Letters are upright when looking along the arm.
    return block(letter, at, (directionDeg * Math.PI) / 180 - Math.PI / 2, colours[i]!);
  });
}

/** Objects on the table, by scene index; start-up and the first scene are empty. */
const OBJECTS: readonly (() => readonly Body[])[] = [
  () => [],
  () => [],
  () => [
    cup('cup_down', around(26, GRIP_M, DOWN_Z), RED, 'down'),
    ball(around(26, GRIP_M, ON_CUP_Z), ORANGE),
    cup('cup_up', around(-26, GRIP_M, UP_Z), BLUE, 'up'),
  ],
  () => [
    cup('cup_full', around(24, 0.37, UP_Z), RED, 'up'),
    ball(around(24, 0.37, FOOT_HEIGHT_M + CUP_WALL_M + BALL_RADIUS_M + 0.0005), ORANGE),
    cup('cup_empty', around(-24, 0.37, UP_Z), BLUE, 'up'),
  ],
  () => [
    mat,
    cup('cup_left', around(30, GRIP_M, DOWN_Z), RED, 'down'),
    ball(around(30, GRIP_M, ON_CUP_Z), ORANGE),
    cup('cup_right', around(-30, GRIP_M, DOWN_Z), BLUE, 'down'),
  ],
  () => blocks(),
  () => [
    mat,
    cup('cup_left', around(34, 0.37, DOWN_Z), RED, 'down'),
    cup('cup_middle', around(0, 0.37, DOWN_Z), YELLOW, 'down'),
    cup('cup_right', around(-34, 0.37, DOWN_Z), BLUE, 'down'),
  ],
];

/** Everything in a scene, parents before children. */
export const sceneBodies = (index: number): readonly Body[] => [...ARM, ...(OBJECTS[index] ?? OBJECTS[0]!)()];
