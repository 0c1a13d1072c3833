import { HAND_NUMBERS, HAND_POINTS } from '../../hand/points.ts';

/** Cutoff of a hand at rest, and its growth with the speed of the finger's tip beyond the dead zone. */
const REST_HZ = 0.4;
const HZ_PER_M_S = 100;
/** Speeds that noise reaches: a slower tip counts as resting. */
const DEAD_M_S = 0.15;
const SPEED_HZ = 1;
/** A tip does not move this fast against the palm: the tracker lost the hand and found it again. */
const JUMP_M_S = 6;

/**
 * One-euro filter with a dead zone, on points in the palm's frame: steady at rest, a delay of about 10 ms in
 * motion. The tip's speed sets the cutoff of its finger. Hot path: nothing allocates.
 */
export class PointFilter {
  readonly #outM = new Float64Array(HAND_NUMBERS);
  readonly #speedM = new Float64Array(HAND_NUMBERS);
  #fresh = true;

  reset(): void {
    this.#fresh = true;
  }

  /** Whether a tip jumped so far in `dtS` that this is not the motion of a hand. */
  jumps(pointsM: Float64Array, dtS: Float64Array): boolean {
    if (this.#fresh) return false;
    const most = JUMP_M_S * dtS[0]!;
    for (let tip = 12; tip < HAND_NUMBERS; tip += 12) {
      const x = pointsM[tip]! - this.#outM[tip]!;
      const y = pointsM[tip + 1]! - this.#outM[tip + 1]!;
      const z = pointsM[tip + 2]! - this.#outM[tip + 2]!;
      if (x * x + y * y + z * z > most * most) return true;
    }
    return false;
  }

  /** Filters in place; `passedS`: time since the previous points, one number. The wrist is the origin and stays. */
  apply(pointsM: Float64Array, passedS: Float64Array): void {
    const dtS = passedS[0]!;
    const out = this.#outM;
    const speed = this.#speedM;
    if (this.#fresh) {
      out.set(pointsM);
      speed.fill(0);
      this.#fresh = false;
      return;
    }
    const share = 1 / (1 + 1 / (2 * Math.PI * SPEED_HZ * dtS));
    for (let i = 3; i < HAND_NUMBERS; i++) speed[i]! += share * ((pointsM[i]! - out[i]!) / dtS - speed[i]!);
    for (let finger = 1; finger < HAND_POINTS; finger += 4) {
      const tip = 3 * finger + 9;
      const vx = speed[tip]!;
      const vy = speed[tip + 1]!;
      const vz = speed[tip + 2]!;
      const beyond = Math.max(0, Math.sqrt(vx * vx + vy * vy + vz * vz) - DEAD_M_S);
      const follow = 1 / (1 + 1 / (2 * Math.PI * (REST_HZ + HZ_PER_M_S * beyond) * dtS));
      for (let i = 3 * finger; i < 3 * finger + 12; i++) {
        out[i]! += follow * (pointsM[i]! - out[i]!);
        pointsM[i] = out[i]!;
      }
    }
  }
}
