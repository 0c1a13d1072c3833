/**
 * The motion of an arm in one array: positions, then velocities, then accelerations. Those of joint `i` are
 * at `i`, `joints + i` and `2 · joints + i`.
 */
export const motionOf = (joints: number): Float64Array => new Float64Array(3 * joints);

/**
 * The fastest stop of one joint within its acceleration and jerk limits: jerk against the motion, possibly a
 * phase at full deceleration, jerk back to zero. Signs are for a joint that would still move forward once its
 * present acceleration has been ramped to zero. Filled in place, used immediately.
 */
const plan = { sign: 1, velocity: 0, acceleration: 0, peak: 0, firstS: 0, evenS: 0, lastS: 0 };

function planBrake(velocity: number, acceleration: number, maxA: number, maxJ: number): void {
  const sign = velocity + (acceleration * Math.abs(acceleration)) / (2 * maxJ) < 0 ? -1 : 1;
  const v = sign * velocity;
  const a = sign * acceleration;
  const peak = Math.min(maxA, Math.sqrt(Math.max(0, maxJ * v + (a * a) / 2)));
  const firstS = Math.max(0, (a + peak) / maxJ);
  const afterFirst = v + (a - (maxJ * firstS) / 2) * firstS;
  const evenS = peak > 0 ? Math.max(0, (afterFirst - (peak * peak) / (2 * maxJ)) / peak) : 0;
  plan.sign = sign;
  plan.velocity = v;
  plan.acceleration = a;
  plan.peak = peak;
  plan.firstS = firstS;
  plan.evenS = evenS;
  plan.lastS = peak / maxJ;
}

/** How far a joint still moves if it brakes now. */
export function restOffset(velocity: number, acceleration: number, maxA: number, maxJ: number): number {
  planBrake(velocity, acceleration, maxA, maxJ);
  return plan.sign * plannedOffset(maxJ);
}

function plannedOffset(maxJ: number): number {
  const { velocity: v, acceleration: a, peak, firstS, evenS, lastS } = plan;
  const v1 = v + (a - (maxJ * firstS) / 2) * firstS;
  const v2 = v1 - peak * evenS;
  return (
    (v + (a / 2 - (maxJ * firstS) / 6) * firstS) * firstS +
    (v1 - (peak * evenS) / 2) * evenS +
    (v2 - (peak / 2 - (maxJ * lastS) / 6) * lastS) * lastS
  );
}

/** How long a joint takes to stop if it brakes now. */
export function restTimeS(velocity: number, acceleration: number, maxA: number, maxJ: number): number {
  planBrake(velocity, acceleration, maxA, maxJ);
  return plan.firstS + plan.evenS + plan.lastS;
}

/** Brakes joint `i` for `dtS`. The final position and zero velocity are exact. */
export function brake(motion: Float64Array, i: number, maxA: number, maxJ: number, dtS: number): void {
  const joints = motion.length / 3;
  planBrake(motion[joints + i]!, motion[2 * joints + i]!, maxA, maxJ);
  const { sign, firstS, evenS, lastS, peak } = plan;
  if (dtS >= firstS + evenS + lastS) {
    motion[i]! += sign * plannedOffset(maxJ);
    motion[joints + i] = 0;
    motion[2 * joints + i] = 0;
    return;
  }
  let left = dtS;
  const first = Math.min(left, firstS);
  glide(motion, i, -sign * maxJ, first);
  left -= first;
  if (left <= 0) return;
  motion[2 * joints + i] = -sign * peak;
  const even = Math.min(left, evenS);
  glide(motion, i, 0, even);
  glide(motion, i, sign * maxJ, left - even);
}

/** Moves a joint at constant jerk. */
export function glide(motion: Float64Array, i: number, jerk: number, dtS: number): void {
  const joints = motion.length / 3;
  const v = motion[joints + i]!;
  const a = motion[2 * joints + i]!;
  motion[i]! += (v + (a / 2 + (jerk * dtS) / 6) * dtS) * dtS;
  motion[joints + i] = v + (a + (jerk * dtS) / 2) * dtS;
  motion[2 * joints + i] = a + jerk * dtS;
}

/** Ramps the acceleration to zero as fast as allowed, then continues at constant velocity. */
export function ease(motion: Float64Array, i: number, maxJ: number, dtS: number): void {
  const joints = motion.length / 3;
  const a = motion[2 * joints + i]!;
  const easeS = Math.min(dtS, Math.abs(a) / maxJ);
  glide(motion, i, -Math.sign(a) * maxJ, easeS);
  if (easeS >= dtS) return;
  motion[2 * joints + i] = 0;
  glide(motion, i, 0, dtS - easeS);
}
