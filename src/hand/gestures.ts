import { spanM } from './points.ts';

/**
 * Gestures from 25 WebXR joints, x, y, z each: 0 wrist, thumb 1–4, index 5–9, middle 10–14, ring 15–19, pinky
 * 20–24.
 */

const THUMB_TIP = 4;
const INDEX_TIP = 9;
/** Knuckle and tip of the four fingers. */
const FINGERS = [
  [6, 9],
  [11, 14],
  [16, 19],
  [21, 24],
] as const;
/** A fist's tips lie in the palm; stretched tips are about twice as far from the wrist as the knuckles. */
const CURLED = 1.1;

/** Gap between the tips of thumb and index finger. */
export const pinchGapM = (jointsM: ArrayLike<number>): number => spanM(jointsM, THUMB_TIP, INDEX_TIP);

/** All four fingers curled into the palm. */
export function isFist(jointsM: ArrayLike<number>): boolean {
  for (const [knuckle, tip] of FINGERS)
    if (!(spanM(jointsM, 0, tip) < CURLED * spanM(jointsM, 0, knuckle))) return false;
  return true;
}

/**
 * A pinch with hysteresis: closes below one gap and opens above a wider one, so that a tremor does not toggle
 * it.
 */
export class Pinch {
  closed = false;
  readonly #closeM: number;
  readonly #openM: number;

  constructor(closeM: number, openM: number) {
    this.#closeM = closeM;
    this.#openM = openM;
  }

  /** Hot path. */
  update(gapM: number): boolean {
    this.closed = gapM < (this.closed ? this.#openM : this.#closeM);
    return this.closed;
  }
}
