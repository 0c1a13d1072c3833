import type { Solid } from './solid.ts';

/** Pixels along each side, for pictures as a person looks at them. */
const SIZE = 384;
/** What the map covers: this far around its middle. */
const REACH_M = 0.45;
/** Towards the light. */
const LENGTH = Math.hypot(0.35, -0.45, 0.82);
export const LIGHT = [0.35 / LENGTH, -0.45 / LENGTH, 0.82 / LENGTH] as const;

/** The map's two axes; the first has no y. */
const U = [LIGHT[2] / Math.hypot(LIGHT[0], LIGHT[2]), -LIGHT[0] / Math.hypot(LIGHT[0], LIGHT[2])] as const;
const V = [LIGHT[1] * U[1], LIGHT[2] * U[0] - LIGHT[0] * U[1], -LIGHT[1] * U[0]] as const;

/** What the light reaches, as depths seen from it; parallel rays. Drawing does not allocate. */
export class ShadowMap {
  readonly #size: number;
  readonly #depths: Float32Array;
  /** Pixels per metre along the axes. */
  readonly #u: readonly [number, number];
  readonly #v: readonly [number, number, number];
  readonly #points = new Float32Array(3 * 4096);
  /** Pixel of the world's origin. */
  readonly #column: number;
  readonly #row: number;

  constructor([x, y, z]: readonly [number, number, number], size = SIZE) {
    const perM = size / (2 * REACH_M);
    this.#size = size;
    this.#depths = new Float32Array(size * size);
    this.#u = [perM * U[0], perM * U[1]];
    this.#v = [perM * V[0], perM * V[1], perM * V[2]];
    this.#column = size / 2 - this.#u[0] * x - this.#u[1] * z;
    this.#row = size / 2 - this.#v[0] * x - this.#v[1] * y - this.#v[2] * z;
  }

  draw(solids: readonly Solid[]): void {
    this.#depths.fill(Number.NEGATIVE_INFINITY);
    for (const solid of solids) {
      this.#place(solid);
      const { triangles } = solid.mesh;
      for (let t = 0; t < triangles.length; t += 3)
        this.#fill(3 * triangles[t]!, 3 * triangles[t + 1]!, 3 * triangles[t + 2]!);
    }
  }

  /** Whether something lies between a point and the light; `biasM` keeps a surface from shading itself. */
  isDark(x: number, y: number, z: number, biasM: number): boolean {
    const size = this.#size;
    const u = this.#u;
    const v = this.#v;
    const column = u[0] * x + u[1] * z + this.#column;
    const row = v[0] * x + v[1] * y + v[2] * z + this.#row;
    if (!(column >= 0 && row >= 0 && column < size && row < size)) return false;
    const depth = this.#depths[(row | 0) * size + (column | 0)]!;
    return depth > LIGHT[0] * x + LIGHT[1] * y + LIGHT[2] * z + biasM;
  }

  #place({ mesh: { vertices }, matrix: m, positionM: p }: Solid): void {
    const out = this.#points;
    const u = this.#u;
    const v = this.#v;
    const column = this.#column;
    const row = this.#row;
    for (let i = 0; i < vertices.length; i += 3) {
      const a = vertices[i]!;
      const b = vertices[i + 1]!;
      const c = vertices[i + 2]!;
      const x = m[0]! * a + m[1]! * b + m[2]! * c + p[0]!;
      const y = m[3]! * a + m[4]! * b + m[5]! * c + p[1]!;
      const z = m[6]! * a + m[7]! * b + m[8]! * c + p[2]!;
      out[i] = u[0] * x + u[1] * z + column;
      out[i + 1] = v[0] * x + v[1] * y + v[2] * z + row;
      out[i + 2] = LIGHT[0] * x + LIGHT[1] * y + LIGHT[2] * z;
    }
  }

  #fill(a: number, b: number, c: number): void {
    const s = this.#points;
    const depths = this.#depths;
    const size = this.#size;
    const ax = s[a]!;
    const ay = s[a + 1]!;
    const bx = s[b]!;
    const by = s[b + 1]!;
    const cx = s[c]!;
    const cy = s[c + 1]!;
    const az = s[a + 2]!;
    const bz = s[b + 2]!;
    const cz = s[c + 2]!;
    const area = (bx - ax) * (cy - ay) - (cx - ax) * (by - ay);
    // The far side of a closed solid adds nothing.
    if (area <= 0) return;
    const left = Math.max(0, Math.floor(Math.min(ax, bx, cx)));
    const right = Math.min(size - 1, Math.ceil(Math.max(ax, bx, cx)));
    const top = Math.max(0, Math.floor(Math.min(ay, by, cy)));
    const bottom = Math.min(size - 1, Math.ceil(Math.max(ay, by, cy)));
    const stepA = (by - cy) / area;
    const stepB = (cy - ay) / area;
    for (let row = top; row <= bottom; row++) {
      const y = row + 0.5;
      const x = left + 0.5;
      let wa = ((bx - x) * (cy - y) - (cx - x) * (by - y)) / area;
      let wb = ((cx - x) * (ay - y) - (ax - x) * (cy - y)) / area;
      for (let column = left; column <= right; column++, wa += stepA, wb += stepB) {
        const wc = 1 - wa - wb;
        if (wa < 0 || wb < 0 || wc < 0) continue;
        const depth = wa * az + wb * bz + wc * cz;
        const at = row * size + column;
        if (depth > depths[at]!) depths[at] = depth;
      }
    }
  }
}
