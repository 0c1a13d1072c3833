import { BufferAttribute, BufferGeometry, LineBasicMaterial, LineSegments } from 'three';
import { HAND_BONES } from '../../src/hand/projection.ts';
import type { Palette } from './palette.ts';

/** The bones of a tracked hand, in the input frame. */
export class HandSkeleton {
  readonly lines: LineSegments;
  readonly #ends: BufferAttribute;

  constructor(palette: Palette) {
    this.#ends = new BufferAttribute(new Float32Array(HAND_BONES.length * 6), 3);
    const geometry = new BufferGeometry().setAttribute('position', this.#ends);
    this.lines = new LineSegments(geometry, new LineBasicMaterial({ color: palette.hand, linewidth: 2 }));
    this.lines.frustumCulled = false;
    this.lines.visible = false;
  }

  /** x, y, z of each point in sequence; null hides the hand. */
  show(pointsM: readonly number[] | null): void {
    this.lines.visible = pointsM !== null;
    if (pointsM === null) return;
    HAND_BONES.forEach(([a, b], i) => {
      this.#ends.setXYZ(2 * i, pointsM[3 * a]!, pointsM[3 * a + 1]!, pointsM[3 * a + 2]!);
      this.#ends.setXYZ(2 * i + 1, pointsM[3 * b]!, pointsM[3 * b + 1]!, pointsM[3 * b + 2]!);
    });
    this.#ends.needsUpdate = true;
  }
}
