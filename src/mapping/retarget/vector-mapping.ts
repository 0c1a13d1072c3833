import { NS_PER_S } from '../../core/time/clock.ts';
import { HandChains } from '../../geometry/hand-chains.ts';
import { measurePalm } from '../../geometry/hand-palm.ts';
import type { RobotModel } from '../../geometry/robot-model.ts';
import { HAND_NUMBERS } from '../../hand/points.ts';
import type { Person } from '../../messages/person.ts';
import { BoxedStep } from './boxed-step.ts';
import { FingerTargets } from './finger-targets.ts';
import { NormalEquations } from './normal-equations.ts';
import { PalmPoints } from './palm-points.ts';
import { PinchGoals } from './pinch-goals.ts';
import { PointFilter } from './point-filter.ts';

/** Weight of the last solution at the usual rate, metres per radian; it scales with the root of the rate. */
const REST_M = 0.008;
const USUAL_PERIOD_S = 1 / 72;
const STEPS = 4;
/** Additional steps of a first hand, which starts from the plain angle mapping: it is solved before it is used. */
const FIRST_STEPS = 40;
/** After a longer gap nothing of the past is used. */
const GAP_S = 0.25;
const LEAST_PERIOD_S = 1e-3;
const LEAST_DAMPING_M2 = 1e-6;
const MOST_DAMPING_M2 = 1;
const MORE_DAMPING = 10;
const LESS_DAMPING = 0.2;

/**
 * Joint angles whose fingertips, seen from the palm, are where the person's are: tip and middle joint of each
 * finger at the robot's size, and in a pinch the person's own distance between the tips. Hot path: nothing
 * allocates; one caller at a time.
 */
export class VectorMapping {
  readonly chains: HandChains;
  readonly #points: PalmPoints;
  readonly #filter: PointFilter | null;
  readonly #measuredM = new Float64Array(HAND_NUMBERS);
  readonly #targets: FingerTargets;
  readonly #pinches: PinchGoals;
  readonly #equations: NormalEquations;
  readonly #step: BoxedStep;
  readonly #qRad: Float64Array;
  readonly #lastRad: Float64Array;
  readonly #beforeRad: Float64Array;
  readonly #dampingM2 = Float64Array.of(LEAST_DAMPING_M2);
  readonly #restM = new Float64Array(1);
  /** Since the hand before. Numbers passed to calls would be allocated. */
  readonly #dtS = new Float64Array(1);
  #takenNs = Number.NaN;
  #started = false;

  constructor(model: RobotModel, person: Person, filtered: boolean) {
    this.chains = new HandChains(model);
    const palm = measurePalm(this.chains);
    this.#points = new PalmPoints(palm.axes);
    this.#filter = filtered ? new PointFilter() : null;
    this.#targets = new FingerTargets(this.chains, palm, person);
    this.#pinches = new PinchGoals(this.chains, person, filtered);
    this.#equations = new NormalEquations(this.chains, palm.middle);
    this.#step = new BoxedStep(this.#equations, this.chains.jointOf, model.joints);
    this.#qRad = Float64Array.from(model.homeRad);
    this.#lastRad = Float64Array.from(model.homeRad);
    this.#beforeRad = Float64Array.from(model.homeRad);
  }

  /** Forgets the past: the next hand starts anew. */
  reset(): void {
    this.#started = false;
    this.#filter?.reset();
    this.#pinches.reset();
  }

  /**
   * Fills the fingers' joints in `outRad`; others are untouched. `pointsM`: 21 that `checkHand` accepts.
   * `takenNs`: when the hand was seen; NaN: one usual period after the one before. A repeated hand gives the
   * same result.
   */
  map(pointsM: Float64Array, isLeft: boolean, takenNs: number, outRad: Float64Array): void {
    const passedS = (takenNs - this.#takenNs) / NS_PER_S;
    this.#takenNs = takenNs;
    if (!this.#started || passedS !== 0) {
      this.#dtS[0] = passedS;
      this.#solve(pointsM, isLeft);
    }
    const joints = this.chains.jointOf;
    for (let e = 0; e < joints.length; e++) outRad[joints[e]!] = this.#qRad[joints[e]!]!;
  }

  #solve(pointsM: Float64Array, isLeft: boolean): void {
    const dtS = this.#dtS;
    const points = this.#points.pointsM;
    this.#points.take(pointsM, isLeft);
    if (dtS[0]! < 0 || dtS[0]! > GAP_S) this.reset();
    dtS[0] = dtS[0]! > 0 ? Math.max(LEAST_PERIOD_S, dtS[0]!) : USUAL_PERIOD_S;
    if (this.#filter?.jumps(points, dtS)) this.reset();
    this.#pinches.measure(points, dtS);
    this.#filter?.apply(points, dtS);
    this.#measuredM.set(points);
    this.#targets.take(points);
    this.#pinches.take(this.#measuredM, this.#points.palmM, this.#targets, dtS);
    if (!this.#started) this.#begin();
    this.#lastRad.set(this.#qRad);
    this.#restM[0] = REST_M * Math.sqrt(USUAL_PERIOD_S / dtS[0]!);
    this.#descend(STEPS);
  }

  #begin(): void {
    const { jointOf, model } = this.chains;
    for (let e = 0; e < jointOf.length; e++) {
      const { minRad, maxRad } = model.joints[jointOf[e]!]!;
      this.#qRad[jointOf[e]!] = Math.min(maxRad, Math.max(minRad, this.#targets.likeRad[e]!));
    }
    this.#started = true;
    this.#restM[0] = 0;
    this.#descend(FIRST_STEPS);
  }

  /** Steps that reduce the sum of squares; any other step is undone and shortened. */
  #descend(steps: number): void {
    const { cost } = this.#equations;
    const damping = this.#dampingM2;
    this.#build();
    for (let i = 0; i < steps; i++) {
      this.#beforeRad.set(this.#qRad);
      const before = cost[0]!;
      this.#step.apply(this.#qRad, damping);
      this.#build();
      if (cost[0]! <= before) damping[0] = Math.max(LEAST_DAMPING_M2, LESS_DAMPING * damping[0]!);
      else {
        this.#qRad.set(this.#beforeRad);
        damping[0] = Math.min(MOST_DAMPING_M2, MORE_DAMPING * damping[0]!);
        this.#build();
      }
    }
  }

  #build(): void {
    this.chains.place(this.#qRad);
    this.#equations.build(this.#qRad, this.#lastRad, this.#targets, this.#pinches, this.#restM);
  }
}
