export type Vector = readonly [number, number, number];
export type Quaternion = readonly [w: number, x: number, y: number, z: number];

/** Half lengths of a box; radius and half length of a cylinder or capsule along z; radius of a sphere. */
export interface Shape {
  kind: 'box' | 'cylinder' | 'capsule' | 'sphere';
  sizeM: readonly number[];
  atM: Vector;
  quatWxyz?: Quaternion;
  /** #rrggbb */
  colour: string;
  /** Nothing touches it: a mark. */
  isDrawnOnly?: true;
}

/** A thing in the world. Fixed bodies stand where the task's start puts them. */
export interface WorldBody {
  name: string;
  /** Moves freely, with this mass; fixed if absent. */
  massKg?: number;
  /** Slides along an axis of the fixed body that it is part of: a drawer. */
  slide?: { in: string; axis: Vector; rangeM: readonly [number, number]; frictionN: number };
  /** A link of an arm, by its name in the scene: that arm moves it. */
  isPartner?: true;
  shapes: readonly Shape[];
}

export const isFree = (body: WorldBody): boolean => body.massKg !== undefined && body.slide === undefined;
/** Stands where the task's start puts it, or starts there. */
export const hasPlace = (body: WorldBody): boolean => body.slide === undefined && body.isPartner !== true;

/** Position, then the quaternion w, x, y, z. */
export const POSE_SIZE = 7;

/** Numbers in a scene are rounded, so that another JavaScript engine's sine gives the same scene. */
export const text = (values: Iterable<number>): string =>
  Array.from(values, (value) => String(Number(value.toFixed(8)) || 0)).join(' ');

/** A shape as MJCF, with further attributes. */
export function shapeXml({ kind, sizeM, atM, quatWxyz, isDrawnOnly }: Shape, more: string): string {
  const turn = quatWxyz === undefined ? '' : ` quat="${text(quatWxyz)}"`;
  const touch = isDrawnOnly ? ' contype="0" conaffinity="0" mass="0"' : '';
  return `<geom type="${kind}" size="${text(sizeM)}" pos="${text(atM)}"${turn}${touch} ${more}/>`;
}

export const COLOURS = {
  red: '#d94f45',
  green: '#3fa66b',
  blue: '#3b7dd8',
  yellow: '#e5b93c',
  tray: '#4a6480',
  board: '#4d5566',
  arm: '#d9dde2',
  dark: '#33363c',
} as const;
