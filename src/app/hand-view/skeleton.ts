import { HAND_POINTS, PALM } from '../../core/hand-points.ts';

export const VIEW_SIZE = 480;
const [BACKGROUND, BONE, JOINT] = [24, 150, 255];
/** What the side of the picture spans. */
const SPAN_M = 0.28;

/** Pairs of points that are joined: five chains from the wrist, and across the knuckles. */
export const BONES: readonly (readonly [number, number])[] = [
  ...Array.from({ length: HAND_POINTS - 1 }, (_, i): [number, number] => [i % 4 === 0 ? 0 : i, i + 1]),
  [5, 9],
  [9, 13],
  [13, 17],
];

/** A hand as seen on its palm's plane, fingers up; right hands have the thumb on the left. */
export class SkeletonView {
  readonly pixels = new Uint8Array(VIEW_SIZE * VIEW_SIZE);
  readonly #flat = new Float64Array(2 * HAND_POINTS);

  /** Greyscale, rows from the top. The same buffer each time. */
  draw(pointsM: ArrayLike<number>): Uint8Array {
    this.pixels.fill(BACKGROUND);
    this.#project(pointsM);
    for (const [a, b] of BONES) this.#line(a, b);
    for (let i = 0; i < HAND_POINTS; i++) this.#dot(this.#flat[2 * i]!, this.#flat[2 * i + 1]!, 4, JOINT);
    return this.pixels;
  }

  #project(p: ArrayLike<number>): void {
    const at = (i: number) => [p[3 * i]!, p[3 * i + 1]!, p[3 * i + 2]!];
    const wrist = at(PALM.wrist);
    const y = unit(minus(at(PALM.middle), wrist));
    const across = minus(at(PALM.pinky), at(PALM.index));
    const along = dot(across, y);
    const x = unit(across.map((value, k) => value - along * y[k]!));
    for (let i = 0; i < HAND_POINTS; i++) {
      const v = minus(at(i), wrist);
      this.#flat[2 * i] = VIEW_SIZE * (0.5 + dot(v, x) / SPAN_M);
      this.#flat[2 * i + 1] = VIEW_SIZE * (0.85 - dot(v, y) / SPAN_M);
    }
  }

  #line(a: number, b: number): void {
    const [ax, ay] = [this.#flat[2 * a]!, this.#flat[2 * a + 1]!];
    const [bx, by] = [this.#flat[2 * b]!, this.#flat[2 * b + 1]!];
    const steps = Math.min(2 * VIEW_SIZE, Math.ceil(Math.hypot(bx - ax, by - ay)));
    for (let i = 0; i <= steps; i++) {
      const share = steps === 0 ? 0 : i / steps;
      this.#dot(ax + share * (bx - ax), ay + share * (by - ay), 1, BONE);
    }
  }

  #dot(x: number, y: number, radius: number, tone: number): void {
    const [cx, cy] = [Math.round(x), Math.round(y)];
    for (let dy = -radius; dy <= radius; dy++)
      for (let dx = -radius; dx <= radius; dx++) {
        const [px, py] = [cx + dx, cy + dy];
        if (px >= 0 && py >= 0 && px < VIEW_SIZE && py < VIEW_SIZE && dx * dx + dy * dy <= radius * radius)
          this.pixels[py * VIEW_SIZE + px] = tone;
      }
  }
}

const dot = (a: readonly number[], b: readonly number[]): number =>
  a[0]! * b[0]! + a[1]! * b[1]! + a[2]! * b[2]!;
const minus = (a: readonly number[], b: readonly number[]): number[] => a.map((value, k) => value - b[k]!);
const unit = (v: readonly number[]): number[] => v.map((value) => value / Math.max(1e-9, Math.hypot(...v)));
