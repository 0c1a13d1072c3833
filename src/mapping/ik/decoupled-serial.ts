import { type Chain, createChain, TRANSFORM_SIZE } from '../../geometry/chain.ts';
import type { RobotModel } from '../../geometry/robot-model.ts';
import type { Solver } from './contract.ts';
import { createLeastSquares, type LeastSquares } from './least-squares.ts';
import { poseError } from './pose-error.ts';
import { createTarget, isFiniteSeed } from './target.ts';

/** The last joints, reserved for the orientation. */
const WRIST = 3;
const MAX_ITERATIONS = 40;
/** Converged below this, in metres or radians; counts as on target below `ARRIVED`. */
const DONE = 1e-9;
const ARRIVED = 1e-5;
/** A joint turns no more than this per iteration. */
const MAX_STEP_RAD = 0.3;
/** A step that improves the cost by less than this share ends the search. */
const STALLED = 1e-6;
const MIN_DAMPING = 1e-9;
/** A place missed by more than this is out of reach, or the search started where no joint leads towards it. */
const MISSED_M = 1e-8;
/** An arm stretched towards a place out of reach stops this much short: its elbow keeps its side and its lever. */
const SHORT_M = 1e-5;
/** Turn of all joints towards the middle of their ranges that gives a straight elbow a lever. */
const BEND_RAD = 0.005;
/** The bent arm must come closer than this share of the squared error. */
const CLOSER = 0.8;
const MOVED_M = 1e-6;
const PROBES_RAD = [0.3, -0.5, 0.8];

/** The furthest frame whose origin does not move when the last three joints turn: where the wrist begins. */
export function decoupledLead(model: RobotModel): number {
  const joints = model.joints.length;
  const chain = createChain(model);
  const rest = new Float64Array(3 * (joints + 1));
  const turned = rest.slice();
  const qRad = Float64Array.from(model.homeRad);
  chain.linkOrigins(qRad, rest);
  PROBES_RAD.forEach((rad, i) => {
    qRad[joints - WRIST + i]! += rad;
  });
  chain.linkOrigins(qRad, turned);
  const moves = (frame: number): boolean =>
    [0, 1, 2].some((k) => Math.abs(turned[3 * frame + k]! - rest[3 * frame + k]!) > MOVED_M);
  let lead = joints;
  while (lead > joints - WRIST && moves(lead)) lead--;
  return lead;
}

/** Joints `first` to `first + count`, moved until their three errors are gone. */
interface Stage {
  first: number;
  count: number;
  squares: LeastSquares;
  jacobian: Float64Array;
  /** The stage's part of the joints, in place. */
  ownRad: Float64Array;
  minRad: Float64Array;
  maxRad: Float64Array;
}

/**
 * Decoupled mapping for an arm of six or more joints of any structure: all but the last three place the origin of
 * `decoupledLead`, by the least motion from the seed, then the last three turn the flange. Turning the hand never moves
 * the first joints.
 */
export class SerialDecoupledSolver implements Solver {
  readonly #chain: Chain;
  readonly #lead: number;
  readonly #place: Stage;
  readonly #turn: Stage;
  readonly #target: ReturnType<typeof createTarget>;
  readonly #matrix = new Float64Array(9);
  readonly #placeM = new Float64Array(3);
  readonly #frames: Float64Array;
  readonly #axes: Float64Array;
  readonly #pose = new Float64Array(TRANSFORM_SIZE);
  readonly #error = new Float64Array(6);
  readonly #rows = new Float64Array(6);
  /** Of the last evaluation, and of the last descent. A returned fraction would be allocated. */
  readonly #errorSq = new Float64Array(2);
  readonly #wantedM = new Float64Array(3);
  /** The result to return to. */
  readonly #keptRad: Float64Array;
  readonly #qRad: Float64Array;
  readonly #triedRad: Float64Array;

  constructor(model: RobotModel) {
    const joints = model.joints.length;
    this.#chain = createChain(model);
    this.#lead = decoupledLead(model);
    this.#qRad = new Float64Array(joints);
    this.#place = stageOf(model, 0, this.#qRad.subarray(0, joints - WRIST));
    this.#turn = stageOf(model, joints - WRIST, this.#qRad.subarray(joints - WRIST));
    // The flange's own frame is turned, and the position is that of another frame: the tool need not be removed.
    const bare = { ...model, tool: { xyzM: [0, 0, 0], rpyRad: [0, 0, 0] } } satisfies RobotModel;
    this.#target = createTarget(bare, this.#matrix, this.#placeM);
    this.#frames = new Float64Array(TRANSFORM_SIZE * (joints + 1));
    this.#axes = new Float64Array(6 * joints);
    this.#triedRad = new Float64Array(joints);
    this.#keptRad = new Float64Array(joints);
  }

  solve(
    positionM: Float64Array,
    quatXyzw: Float64Array,
    seedRad: Float64Array,
    outRad: Float64Array,
  ): 'ok' | 'clamped' | 'bad-input' {
    const q = this.#qRad;
    if (!isFiniteSeed(seedRad, q.length) || !this.#target.place(positionM, quatXyzw)) return 'bad-input';
    for (let i = 0; i < q.length; i++) q[i] = seedRad[i]!;
    const isPlaced = this.#reach(seedRad);
    const isTurned = this.#descend(this.#turn);
    for (let i = 0; i < q.length; i++) outRad[i] = q[i]!;
    return isPlaced && isTurned ? 'ok' : 'clamped';
  }

  /**
   * Places the lead frame. Straight, an arm has no lever along its length: which side its elbow bends to, and whether
   * it bends at all, would be left to rounding. So it stops a little short of straight, and if it starts straight it
   * bends first.
   */
  #reach(seedRad: Float64Array): boolean {
    const stage = this.#place;
    const q = this.#qRad;
    const isPlaced = this.#descend(stage);
    const missedSq = this.#errorSq[1]!;
    if (missedSq < MISSED_M * MISSED_M) return isPlaced;
    this.#keptRad.set(q);
    if (this.#stopShort(seedRad)) return false;
    for (let j = 0; j < stage.count; j++) {
      const middleRad = (stage.minRad[j]! + stage.maxRad[j]!) / 2;
      q[j] = seedRad[j]! + Math.min(Math.max(middleRad - seedRad[j]!, -BEND_RAD), BEND_RAD);
    }
    const isBent = this.#descend(stage);
    if (this.#errorSq[1]! < CLOSER * missedSq) return isBent;
    q.set(this.#keptRad);
    return isPlaced;
  }

  /** From the seed to a little short of the place reached instead. False from a straight arm. */
  #stopShort(seedRad: Float64Array): boolean {
    const q = this.#qRad;
    const placeM = this.#placeM;
    const wantedM = this.#wantedM;
    this.#evaluate(this.#place, q);
    const missedM = Math.sqrt(this.#errorSq[0]!);
    wantedM.set(placeM);
    for (let i = 0; i < 3; i++) placeM[i]! -= this.#error[i]! * (1 + SHORT_M / missedM);
    for (let j = 0; j < this.#place.count; j++) q[j] = seedRad[j]!;
    this.#descend(this.#place);
    placeM.set(wantedM);
    return this.#errorSq[1]! < MISSED_M * MISSED_M;
  }

  /** Levenberg–Marquardt with joints locked at their limits. True if the error is gone. */
  #descend(stage: Stage): boolean {
    const { first, count, squares, ownRad, minRad, maxRad, jacobian } = stage;
    const q = this.#qRad;
    const tried = this.#triedRad;
    for (let i = 0; i < count; i++) ownRad[i] = Math.min(Math.max(ownRad[i]!, minRad[i]!), maxRad[i]!);
    this.#evaluate(stage, q);
    let errorSq = this.#errorSq[0]!;
    let damping = 1e-3;
    for (let i = 0; i < MAX_ITERATIONS && errorSq > DONE * DONE; i++) {
      squares.damping[0] = damping * errorSq + MIN_DAMPING * errorSq;
      this.#rows.set(this.#error);
      squares.solve(jacobian, this.#rows, ownRad, minRad, maxRad);
      let largestRad = 0;
      for (let j = 0; j < count; j++) largestRad = Math.max(largestRad, Math.abs(squares.stepRad[j]!));
      const scale = largestRad > MAX_STEP_RAD ? MAX_STEP_RAD / largestRad : 1;
      tried.set(q);
      for (let j = 0; j < count; j++)
        tried[first + j] = Math.min(
          Math.max(ownRad[j]! + scale * squares.stepRad[j]!, minRad[j]!),
          maxRad[j]!,
        );
      this.#evaluate(stage, tried);
      const triedSq = this.#errorSq[0]!;
      if (triedSq < errorSq) {
        q.set(tried);
        const isStalled = errorSq - triedSq < STALLED * errorSq;
        errorSq = triedSq;
        if (isStalled) break;
        damping = Math.max(damping / 4, MIN_DAMPING);
      } else {
        this.#evaluate(stage, q);
        damping *= 16;
        if (damping > 1e9) break;
      }
    }
    this.#errorSq[1] = errorSq;
    return errorSq < ARRIVED * ARRIVED;
  }

  /** Error, its square and the Jacobian of a stage at `qRad`. */
  #evaluate(stage: Stage, qRad: Float64Array): void {
    const { first, count, jacobian } = stage;
    const frames = this.#frames;
    const axes = this.#axes;
    const error = this.#error;
    const pose = this.#pose;
    this.#chain.framesAndAxes(qRad, frames, axes);
    const isPlace = first === 0;
    const frame = isPlace ? this.#lead : qRad.length;
    for (let i = 0; i < TRANSFORM_SIZE; i++) pose[i] = frames[frame * TRANSFORM_SIZE + i]!;
    poseError(pose, this.#placeM, this.#matrix, error);
    for (let i = 0; i < 3; i++) error[isPlace ? 3 + i : i] = 0;
    const at = isPlace ? 0 : 3;
    for (let j = 0; j < count; j++) {
      const axis = 6 * (first + j);
      const x = axes[axis]!;
      const y = axes[axis + 1]!;
      const z = axes[axis + 2]!;
      const px = pose[3]! - axes[axis + 3]!;
      const py = pose[7]! - axes[axis + 4]!;
      const pz = pose[11]! - axes[axis + 5]!;
      jacobian[j] = isPlace ? y * pz - z * py : 0;
      jacobian[count + j] = isPlace ? z * px - x * pz : 0;
      jacobian[2 * count + j] = isPlace ? x * py - y * px : 0;
      jacobian[3 * count + j] = isPlace ? 0 : x;
      jacobian[4 * count + j] = isPlace ? 0 : y;
      jacobian[5 * count + j] = isPlace ? 0 : z;
    }
    this.#errorSq[0] = error[at]! ** 2 + error[at + 1]! ** 2 + error[at + 2]! ** 2;
  }
}

const stageOf = ({ joints }: RobotModel, first: number, ownRad: Float64Array): Stage => {
  const count = ownRad.length;
  const own = joints.slice(first, first + count);
  return {
    first,
    count,
    squares: createLeastSquares(count),
    jacobian: new Float64Array(6 * count),
    ownRad,
    minRad: Float64Array.from(own, ({ minRad }) => minRad),
    maxRad: Float64Array.from(own, ({ maxRad }) => maxRad),
  };
};
