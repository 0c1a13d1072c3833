import { HAND_NUMBERS } from '../../hand/points.ts';
import { SteadyFilter } from './steady-filter.ts';

/** A tip does not move this fast against the palm: the tracker lost the hand and found it again. */
const JUMP_M_S = 6;
/** Numbers of a finger's four points; its tip is the last. */
const FINGER = 12;
const TIP = 9;
/**
 * A thumb counts as moving at this multiple of the fastest finger's speed. Its tip travels little between an open hand and
 * a pinch, too slowly to be told from noise by itself, but turns a robot's thumb far.
 */
const THUMB_SHARE = 2;

/** Steadies points in the palm's frame, finger by finger; a finger's tip decides how. Hot path: nothing allocates. */
export class PointFilter {
  readonly #fingers = Array.from({ length: 5 }, () => new SteadyFilter(FINGER, 3, 1));

  reset(): void {
    for (let f = 0; f < this.#fingers.length; f++) this.#fingers[f]!.reset();
  }

  /** Whether a tip jumped so far in `dtS` that this is not the motion of a hand. */
  jumps(pointsM: Float64Array, dtS: Float64Array): boolean {
    const most = JUMP_M_S * dtS[0]!;
    for (let f = 0; f < this.#fingers.length; f++) {
      const { fresh, at } = this.#fingers[f]!;
      if (fresh) return false;
      const tip = 3 + FINGER * f + TIP;
      const x = pointsM[tip]! - at[TIP]!;
      const y = pointsM[tip + 1]! - at[TIP + 1]!;
      const z = pointsM[tip + 2]! - at[TIP + 2]!;
      if (x * x + y * y + z * z > most * most) return true;
    }
    return false;
  }

  /** Filters in place; `dtS`: time since the previous points, one number. The wrist is the origin and stays. */
  apply(pointsM: Float64Array, dtS: Float64Array): void {
    for (let f = 0, from = 3; from < HAND_NUMBERS; f++, from += FINGER)
      this.#fingers[f]!.judge(pointsM, from, dtS);
    const thumb = this.#fingers[0]!.pace;
    for (let f = 1; f < this.#fingers.length; f++)
      thumb[0] = Math.max(thumb[0]!, THUMB_SHARE * this.#fingers[f]!.pace[0]!);
    for (let f = 0, from = 3; from < HAND_NUMBERS; f++, from += FINGER)
      this.#fingers[f]!.apply(pointsM, from, dtS);
  }
}
