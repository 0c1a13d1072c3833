import { NS_PER_S } from '../../core/time/clock.ts';
import type { JointLimits } from './limits.ts';

/** Shares of the limits that a plan uses; the rest is for corrections. */
export const PLANNED_VELOCITY = 0.97;
export const PLANNED_ACCELERATION = 0.9;
/** The path may be run through at this multiple of the hand's own rate when catching up. */
const MAX_HASTE = 12;
/** At the newest node it may be run through at this multiple, so that a prediction can be caught up with. */
const END_HASTE = 1.3;
/** Share of the velocity limit at the newest node: the path may go on faster. */
const END_VELOCITY = 0.85 * PLANNED_VELOCITY;
/** Braking at the newest node leaves this much of the acceleration the hand has recently used. */
const END_ACCELERATION = 2;
/** Misses of the prediction fade with this time constant. */
const MISS_FADE_S = 0.4;
/** What the hand's acceleration might have become fades with this one: a start must not slow the whole reach. */
const SOON_FADE_S = 0.25;
/** Recent accelerations fade with this one, as long as a reach lasts … */
const FADE_S = 0.6;
/** … and sooner while the hand moves evenly, at less than this share of the arm's acceleration. */
const EVEN_FADE_S = 0.12;
const EVEN_SHARE = 0.15;
/** The acceleration is expected to go on changing for this long; its change is taken over this many nodes. */
const TREND_S = 0.07;
const TREND_NODES = 4;
/** Share of a new spacing in the mean spacing of the nodes. */
const NEWEST_SHARE = 0.1;
const MIN_SPACING_S = 0.001;
const MAX_SPACING_S = 0.1;
const FLAT = 1e-12;
/** A prediction bends as the last nodes did on average … */
const BEND_NODES = 3;
const KEPT_NODES = 10;
/** Consecutive lost nodes that are filled in. */
const MAX_LOST = 3;
/** … and is judged by a node this far ahead. */
export const PREDICTED_NODES = 3;

/**
 * The path that commands draw in joint space: a quadratic B-spline through their joint poses ("nodes"), so that it bends
 * smoothly, keeps inside their hull and cuts each corner by an eighth of its second difference. Position along it is `u`:
 * node k has most weight at u = k. It is known up to half a node before the newest; beyond, it continues straight.
 * Next to the nodes it keeps how fast the path may be run through so that braking and every bend ahead stay within the
 * velocity and acceleration limits. Hot path: nothing allocates.
 */
export class DrawnPath {
  readonly capacity: number;
  readonly joints: number;
  /** Oldest and newest node. */
  first = 0;
  last = 0;
  /** Mean spacing of the nodes in seconds. */
  spacingS = 0.01;
  /** Recent acceleration of the nodes, per joint. */
  readonly recentRadS2: Float64Array;
  /** Recent error of predicting a node `PREDICTED_NODES` ahead: the largest of any joint. */
  missRad = 0;
  /**
   * Where to `look`, and what `find` finds from there on for `soughtNs`. Fields and not arguments, because V8 allocates an
   * object for each fractional number that it passes to a function.
   */
  u = 0;
  soughtNs = 0;
  /** Between the two newest nodes. */
  #elapsedS = 0;
  readonly #newestRadS2: Float64Array;
  /** What it may soon be: newest, and recently. */
  readonly #projectedRadS2: Float64Array;
  readonly #soonRadS2: Float64Array;
  /** Acceleration of the nodes, smoothed. */
  readonly #trendRadS2: Float64Array;
  /** How the path bends beyond its end. */
  readonly #bendOn: Float64Array;
  readonly #limits: JointLimits;
  readonly #nodes: Float64Array;
  readonly #atNs: Float64Array;
  /** Squares of the highest speeds along the path (nodes per second): at u = k − ½ and u = k, alternating. */
  readonly #most: Float64Array;
  /** Lower and upper bound of the acceleration along the path: value and slope over the squared speed. */
  readonly #low = new Float64Array(2);
  readonly #high = new Float64Array(2);
  readonly #line = new Float64Array(4);
  readonly #square = new Float64Array(1);

  constructor(limits: JointLimits, capacity = 1024) {
    this.joints = limits.minRad.length;
    this.capacity = capacity;
    this.#limits = limits;
    this.#nodes = new Float64Array(capacity * this.joints);
    this.#atNs = new Float64Array(capacity);
    this.#most = new Float64Array(capacity * 2);
    this.recentRadS2 = new Float64Array(this.joints);
    this.#newestRadS2 = new Float64Array(this.joints);
    this.#projectedRadS2 = new Float64Array(this.joints);
    this.#soonRadS2 = new Float64Array(this.joints);
    this.#bendOn = new Float64Array(this.joints);
    this.#trendRadS2 = new Float64Array(this.joints);
  }

  /** Begins at rest in a pose. */
  restart(poseRad: Float64Array, atNs: number): void {
    this.first = 0;
    this.last = 1;
    for (let k = 0; k < 2; k++) {
      this.#nodes.set(poseRad, this.#slot(k));
      this.#atNs[k] = atNs - (1 - k) * this.spacingS * NS_PER_S;
    }
    this.recentRadS2.fill(0);
    this.#soonRadS2.fill(0);
    this.#bendOn.fill(0);
    this.#trendRadS2.fill(0);
    this.missRad = 0;
    this.#most.fill(0, 0, 4);
    this.#plan();
  }

  /** Adds a node. Times that do not increase are moved. */
  add(poseRad: ArrayLike<number>, atNs: number): void {
    const beforeNs = this.#atNs[this.last % this.capacity]!;
    const stampNs = Math.max(atNs, beforeNs + MIN_SPACING_S * NS_PER_S);
    const spacingS = (stampNs - beforeNs) / NS_PER_S;
    const parts = this.#partsOf(spacingS);
    if (spacingS < MAX_SPACING_S) this.spacingS += NEWEST_SHARE * (spacingS / parts - this.spacingS);
    const from = this.#slot(this.last);
    for (let part = 1; part <= parts; part++) {
      this.last++;
      const at = this.#slot(this.last);
      for (let i = 0; i < this.joints; i++) {
        const start = this.#nodes[from + i]!;
        this.#nodes[at + i] = part === parts ? poseRad[i]! : start + (part / parts) * (poseRad[i]! - start);
      }
      this.#atNs[this.last % this.capacity] = beforeNs + (part / parts) * (stampNs - beforeNs);
      this.#elapsedS = Math.min(spacingS / parts, MAX_SPACING_S);
      this.#feel();
      this.#predict();
    }
    this.#plan();
  }

  /** Nodes are evenly spaced in u, so lost ones are filled in: else a gap would look like a burst of speed. */
  #partsOf(spacingS: number): number {
    const parts = Math.round(spacingS / this.spacingS);
    const isLoss = this.isPredictable && parts > 1 && parts <= MAX_LOST + 1 && spacingS < MAX_SPACING_S;
    return isLoss && this.last - this.first < this.capacity - 2 * MAX_LOST ? parts : 1;
  }

  /** Forgets the nodes between here and the newest: the path goes straight to it. */
  cut(u: number): void {
    // The segment that u is on stays.
    const from = Math.floor(u + 0.5) + 2;
    if (from >= this.last) return;
    const at = this.#slot(from);
    this.#nodes.copyWithin(at, this.#slot(this.last), this.#slot(this.last) + this.joints);
    this.#atNs[from % this.capacity] = this.#atNs[this.last % this.capacity]!;
    this.last = from;
    this.#plan();
  }

  /** Forgets the nodes that no longer matter at `u`. */
  forget(): void {
    const k = Math.floor(Math.min(this.u, this.last) + 0.5);
    this.first = Math.max(this.first, k - KEPT_NODES);
  }

  /** Whether there are enough nodes to predict the next ones and to judge that. */
  get isPredictable(): boolean {
    return this.last - this.first >= BEND_NODES + PREDICTED_NODES + 1;
  }

  /** Whether there is room for another node. */
  get isFull(): boolean {
    return this.last - this.first >= this.capacity - 2;
  }

  #slot(k: number): number {
    return (k % this.capacity) * this.joints;
  }

  /** Position of joint `i` in the newest node. */
  newest(i: number): number {
    return this.#nodes[this.#slot(this.last) + i]!;
  }

  nodeNs(k: number): number {
    return this.#atNs[Math.max(this.first, Math.min(this.last, k)) % this.capacity]!;
  }

  /** Where the path is at `soughtNs`, from `u` on, into `u`; beyond the newest node it continues at its spacing. */
  find(): void {
    const ns = this.soughtNs;
    const lastNs = this.nodeNs(this.last);
    if (ns >= lastNs) {
      this.u = this.last + (ns - lastNs) / (this.spacingS * NS_PER_S);
      return;
    }
    let k = Math.min(this.last - 1, Math.max(this.first, Math.floor(this.u)));
    while (k > this.first && this.nodeNs(k) > ns) k--;
    while (k < this.last - 1 && this.nodeNs(k + 1) <= ns) k++;
    const fromNs = this.nodeNs(k);
    this.u = k + Math.max(0, (ns - fromNs) / Math.max(1, this.nodeNs(k + 1) - fromNs));
  }

  /** Where the path ends as drawn. */
  get endU(): number {
    return this.last - 0.5;
  }

  /** Positions, first and second derivatives at `u`. */
  look(outRad: Float64Array, first: Float64Array, second: Float64Array): void {
    const { u } = this;
    const k = Math.max(this.first + 1, Math.min(this.last, Math.floor(u + 0.5)));
    if (k === this.last) {
      this.#beyond(outRad, first, second);
      return;
    }
    const before = this.#slot(k - 1);
    const here = this.#slot(k);
    const after = this.#slot(k + 1);
    const w = u - (k - 0.5);
    for (let i = 0; i < this.joints; i++) {
      const a = this.#nodes[before + i]!;
      const b = this.#nodes[here + i]!;
      const rise = b - a;
      const bend = this.#nodes[after + i]! - b - rise;
      outRad[i] = (a + b) / 2 + w * (rise + (w * bend) / 2);
      first[i] = rise + w * bend;
      second[i] = bend;
    }
  }

  /** Beyond the end the path bends on as it did, until a joint would turn back: there that joint stays. */
  #beyond(outRad: Float64Array, first: Float64Array, second: Float64Array): void {
    const w = this.u - (this.last - 0.5);
    const before = this.#slot(this.last - 1);
    const here = this.#slot(this.last);
    for (let i = 0; i < this.joints; i++) {
      const a = this.#nodes[before + i]!;
      const b = this.#nodes[here + i]!;
      const rise = b - a;
      const bend = this.#bendOn[i]!;
      const turns = rise * bend < 0 && Math.abs(bend) * w > Math.abs(rise);
      const along = turns ? -rise / bend : w;
      outRad[i] = (a + b) / 2 + along * (rise + (along * bend) / 2);
      first[i] = turns ? 0 : rise + w * bend;
      second[i] = turns ? 0 : bend;
    }
  }

  /** Judges what would have been predicted for the newest node, and how the path bends on. */
  #predict(): void {
    if (!this.isPredictable) {
      this.#bendOn.fill(0);
      return;
    }
    const slots = this.#slots;
    for (let n = 0; n < slots.length; n++) slots[n] = this.#slot(this.last - n);
    const w = PREDICTED_NODES + 0.5;
    let missRad = 0;
    for (let i = 0; i < this.joints; i++) {
      this.#bendOn[i] = this.#meanBend(i, 0);
      const a = this.#nodes[slots[PREDICTED_NODES + 1]! + i]!;
      const b = this.#nodes[slots[PREDICTED_NODES]! + i]!;
      const bend = this.#meanBend(i, PREDICTED_NODES);
      const along = (b - a) * bend < 0 ? Math.min(w, Math.abs((b - a) / bend)) : w;
      const predicted = (a + b) / 2 + along * (b - a + (along * bend) / 2);
      missRad = Math.max(missRad, Math.abs(predicted - this.#nodes[slots[0]! + i]!));
    }
    this.missRad = Math.max(this.missRad * Math.exp(-this.#elapsedS / MISS_FADE_S), missRad);
  }

  /** Mean second difference of the nodes that end `back` before the newest. */
  #meanBend(i: number, back: number): number {
    const slots = this.#slots;
    const newest = this.#nodes[slots[back]! + i]! - this.#nodes[slots[back + 1]! + i]!;
    const oldest =
      this.#nodes[slots[back + BEND_NODES]! + i]! - this.#nodes[slots[back + BEND_NODES + 1]! + i]!;
    return (newest - oldest) / BEND_NODES;
  }

  readonly #slots = new Int32Array(BEND_NODES + PREDICTED_NODES + 2);

  /** Square of the highest speed at u, in nodes per second. */
  mostAt(u: number): number {
    const grid = 2 * u + 1;
    const i = Math.floor(grid);
    if (i >= 2 * this.last) return this.#most[(2 * this.last) % this.#most.length]!;
    const share = grid - i;
    return (
      (1 - share) * this.#most[i % this.#most.length]! + share * this.#most[(i + 1) % this.#most.length]!
    );
  }

  /** Keeps the recent acceleration of the nodes. */
  #feel(): void {
    if (this.last - this.first < 3) return;
    const spanS2 = 2 * this.spacingS * this.spacingS;
    const a = this.#slot(this.last);
    const b = this.#slot(this.last - 1);
    const c = this.#slot(this.last - 2);
    const d = this.#slot(this.last - 3);
    let isEven = true;
    for (let i = 0; i < this.joints; i++) {
      const newest = this.#nodes[a + i]! - this.#nodes[b + i]!;
      const earlier = this.#nodes[c + i]! - this.#nodes[d + i]!;
      const signed = (newest - earlier) / spanS2;
      // An acceleration that grows will soon be larger.
      const growth = (signed - this.#trendRadS2[i]!) * (TREND_S / (TREND_NODES * this.spacingS));
      this.#trendRadS2[i]! += (signed - this.#trendRadS2[i]!) / TREND_NODES;
      this.#newestRadS2[i] = Math.abs(signed);
      this.#projectedRadS2[i] = Math.abs(signed + growth);
      if (Math.abs(signed) > EVEN_SHARE * this.#limits.accelerationRadS2[i]!) isEven = false;
    }
    const fade = Math.exp(-this.#elapsedS / (isEven ? EVEN_FADE_S : FADE_S));
    const soonFade = Math.exp(-this.#elapsedS / (isEven ? EVEN_FADE_S : SOON_FADE_S));
    for (let i = 0; i < this.joints; i++) {
      this.recentRadS2[i] = Math.max(this.recentRadS2[i]! * fade, this.#newestRadS2[i]!);
      this.#soonRadS2[i] = Math.max(this.#soonRadS2[i]! * soonFade, this.#projectedRadS2[i]!);
    }
  }

  /** Square of the speed at the end of the path from which the arm could still follow a hand as lively as lately. */
  #endSquare(): number {
    const { velocityRadS, accelerationRadS2 } = this.#limits;
    const rate = 1 / this.spacingS;
    let square = END_HASTE * END_HASTE * rate * rate;
    const newest = this.#slot(this.last);
    const before = this.#slot(this.last - 1);
    for (let i = 0; i < this.joints; i++) {
      const rise = Math.abs(this.#nodes[newest + i]! - this.#nodes[before + i]!);
      if (rise > FLAT) {
        const speed = (END_VELOCITY * velocityRadS[i]!) / rise;
        square = Math.min(square, speed * speed);
      }
      const recent = Math.max(this.recentRadS2[i]!, this.#soonRadS2[i]!);
      if (recent > FLAT)
        square = Math.min(square, (accelerationRadS2[i]! / (END_ACCELERATION * recent)) * rate * rate);
    }
    return square;
  }

  /** Highest speeds, from the end backwards until they no longer change. */
  #plan(): void {
    const size = this.#most.length;
    const end = 2 * this.last;
    this.#most[end % size] = this.#endSquare();
    for (let i = end - 1; i >= 2 * (this.first + 1); i--) {
      this.#highest(i);
      const square = this.#square[0]!;
      // The speeds of the segment that the newest node changed are new; before it they may repeat.
      if (i < end - 4 && square === this.#most[i % size]) return;
      this.#most[i % size] = square;
    }
  }

  /**
   * The highest squared speed x at grid point i from which some acceleration y along the path stays inside the limits at
   * both ends of the half segment and arrives with at most `next`. Bounds of y are straight lines over x; the highest x
   * at which the lower ones stay below the upper ones is found by Newton's method. The result is in `#square`, and what
   * `#narrow` needs in `#line`: numbers passed between functions that are not inlined would be allocated.
   */
  #highest(i: number): void {
    const next = this.#most[(i + 1) % this.#most.length]!;
    const { velocityRadS, accelerationRadS2 } = this.#limits;
    const k = Math.floor(i / 2);
    const isSecondHalf = i % 2 === 1;
    // Grid point 2k is u = k − ½, where segment k begins; 2k + 1 is its middle.
    const earlier = this.#slot(Math.max(this.first, k - 2));
    const before = this.#slot(k - 1);
    const here = this.#slot(k);
    const after = this.#slot(Math.min(this.last, k + 1));
    const w = isSecondHalf ? 0.5 : 0;
    const haste = MAX_HASTE / this.spacingS;
    let x = haste * haste;
    for (let j = 0; j < this.joints; j++) {
      const rise = this.#nodes[here + j]! - this.#nodes[before + j]!;
      const bend = this.#nodes[after + j]! - this.#nodes[here + j]! - rise;
      const slope = Math.abs(rise + w * bend);
      if (slope > FLAT) x = Math.min(x, ((PLANNED_VELOCITY * velocityRadS[j]!) / slope) ** 2);
      // Where a segment begins, the bend of the one before still holds: there the joint may be about to stand.
      const most = PLANNED_ACCELERATION * accelerationRadS2[j]!;
      const bent = isSecondHalf ? 0 : rise - (this.#nodes[before + j]! - this.#nodes[earlier + j]!);
      const largest = Math.max(Math.abs(bend), Math.abs(bent));
      if (largest > FLAT) x = Math.min(x, most / largest);
    }
    for (let round = 0; round < 6; round++) {
      this.#low[0] = 0;
      this.#low[1] = -1;
      this.#high[0] = next;
      this.#high[1] = -1;
      for (let j = 0; j < this.joints; j++) {
        const rise = this.#nodes[here + j]! - this.#nodes[before + j]!;
        const bend = this.#nodes[after + j]! - this.#nodes[here + j]! - rise;
        const most = PLANNED_ACCELERATION * accelerationRadS2[j]!;
        const slope = rise + w * bend;
        this.#line[0] = slope;
        this.#line[1] = bend;
        this.#line[2] = most;
        this.#line[3] = x;
        this.#narrow();
        this.#line[0] = slope + 1.5 * bend;
        this.#narrow();
      }
      const low = this.#low[0]! + this.#low[1]! * x;
      const high = this.#high[0]! + this.#high[1]! * x;
      if (low <= high) break;
      const closing = this.#low[1]! - this.#high[1]!;
      x = closing <= FLAT ? 0 : Math.max(0, (this.#high[0]! - this.#low[0]!) / closing);
      if (x === 0) break;
    }
    this.#square[0] = x;
  }

  /** Narrows the bounds of y by |slope · y + bend · x| ≤ most, where they are tightest at this x. */
  #narrow(): void {
    const slope = this.#line[0]!;
    const bend = this.#line[1]!;
    const most = this.#line[2]!;
    const x = this.#line[3]!;
    if (Math.abs(slope) < 1e-9) return;
    const sign = slope < 0 ? -1 : 1;
    const size = Math.abs(slope);
    const low0 = -most / size;
    const high0 = most / size;
    const tilt = (-sign * bend) / size;
    if (low0 + tilt * x > this.#low[0]! + this.#low[1]! * x) {
      this.#low[0] = low0;
      this.#low[1] = tilt;
    }
    if (high0 + tilt * x < this.#high[0]! + this.#high[1]! * x) {
      this.#high[0] = high0;
      this.#high[1] = tilt;
    }
  }
}
