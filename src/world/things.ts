import { COLOURS, type Shape, type WorldBody } from './shape.ts';

export const CUBE_M = 0.04;
const CUBE_KG = 0.064;
export const CUBES = ['red', 'green', 'blue'] as const;

export const cube = (name: (typeof CUBES)[number]): WorldBody => ({
  name,
  massKg: CUBE_KG,
  shapes: [
    { kind: 'box', sizeM: [CUBE_M / 2, CUBE_M / 2, CUBE_M / 2], atM: [0, 0, 0], colour: COLOURS[name] },
  ],
});

const WALL_HALF_M = 0.003;
const WALL_HEIGHT_M = 0.04;
const FLOOR_HALF_M = 0.002;

/** A square tray with low walls, half as wide inside as `halfM`. */
export function tray(name: string, halfM: number): WorldBody {
  const wall = (x: number, y: number, halfX: number, halfY: number): Shape => ({
    kind: 'box',
    sizeM: [halfX, halfY, WALL_HEIGHT_M / 2],
    atM: [x, y, WALL_HEIGHT_M / 2],
    colour: COLOURS.tray,
  });
  const outer = halfM + WALL_HALF_M;
  return {
    name,
    shapes: [
      { kind: 'box', sizeM: [halfM, halfM, FLOOR_HALF_M], atM: [0, 0, FLOOR_HALF_M], colour: COLOURS.tray },
      wall(outer, 0, WALL_HALF_M, outer + WALL_HALF_M),
      wall(-outer, 0, WALL_HALF_M, outer + WALL_HALF_M),
      wall(0, outer, halfM, WALL_HALF_M),
      wall(0, -outer, halfM, WALL_HALF_M),
    ],
  };
}
