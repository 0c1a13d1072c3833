import { HAND_POINTS } from '../../hand/points.ts';
import { HAND_BONES, projectHand } from '../../hand/projection.ts';

export const VIEW_SIZE = 480;
const [BACKGROUND, BONE, JOINT] = [24, 150, 255];
/** Palm length in the picture. */
const PALM_PIXELS = 180;

/** Draws a hand in grey, projected by `projectHand`. */
export class SkeletonView {
  readonly pixels = new Uint8Array(VIEW_SIZE * VIEW_SIZE);
  readonly #flat = new Float64Array(2 * HAND_POINTS);

  /** Rows from the top. Returns the same buffer each time. */
  draw(pointsM: ArrayLike<number>, isLeft: boolean): Uint8Array {
    this.pixels.fill(BACKGROUND);
    projectHand(pointsM, isLeft, this.#flat);
    for (let i = 0; i < HAND_POINTS; i++) {
      this.#flat[2 * i] = VIEW_SIZE / 2 + PALM_PIXELS * this.#flat[2 * i]!;
      this.#flat[2 * i + 1] = 0.85 * VIEW_SIZE - PALM_PIXELS * this.#flat[2 * i + 1]!;
    }
    for (const [a, b] of HAND_BONES) this.#line(a, b);
    for (let i = 0; i < HAND_POINTS; i++) this.#dot(this.#flat[2 * i]!, this.#flat[2 * i + 1]!, 4, JOINT);
    return this.pixels;
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
