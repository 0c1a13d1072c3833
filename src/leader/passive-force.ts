/** What one joint of a leader can take and give. */
export interface JointForce {
  /** Most torque, gravity included. */
  maxNm: number;
  /** Resolution of its encoder. */
  stepRad: number;
}

/** Most energy that a joint may hold back for later: its largest torque over this angle. */
const STORE_RAD = 0.3;
/** Most damping: its largest torque at this speed. */
const DAMPING_RAD_S = 3;
/** A torque grows from zero to the largest within this time; it falls at once. */
const RISE_S = 0.1;
/** The energy left lasts for at least this many cycles. */
const CYCLES_LEFT = 4;
const SPEED_FILTER_S = 0.015;

/**
 * Reflects torques to a person without ever giving back more energy than the person has put in: an observer and a
 * controller of passivity in the time domain, one per joint. Held against the leader's own motion and its own
 * torque, the account needs no clock of the robot: delay, jitter and loss only change the torque that is requested. A hand
 * and a leader that are passive themselves can then not be driven into oscillation. Between two readings a torque is constant,
 * so the energy −torque · turn is exact; what a reversal within one cycle gives away too much is taken back by damping.
 * Hot path: nothing allocates.
 */
export class PassiveForce {
  /** Energy that each joint's person has put in and not got back; below zero: owed. */
  readonly storedJ: Float64Array;
  readonly #joints: readonly JointForce[];
  readonly #lastRad: Float64Array;
  readonly #heldNm: Float64Array;
  readonly #speedRadS: Float64Array;
  #isFirst = true;

  constructor(joints: readonly JointForce[]) {
    this.#joints = joints;
    this.storedJ = new Float64Array(joints.length);
    this.#lastRad = new Float64Array(joints.length);
    this.#heldNm = new Float64Array(joints.length);
    this.#speedRadS = new Float64Array(joints.length);
  }

  /** No torque is held any more; the account starts at zero. */
  reset(): void {
    this.storedJ.fill(0);
    this.#heldNm.fill(0);
    this.#speedRadS.fill(0);
    this.#isFirst = true;
  }

  /** `dtS`: since the last call, and until the next. `outNm` must be held until then. */
  next(qRad: Float64Array, dtS: number, wantedNm: Float64Array, outNm: Float64Array): void {
    for (let i = 0; i < this.#joints.length; i++) {
      const turnRad = this.#isFirst ? 0 : qRad[i]! - this.#lastRad[i]!;
      this.#lastRad[i] = qRad[i]!;
      outNm[i] = this.#joint(i, turnRad, dtS, wantedNm[i]!);
      this.#heldNm[i] = outNm[i]!;
    }
    this.#isFirst = false;
  }

  #joint(i: number, turnRad: number, dtS: number, wantedNm: number): number {
    const { maxNm, stepRad } = this.#joints[i]!;
    const held = this.#heldNm[i]!;
    const stored = Math.min(STORE_RAD * maxNm, this.storedJ[i]! - held * turnRad);
    this.storedJ[i] = stored;
    const share = Math.min(1, dtS / SPEED_FILTER_S);
    const speed = this.#speedRadS[i]! + share * (turnRad / dtS - this.#speedRadS[i]!);
    this.#speedRadS[i] = speed;
    let nm = risen(clamped(wantedNm, maxNm), held, (maxNm * dtS) / RISE_S);
    const aheadRad = speed * dtS;
    // Along the motion it would give energy: no more than there is.
    if (nm * aheadRad > 0) nm = clamped(nm, Math.max(0, stored) / (CYCLES_LEFT * Math.abs(aheadRad)));
    if (stored < 0 && Math.abs(aheadRad) > 0.1 * stepRad) {
      const damping = Math.min(maxNm / DAMPING_RAD_S, -stored / (speed * speed * dtS));
      nm -= damping * speed;
    }
    return clamped(nm, maxNm);
  }
}

const clamped = (value: number, most: number): number => Math.max(-most, Math.min(most, value));

/** Moves towards the wanted value; away from zero by at most `step`. */
function risen(wanted: number, held: number, step: number): number {
  const from = wanted * held > 0 ? Math.min(Math.abs(held), Math.abs(wanted)) : 0;
  return Number.isNaN(wanted) ? 0 : Math.sign(wanted) * Math.min(Math.abs(wanted), from + step);
}
