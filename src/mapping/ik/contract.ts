/**
 * `clamped`: not the target but the nearest the arm can do from here (reach, a joint limit, a singularity being
 * crossed, an iteration that did not arrive). `unreachable`: the same, and no pose of the arm reaches the target.
 * In both cases the result is whole, within the limits, and safe to follow.
 */
export type SolveStatus = 'ok' | 'clamped' | 'unreachable' | 'bad-input';

/** Inverse kinematics. Hot path: nothing allocates; one caller at a time. */
export interface Solver {
  /**
   * Joint angles that bring the arm to a pose in the base frame, by the solution nearest to `seedRad` (largest move
   * of a joint, unwrapped toward the seed, within the limits). What is brought there: the flange, or for `decoupled`
   * the origin of link 3 with the orientation of the flange. The quaternion may have any length. `outRad` is untouched
   * on `bad-input` and may be `seedRad`.
   */
  solve(
    positionM: Float64Array,
    quatXyzw: Float64Array,
    seedRad: Float64Array,
    outRad: Float64Array,
  ): SolveStatus;
}

/** Knows all solutions of a target. */
export interface ClosedSolver extends Solver {
  /** Room that `all` needs: solutions times joints. */
  readonly allSize: number;
  /** Every distinct solution within the limits, one after the other, into `out`; returns how many, −1 on bad input. */
  all(positionM: Float64Array, quatXyzw: Float64Array, out: Float64Array): number;
}

export interface NumericSolver extends Solver {
  /** What the last solve left: metres, radians. */
  readonly residual: Float64Array;
}

export interface SolverOptions {
  /**
   * Most that a joint may turn per solve where an arbitrarily small motion of the target asks for a large one: joint 1
   * with the wrist over the base axis, joint 4 with the wrist straight. The bound widens away from there.
   */
  singularStepRad?: number;
  /**
   * Closed forms: at a limit or at the end of the reach, take another solution however far it is. Off, an arm driven
   * there stays, which is what a follower wants.
   */
  switchAtLimit?: boolean;
  /** Numeric: starts from other seeds, the same ones each time, when the given one leads nowhere. */
  restarts?: number;
}
