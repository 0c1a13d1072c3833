import { type HandChains, motionOf } from '../../geometry/hand-chains.ts';
import type { FingerTargets } from './finger-targets.ts';
import type { PinchGoals } from './pinch-goals.ts';

const THUMB_WEIGHT = 0.7;
const MIDDLE_WEIGHT = 0.5;
/** Share of its own targets that a finger in a pinch, and the thumb, gives up. */
const YIELD = 0.7;

/**
 * Gauss–Newton equations H · step = g of the fingers' joints, in the order index … last finger, thumb: then H
 * is an arrow whose factor fills in nowhere else. Hot path: nothing allocates; one caller at a time.
 */
export class NormalEquations {
  readonly size: number;
  /** Link of each unknown. */
  readonly links: Int32Array;
  /** First column of each row that is not zero. */
  readonly firstColumn: Int32Array;
  /** Lower triangle, row-major. */
  readonly h: Float64Array;
  readonly g: Float64Array;
  /** The sum of squares that the equations descend; one number. */
  readonly cost = new Float64Array(1);
  readonly #chains: HandChains;
  readonly #middle: Int32Array;
  /** Row of each link. */
  readonly #row: Int32Array;
  /** Motion of the finger's middle joint per radian of each link's joint. */
  readonly #middlePerRad: Float64Array;
  /** Weighted pinch residuals and their weights, summed for the thumb. */
  readonly #thumb = new Float64Array(4);
  /** A residual and its squared weight. A number passed to a call would be allocated. */
  readonly #gap = new Float64Array(3);
  readonly #weight = new Float64Array(1);

  constructor(chains: HandChains, middle: Int32Array) {
    const { links, start, fingers } = chains;
    const thumb = start[1]!;
    this.#chains = chains;
    this.#middle = middle;
    this.size = links;
    this.links = Int32Array.from({ length: links }, (_, i) => (i + thumb) % links);
    this.#row = new Int32Array(links);
    this.links.forEach((e, i) => {
      this.#row[e] = i;
    });
    this.firstColumn = Int32Array.from(this.links, (e) => {
      for (let f = 1; f < fingers; f++) if (e >= start[f]! && e < start[f + 1]!) return start[f]! - thumb;
      return 0;
    });
    this.h = new Float64Array(links * links);
    this.g = new Float64Array(links);
    this.#middlePerRad = new Float64Array(3 * links);
  }

  /** At the pose in which `chains` is placed. `restM`: weight of the last solution, metres per radian. */
  build(
    qRad: Float64Array,
    lastRad: Float64Array,
    targets: FingerTargets,
    pinches: PinchGoals,
    restM: Float64Array,
  ): void {
    this.h.fill(0);
    this.g.fill(0);
    this.#thumb.fill(0);
    this.cost[0] = 0;
    for (let f = 1; f < this.#chains.fingers; f++) {
      this.#addTip(f, targets, pinches);
      this.#addPinch(f, pinches);
      this.#addMiddle(f, targets, pinches);
    }
    this.#addTip(0, targets, pinches);
    this.#addMiddle(0, targets, pinches);
    this.#addThumbPinches();
    const rest = restM[0]! * restM[0]!;
    for (let i = 0; i < this.size; i++) {
      const e = this.links[i]!;
      const joint = this.#chains.jointOf[e]!;
      const like = targets.likeM[e]! * targets.likeM[e]!;
      const unlike = targets.likeRad[e]! - qRad[joint]!;
      const moved = lastRad[joint]! - qRad[joint]!;
      this.h[i * this.size + i]! += like + rest;
      this.g[i]! += like * unlike + rest * moved;
      this.cost[0]! += like * unlike * unlike + rest * moved * moved;
    }
  }

  #addTip(f: number, targets: FingerTargets, pinches: PinchGoals): void {
    const tips = this.#chains.tipsM;
    const weight = (f === 0 ? THUMB_WEIGHT : 1) * (1 - YIELD * pinches.pinch[f]!);
    for (let k = 0; k < 3; k++) this.#gap[k] = targets.tipsM[3 * f + k]! - tips[3 * f + k]!;
    this.#weight[0] = weight * weight;
    this.#count();
    this.#add(f, this.#chains.start[f + 1]!, this.#chains.tipPerRad);
  }

  #addMiddle(f: number, targets: FingerTargets, pinches: PinchGoals): void {
    const { start, originsM } = this.#chains;
    const at = this.#middle[f]!;
    const weight = MIDDLE_WEIGHT * (1 - YIELD * pinches.pinch[f]!);
    for (let e = start[f]!; e < at; e++) motionOf(this.#chains, e, originsM, 3 * at, this.#middlePerRad);
    for (let k = 0; k < 3; k++) this.#gap[k] = targets.middlesM[3 * f + k]! - originsM[3 * at + k]!;
    this.#weight[0] = weight * weight;
    this.#count();
    this.#add(f, at, this.#middlePerRad);
  }

  #count(): void {
    const gap = this.#gap;
    this.cost[0]! += this.#weight[0]! * (gap[0]! * gap[0]! + gap[1]! * gap[1]! + gap[2]! * gap[2]!);
  }

  /** weight · (JᵀJ, Jᵀ gap) over the links of a finger up to `end`. */
  #add(f: number, end: number, perRad: Float64Array): void {
    const gap = this.#gap;
    const weight = this.#weight[0]!;
    const from = this.#chains.start[f]!;
    for (let e = from; e < end; e++) {
      const x = weight * perRad[3 * e]!;
      const y = weight * perRad[3 * e + 1]!;
      const z = weight * perRad[3 * e + 2]!;
      const row = this.#row[e]!;
      this.g[row]! += x * gap[0]! + y * gap[1]! + z * gap[2]!;
      for (let d = from; d <= e; d++)
        this.h[row * this.size + this.#row[d]!]! +=
          x * perRad[3 * d]! + y * perRad[3 * d + 1]! + z * perRad[3 * d + 2]!;
    }
  }

  /** The vector from the thumb's tip to this finger's; the thumb's own part is collected. */
  #addPinch(f: number, { vectorsM, weights }: PinchGoals): void {
    const { start, tipsM, tipPerRad } = this.#chains;
    const weight = weights[f]! * weights[f]!;
    for (let k = 0; k < 3; k++) {
      this.#gap[k] = vectorsM[3 * f + k]! - tipsM[3 * f + k]! + tipsM[k]!;
      this.#thumb[k]! += weight * this.#gap[k]!;
    }
    this.#thumb[3]! += weight;
    this.#weight[0] = weight;
    this.#count();
    this.#add(f, start[f + 1]!, tipPerRad);
    for (let t = 0; t < start[1]!; t++) {
      const x = weight * tipPerRad[3 * t]!;
      const y = weight * tipPerRad[3 * t + 1]!;
      const z = weight * tipPerRad[3 * t + 2]!;
      const row = this.#row[t]! * this.size;
      for (let e = start[f]!; e < start[f + 1]!; e++)
        this.h[row + this.#row[e]!]! -=
          x * tipPerRad[3 * e]! + y * tipPerRad[3 * e + 1]! + z * tipPerRad[3 * e + 2]!;
    }
  }

  #addThumbPinches(): void {
    const weight = this.#thumb[3]!;
    for (let k = 0; k < 3; k++) this.#gap[k] = -this.#thumb[k]! / weight;
    this.#weight[0] = weight;
    this.#add(0, this.#chains.start[1]!, this.#chains.tipPerRad);
  }
}
