import { type Colour, emptyPicture } from '../drawing.ts';
import type { RgbPicture } from '../source.ts';
import { LIGHT, type ShadowMap } from './shadow-map.ts';
import type { Solid } from './solid.ts';
import type { View } from './view.ts';

const SKY: Colour = [206, 216, 226];
const FAR_FLOOR: Colour = [120, 126, 134];
const TABLE: readonly [Colour, Colour] = [
  [206, 182, 146],
  [196, 172, 138],
];
const TILES_PER_M = 10;
/** The table's edges, in the world. */
const EDGE = { left: -0.45, right: 0.45, near: -0.15, far: 0.75 };
const SHADE = 0.62;
/** Brightness of a surface in shade, and what full light adds. */
const AMBIENT = 0.45;
const DIFFUSE = 0.55;
const TABLE_BIAS_M = 0.004;
const SOLID_BIAS_M = 0.006;
const NEAR_M = 0.01;
const MAX_MM = 65_535;

/** Draws solids and a table with a depth buffer and one light with shadows. Drawing does not allocate. */
export class SolidCanvas {
  readonly picture: RgbPicture;
  readonly #shadows: ShadowMap;
  /** 1 / distance along the view; 0: nothing there. */
  readonly #nearness: Float32Array;
  readonly #screen = new Float32Array(3 * 4096);
  readonly #world = new Float32Array(3 * 4096);
  readonly #light = new Float32Array(4096);

  constructor(widthPx: number, heightPx: number, shadows: ShadowMap) {
    this.picture = emptyPicture(widthPx, heightPx);
    this.#nearness = new Float32Array(widthPx * heightPx);
    this.#shadows = shadows;
  }

  /** With `hasShadows`, the shadow map already shows these solids. */
  draw(view: View, solids: readonly Solid[], hasShadows = false): RgbPicture {
    if (!hasShadows) this.#shadows.draw(solids);
    this.#drawTable(view);
    for (const solid of solids) this.#drawSolid(view, solid);
    return this.picture;
  }

  /** Fills the distances of the picture drawn last; 0: nothing there, or too far. */
  depth(outMm: Uint16Array): void {
    for (let at = 0; at < outMm.length; at++) {
      const depthMm = this.#nearness[at] === 0 ? 0 : 1000 / this.#nearness[at]!;
      outMm[at] = depthMm > MAX_MM ? 0 : Math.round(depthMm);
    }
  }

  #drawTable({ axes, eyeM, focalPx, centreX, centreY }: View): void {
    const { pixels, widthPx, heightPx } = this.picture;
    const nearness = this.#nearness;
    const shadows = this.#shadows;
    const [eyeX, eyeY, eyeZ] = [eyeM[0]!, eyeM[1]!, eyeM[2]!];
    const [ux, uy, uz] = [axes[0]! / focalPx, axes[1]! / focalPx, axes[2]! / focalPx];
    for (let row = 0, at = 0; row < heightPx; row++) {
      const v = (row + 0.5 - centreY) / focalPx;
      const rowX = axes[3]! * v + axes[6]! + (0.5 - centreX) * ux;
      const rowY = axes[4]! * v + axes[7]! + (0.5 - centreX) * uy;
      const rowZ = axes[5]! * v + axes[8]! + (0.5 - centreX) * uz;
      for (let column = 0; column < widthPx; column++, at++) {
        const down = rowZ + column * uz;
        const reach = down < -1e-4 ? -eyeZ / down : 0;
        const x = eyeX + reach * (rowX + column * ux);
        const y = eyeY + reach * (rowY + column * uy);
        const isTable = reach > 0 && x > EDGE.near && x < EDGE.far && y > EDGE.left && y < EDGE.right;
        nearness[at] = isTable ? 1 / reach : 0;
        const odd = (Math.floor(x * TILES_PER_M) + Math.floor(y * TILES_PER_M)) & 1;
        const colour = isTable ? TABLE[odd]! : reach > 0 ? FAR_FLOOR : SKY;
        const tone = isTable && shadows.isDark(x, y, 0, TABLE_BIAS_M) ? SHADE : 1;
        pixels[3 * at] = colour[0] * tone;
        pixels[3 * at + 1] = colour[1] * tone;
        pixels[3 * at + 2] = colour[2] * tone;
      }
    }
  }

  #drawSolid(view: View, solid: Solid): void {
    this.#place(view, solid);
    const { triangles, normals } = solid.mesh;
    const s = this.#screen;
    for (let t = 0; t < triangles.length; t += 3) {
      // Seen from outside, y points down: the order turns.
      const a = triangles[t]!;
      const b = triangles[t + 2]!;
      const c = triangles[t + 1]!;
      // A triangle that reaches behind the camera is left out.
      if (s[3 * a + 2]! < 0 || s[3 * b + 2]! < 0 || s[3 * c + 2]! < 0) continue;
      if (normals === null) this.#lightFlat(a, b, c);
      this.#fill(view, solid.colour, a, b, c);
    }
  }

  /** Vertices in the world, on the picture with their nearness (−1 behind the camera), and their light. */
  #place({ axes, eyeM, focalPx, centreX, centreY }: View, { mesh, matrix: m, positionM: p }: Solid): void {
    const { vertices, normals } = mesh;
    const [world, screen] = [this.#world, this.#screen];
    for (let i = 0; i < vertices.length; i += 3) {
      const a = vertices[i]!;
      const b = vertices[i + 1]!;
      const c = vertices[i + 2]!;
      const x = m[0]! * a + m[1]! * b + m[2]! * c + p[0]!;
      const y = m[3]! * a + m[4]! * b + m[5]! * c + p[1]!;
      const z = m[6]! * a + m[7]! * b + m[8]! * c + p[2]!;
      world[i] = x;
      world[i + 1] = y;
      world[i + 2] = z;
      const dx = x - eyeM[0]!;
      const dy = y - eyeM[1]!;
      const dz = z - eyeM[2]!;
      const ahead = axes[6]! * dx + axes[7]! * dy + axes[8]! * dz;
      const nearness = ahead > NEAR_M ? 1 / ahead : -1;
      screen[i] = centreX + focalPx * (axes[0]! * dx + axes[1]! * dy + axes[2]! * dz) * nearness;
      screen[i + 1] = centreY + focalPx * (axes[3]! * dx + axes[4]! * dy + axes[5]! * dz) * nearness;
      screen[i + 2] = nearness;
      if (normals === null) continue;
      const nx = m[0]! * normals[i]! + m[1]! * normals[i + 1]! + m[2]! * normals[i + 2]!;
      const ny = m[3]! * normals[i]! + m[4]! * normals[i + 1]! + m[5]! * normals[i + 2]!;
      const nz = m[6]! * normals[i]! + m[7]! * normals[i + 1]! + m[8]! * normals[i + 2]!;
      this.#light[i / 3] = nx * LIGHT[0] + ny * LIGHT[1] + nz * LIGHT[2];
    }
  }

  #lightFlat(a: number, b: number, c: number): void {
    const w = this.#world;
    const ex = w[3 * b]! - w[3 * a]!;
    const ey = w[3 * b + 1]! - w[3 * a + 1]!;
    const ez = w[3 * b + 2]! - w[3 * a + 2]!;
    const fx = w[3 * c]! - w[3 * a]!;
    const fy = w[3 * c + 1]! - w[3 * a + 1]!;
    const fz = w[3 * c + 2]! - w[3 * a + 2]!;
    const nx = ey * fz - ez * fy;
    const ny = ez * fx - ex * fz;
    const nz = ex * fy - ey * fx;
    const length = Math.sqrt(nx * nx + ny * ny + nz * nz) || 1;
    const light = -(nx * LIGHT[0] + ny * LIGHT[1] + nz * LIGHT[2]) / length;
    this.#light[a] = this.#light[b] = this.#light[c] = light;
  }

  #fill(view: View, colour: Colour, a: number, b: number, c: number): void {
    const s = this.#screen;
    const ax = s[3 * a]!;
    const ay = s[3 * a + 1]!;
    const bx = s[3 * b]!;
    const by = s[3 * b + 1]!;
    const cx = s[3 * c]!;
    const cy = s[3 * c + 1]!;
    const area = (bx - ax) * (cy - ay) - (cx - ax) * (by - ay);
    if (area <= 0) return;
    const { widthPx, heightPx } = this.picture;
    const left = Math.max(0, Math.floor(Math.min(ax, bx, cx)));
    const right = Math.min(widthPx - 1, Math.ceil(Math.max(ax, bx, cx)));
    const top = Math.max(0, Math.floor(Math.min(ay, by, cy)));
    const bottom = Math.min(heightPx - 1, Math.ceil(Math.max(ay, by, cy)));
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
        const nearness = wa * s[3 * a + 2]! + wb * s[3 * b + 2]! + wc * s[3 * c + 2]!;
        const at = row * widthPx + column;
        if (nearness <= this.#nearness[at]!) continue;
        this.#nearness[at] = nearness;
        const light = wa * this.#light[a]! + wb * this.#light[b]! + wc * this.#light[c]!;
        this.#paint(view, colour, at, column, row, 1 / nearness, light);
      }
    }
  }

  #paint(
    view: View,
    colour: Colour,
    at: number,
    column: number,
    row: number,
    aheadM: number,
    light: number,
  ): void {
    const { axes, eyeM } = view;
    const u = ((column + 0.5 - view.centreX) / view.focalPx) * aheadM;
    const v = ((row + 0.5 - view.centreY) / view.focalPx) * aheadM;
    const x = eyeM[0]! + axes[0]! * u + axes[3]! * v + axes[6]! * aheadM;
    const y = eyeM[1]! + axes[1]! * u + axes[4]! * v + axes[7]! * aheadM;
    const z = eyeM[2]! + axes[2]! * u + axes[5]! * v + axes[8]! * aheadM;
    const isLit = light > 0 && !this.#shadows.isDark(x, y, z, SOLID_BIAS_M);
    const tone = AMBIENT + (isLit ? DIFFUSE * light : 0);
    const { pixels } = this.picture;
    pixels[3 * at] = colour[0] * tone;
    pixels[3 * at + 1] = colour[1] * tone;
    pixels[3 * at + 2] = colour[2] * tone;
  }
}
