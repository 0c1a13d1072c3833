import { type Colour, emptyPicture } from '../drawing.ts';
import type { RgbPicture } from '../source.ts';
import { NEAR_M, toCamera, type View } from './view.ts';

const SKY: Colour = [206, 216, 226];
const HORIZON: Colour = [232, 236, 240];
const TILE: readonly [Colour, Colour] = [
  [150, 156, 164],
  [128, 134, 142],
];
const TILE_M = 0.1;
/** Distance at which the ground has faded into the horizon. */
const FAR_M = 3;
/** Direction of the light source in the base frame. */
const LIGHT = [0.35, -0.45, 0.82] as const;
const SHADOW = 0.62;

/** Draws rounded rods over a ground plane with a depth buffer. One at a time; drawing does not allocate. */
export class Canvas {
  readonly picture: RgbPicture;
  readonly #depthM: Float32Array;
  readonly #ends = new Float64Array(6);
  readonly #light = new Float64Array(3);

  constructor(widthPx: number, heightPx: number) {
    this.picture = emptyPicture(widthPx, heightPx);
    this.#depthM = new Float32Array(widthPx * heightPx);
  }

  /**
   * Sky and a chequered ground at z = 0, in blocks of 2 × 2 pixels because a moving camera redraws it each
   * time.
   */
  drawGround(view: View): void {
    const { pixels, widthPx, heightPx } = this.picture;
    const { axes, eyeM, focalPx, centreX, centreY } = view;
    const perPx = 1 / focalPx;
    for (let row = 0; row < heightPx; row += 2) {
      const v = (row + 1 - centreY) * perPx;
      const vx = axes[3]! * v + axes[6]!;
      const vy = axes[4]! * v + axes[7]!;
      const vz = axes[5]! * v + axes[8]!;
      for (let column = 0; column < widthPx; column += 2) {
        const u = (column + 1 - centreX) * perPx;
        const down = axes[2]! * u + vz;
        const reach = down < -1e-3 ? -eyeM[2]! / down : FAR_M;
        const far = reach >= FAR_M;
        const odd = Math.floor((eyeM[0]! + reach * (axes[0]! * u + vx)) / TILE_M);
        const even = Math.floor((eyeM[1]! + reach * (axes[1]! * u + vy)) / TILE_M);
        const from = far ? HORIZON : TILE[(odd + even) & 1]!;
        const towards = far ? SKY : HORIZON;
        const near = reach / FAR_M;
        const share = far ? Math.max(0, Math.min(1, 2 * down)) : near * near;
        const right = Math.min(column + 2, widthPx);
        for (let y = row; y < Math.min(row + 2, heightPx); y++)
          for (let at = 3 * (y * widthPx + column); at < 3 * (y * widthPx + right); at += 3) {
            pixels[at] = from[0] + share * (towards[0] - from[0]);
            pixels[at + 1] = from[1] + share * (towards[1] - from[1]);
            pixels[at + 2] = from[2] + share * (towards[2] - from[2]);
          }
      }
    }
  }

  /** Call before drawing the rods of a picture. */
  clearDepth(view: View): void {
    this.#depthM.fill(Number.POSITIVE_INFINITY);
    for (let row = 0; row < 3; row++)
      this.#light[row] =
        view.axes[3 * row]! * LIGHT[0] +
        view.axes[3 * row + 1]! * LIGHT[1] +
        view.axes[3 * row + 2]! * LIGHT[2];
  }

  /** A rod between two points of the base frame (six numbers), with round ends. */
  drawRod(view: View, endsM: Float64Array, radiusM: number, colour: Colour): void {
    this.#place(view, endsM, false);
    this.#rasterise(view, radiusM, colour);
  }

  /** Its shadow, straight down. */
  drawShadow(view: View, endsM: Float64Array, radiusM: number): void {
    this.#place(view, endsM, true);
    this.#rasterise(view, radiusM, null);
  }

  #place(view: View, endsM: Float64Array, onGround: boolean): void {
    for (const at of [0, 3])
      toCamera(view, endsM[at]!, endsM[at + 1]!, onGround ? 0 : endsM[at + 2]!, this.#ends, at);
  }

  #rasterise(view: View, radiusM: number, colour: Colour | null): void {
    const e = this.#ends;
    if (!clipNear(e)) return;
    const { focalPx, centreX, centreY } = view;
    const { widthPx, heightPx } = this.picture;
    const [ia, ib] = [1 / e[2]!, 1 / e[5]!];
    const [ax, ay] = [centreX + focalPx * e[0]! * ia, centreY + focalPx * e[1]! * ia];
    const [bx, by] = [centreX + focalPx * e[3]! * ib, centreY + focalPx * e[4]! * ib];
    const [ra, rb] = [focalPx * radiusM * ia, focalPx * radiusM * ib];
    const [dx, dy] = [bx - ax, by - ay];
    const perLength2 = 1 / Math.max(1e-9, dx * dx + dy * dy);
    const left = Math.max(0, Math.floor(Math.min(ax - ra, bx - rb)));
    const right = Math.min(widthPx - 1, Math.ceil(Math.max(ax + ra, bx + rb)));
    const top = Math.max(0, Math.floor(Math.min(ay - ra, by - rb)));
    const bottom = Math.min(heightPx - 1, Math.ceil(Math.max(ay + ra, by + rb)));
    for (let row = top; row <= bottom; row++)
      for (let column = left; column <= right; column++) {
        const px = column + 0.5 - ax;
        const py = row + 0.5 - ay;
        const t = Math.max(0, Math.min(1, (px * dx + py * dy) * perLength2));
        const radius = ra + t * (rb - ra);
        const sx = (px - t * dx) / radius;
        const sy = (py - t * dy) / radius;
        const off2 = sx * sx + sy * sy;
        if (off2 > 1) continue;
        const at = row * widthPx + column;
        if (colour === null) this.#darken(at);
        else this.#shade(at, 1 / (ia + t * (ib - ia)), radiusM, sx, sy, Math.sqrt(1 - off2), colour);
      }
  }

  /** The surface facing the eye is `facing` × radius in front of the rod's axis. */
  #shade(
    at: number,
    axisM: number,
    radiusM: number,
    sx: number,
    sy: number,
    facing: number,
    colour: Colour,
  ): void {
    const depthM = axisM - radiusM * facing;
    if (depthM >= this.#depthM[at]!) return;
    this.#depthM[at] = depthM;
    const light = this.#light;
    const lit = Math.max(0, sx * light[0]! + sy * light[1]! - facing * light[2]!);
    const tone = 0.42 + 0.58 * lit;
    for (let k = 0; k < 3; k++) this.picture.pixels[3 * at + k] = tone * colour[k]!;
  }

  /** Marks the pixel, so overlapping shadows do not darken it twice. */
  #darken(at: number): void {
    if (this.#depthM[at] === SHADOW_DEPTH) return;
    this.#depthM[at] = SHADOW_DEPTH;
    for (let k = 0; k < 3; k++) this.picture.pixels[3 * at + k]! *= SHADOW;
  }
}

/** Behind every rod, so rods draw over shadows. */
const SHADOW_DEPTH = Math.fround(1e9);

/** Keeps the part in front of the eye; false if there is none. */
function clipNear(e: Float64Array): boolean {
  if (e[2]! < NEAR_M && e[5]! < NEAR_M) return false;
  if (e[2]! >= NEAR_M && e[5]! >= NEAR_M) return true;
  const [inside, outside] = e[2]! < NEAR_M ? [3, 0] : [0, 3];
  const share = (NEAR_M - e[outside + 2]!) / (e[inside + 2]! - e[outside + 2]!);
  for (let k = 0; k < 3; k++) e[outside + k]! += share * (e[inside + k]! - e[outside + k]!);
  return true;
}
