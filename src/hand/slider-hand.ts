import { HAND_SHAPES, type HandShape, shapeHand } from './model-hand.ts';
import { HAND_NUMBERS } from './points.ts';

/** Fingers half way to a fist reach what lies on a palm. */
const CLOSED: Pick<HandShape, 'mcpRad' | 'pipRad'> = {
  mcpRad: [0.4, 0.6, 1.2, 1.2],
  pipRad: [0.4, 0.8, 1.4, 1.4],
};
const CROSSED: Pick<HandShape, 'thumbMcpRad' | 'thumbIpRad' | 'thumbCrossRad'> = {
  thumbMcpRad: 0.9,
  thumbIpRad: 0.9,
  thumbCrossRad: 0.7,
};

/** A hand of two sliders, for devices without fingers: how far the fingers close, and how far the thumb crosses the palm. */
export class SliderHand {
  /** Corners: open, closed; then the same with the thumb across. */
  readonly #cornersM: readonly Float64Array[];

  constructor() {
    const { open } = HAND_SHAPES;
    const place = { positionM: [0, 0, 0], pitchRad: 0 };
    this.#cornersM = [
      open,
      { ...open, ...CLOSED },
      { ...open, ...CROSSED },
      { ...open, ...CLOSED, ...CROSSED },
    ].map((shape) => {
      const pointsM = new Float64Array(HAND_NUMBERS);
      shapeHand(shape, place, false, pointsM);
      return pointsM;
    });
  }

  /** Shares from 0 to 1. Points move in straight lines between the corners. Hot path. */
  fill(closed: number, crossed: number, outM: Float64Array): void {
    const [a, b, c, d] = this.#cornersM as [Float64Array, Float64Array, Float64Array, Float64Array];
    for (let i = 0; i < HAND_NUMBERS; i++) {
      const aside = a[i]! + closed * (b[i]! - a[i]!);
      const across = c[i]! + closed * (d[i]! - c[i]!);
      outM[i] = aside + crossed * (across - aside);
    }
  }
}
