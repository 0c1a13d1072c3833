import type { Colour } from '../drawing.ts';

/** Triangles with outward normals, in the solid's own frame. Flat faces have no normals. */
export interface SolidMesh {
  readonly vertices: Float32Array;
  readonly triangles: Uint16Array;
  readonly normals: Float32Array | null;
}

/** A mesh somewhere in the scene: a row-major rotation and a position, both changed in place. */
export interface Solid {
  readonly mesh: SolidMesh;
  readonly colour: Colour;
  readonly matrix: Float64Array;
  readonly positionM: Float64Array;
}

export const solid = (mesh: SolidMesh, colour: Colour): Solid => ({
  mesh,
  colour,
  matrix: Float64Array.of(1, 0, 0, 0, 1, 0, 0, 0, 1),
  positionM: new Float64Array(3),
});

const AROUND = 16;
const CAP_RINGS = 4;

export function boxMesh(half: readonly number[]): SolidMesh {
  const vertices: number[] = [];
  const triangles: number[] = [];
  for (let axis = 0; axis < 3; axis++)
    for (const side of [1, -1]) {
      const first = vertices.length / 3;
      const [u, v] = [(axis + 1) % 3, (axis + 2) % 3];
      for (const [p, q] of [
        [-1, -1],
        [1, -1],
        [1, 1],
        [-1, 1],
      ] as const) {
        const at = [0, 0, 0];
        at[axis] = side * half[axis]!;
        at[u] = p * half[u]!;
        at[v] = q * half[v]!;
        vertices.push(...at);
      }
      const [b, d] = side > 0 ? [1, 3] : [3, 1];
      triangles.push(first, first + b, first + 2, first, first + 2, first + d);
    }
  return { vertices: Float32Array.from(vertices), triangles: Uint16Array.from(triangles), normals: null };
}

/** A surface of revolution about z, from rings of radius, height, and the direction of the normal. */
function revolved(rings: readonly { r: number; z: number; nr: number; nz: number }[]): SolidMesh {
  const vertices: number[] = [];
  const normals: number[] = [];
  const triangles: number[] = [];
  for (const { r, z, nr, nz } of rings)
    for (let i = 0; i < AROUND; i++) {
      const angle = (2 * Math.PI * i) / AROUND;
      vertices.push(r * Math.cos(angle), r * Math.sin(angle), z);
      normals.push(nr * Math.cos(angle), nr * Math.sin(angle), nz);
    }
  for (let ring = 0; ring + 1 < rings.length; ring++)
    for (let i = 0; i < AROUND; i++) {
      const j = (i + 1) % AROUND;
      const [low, high] = [ring * AROUND, (ring + 1) * AROUND];
      triangles.push(low + i, low + j, high + j, low + i, high + j, high + i);
    }
  return {
    vertices: Float32Array.from(vertices),
    triangles: Uint16Array.from(triangles),
    normals: Float32Array.from(normals),
  };
}

/** Along z; a half length of 0 is a sphere. */
export function capsuleMesh(radiusM: number, halfM: number): SolidMesh {
  const rings = [-1, 1].flatMap((end) =>
    Array.from({ length: CAP_RINGS + 1 }, (_, k) => {
      const angle = (Math.PI / 2) * (end < 0 ? k / CAP_RINGS - 1 : k / CAP_RINGS);
      const [nr, nz] = [Math.cos(angle), Math.sin(angle)];
      return { r: radiusM * nr, z: end * halfM + radiusM * nz, nr, nz };
    }),
  );
  return revolved(rings);
}

/** Along z. */
export const cylinderMesh = (radiusM: number, halfM: number): SolidMesh =>
  revolved([
    { r: 0, z: -halfM, nr: 0, nz: -1 },
    { r: radiusM, z: -halfM, nr: 0, nz: -1 },
    { r: radiusM, z: -halfM, nr: 1, nz: 0 },
    { r: radiusM, z: halfM, nr: 1, nz: 0 },
    { r: radiusM, z: halfM, nr: 0, nz: 1 },
    { r: 0, z: halfM, nr: 0, nz: 1 },
  ]);
