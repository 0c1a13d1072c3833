/**
 * `clamped`: not the target but the nearest the arm can get from here (reach, a joint limit, a singularity
 * being crossed, an iteration that did not converge). `unreachable`: the same, and no pose of the arm reaches
 * the target. In both cases the result is complete, within the limits, and safe to follow.
 */
export type SolveStatus = 'ok' | 'clamped' | 'unreachable' | 'bad-input';

/** Inverse kinematics. Hot path: nothing allocates; one caller at a time. */
export interface Solver {
  /**
   * Joint angles that bring the arm to a pose in the base frame: the solution nearest to `seedRad` (by the
   * largest joint move, unwrapped toward the seed, within the limits). The pose is the flange's, or for
   * `decoupled` the origin of link 3 with the orientation of the flange. The quaternion may have any length.
   * `outRad` is untouched on `bad-input` and may be `seedRad`.
   */
  solve(
    positionM: Float64Array,
    quatXyzw: Float64Array,
    seedRad: Float64Array,
    outRad: Float64Array,
  ): SolveStatus;
}

/** A solver that can list all solutions for a target. */
export interface ClosedSolver extends Solver {
  /** Size of the buffer for `all`: solutions times joints. */
  readonly allSize: number;
  /**
   * Writes every distinct solution within the limits to `out`, consecutively; returns their number, −1 on bad
   * input.
   */
  all(positionM: Float64Array, quatXyzw: Float64Array, out: Float64Array): number;
}

export interface NumericSolver extends Solver {
  /** Remaining error of the last solve: metres, radians. */
  readonly residual: Float64Array;
}

export interface SolverOptions {
  /**
   * Largest joint rotation per solve where an arbitrarily small motion of the target needs a large one: joint
   * 1 with the wrist over the base axis, joint 4 with the wrist straight. The bound widens away from there.
   */
  singularStepRad?: number;
  /**
   * Closed forms: at a limit or at full reach, take another solution however far away. When off, the arm
   * stays there, as a follower should.
   */
  switchAtLimit?: boolean;
  /** Numeric: if the given seed fails, tries other seeds, the same ones each time. */
  restarts?: number;
}
