import { TRANSFORM_SIZE } from '../../geometry/chain.ts';
import { nearestOnBox, nearestOnSegments } from '../../geometry/nearest-points.ts';
import { neighbourPlacer } from '../../geometry/neighbour.ts';
import {
  type Neighbour,
  type Obstacle,
  type Pairing,
  pairingsOf,
  shareOf,
  stopClearanceM,
  variesIn,
  WALLS,
} from '../../geometry/pairings.ts';
import type { Box, RobotModel } from '../../geometry/robot-model.ts';
import type { LimitedBy } from '../../messages/robot-state.ts';
import type { ArmPose } from './arm-pose.ts';

/** What the guided motion keeps clear of. */
export interface GuideSurroundings {
  groundZM: number | null;
  obstacles: readonly Obstacle[];
  stopM: number;
  /** The other arm of a pair. */
  neighbour: Neighbour | null;
  /** Box for the flange. */
  workspace: Box | null;
  /** Box for the guided frame. */
  guidedBox: Box | null;
}

/** Kept beyond the clearance at which the robot stops, so that its last guard has nothing to do. */
const MARGIN_M = 0.002;
const WALL_MARGIN_M = 0.002;
/** Frames next to the base that a tool may be pressed on. */
const FIXED_FRAMES = 1;
/** Frames that belong to the tool: the last ones. */
const TOOL_FRAMES = 3;
const NEAR_SHOULDER_M = 0.01;
/** Clearance of what is not there. */
const FAR_M = 1e3;

interface Wall {
  frame: number;
  axis: number;
  side: 1 | -1;
  atM: number;
  marginM: number;
  name: string;
}

/** Every clearance of the arm with its gradient. Hot path: nothing allocates. */
export class Clearances {
  readonly size: number;
  readonly names: readonly string[];
  /** The least that each clearance may become. */
  readonly marginM: Float64Array;
  readonly nowM: Float64Array;
  /** Unit vector along which the part nearer the tool moves away, three numbers each. */
  readonly away: Float64Array;
  readonly by: readonly LimitedBy[];
  /** 1: pressing the tool this way cannot be helped by bending the arm. */
  readonly isFirm: Uint8Array;
  /** 1: one of the parts is the arm's own base, which no joint moves. */
  readonly isBase: Uint8Array;
  /** 1: the tool may be pressed on the arm's own shoulder, which the first joint turns. */
  readonly isShoulder: Uint8Array;
  /** 1: the tool touches that shoulder; 0: it is farther away than NEAR_SHOULDER_M. */
  shoulderNearness = 0;
  readonly #pose: ArmPose;
  readonly #pairings: readonly Pairing[];
  readonly #walls: readonly Wall[];
  readonly #groundZM: number;
  readonly #boxes: Float64Array;
  readonly #frames: Int32Array;
  /** Nearest points of both parts, six numbers each. */
  readonly #nearest: Float64Array;
  readonly #placeNeighbour: (qRad: ArrayLike<number>) => void;
  #seesNeighbour = true;

  constructor(model: RobotModel, pose: ArmPose, lead: number, around: GuideSurroundings) {
    this.#pose = pose;
    this.#groundZM = around.groundZM ?? 0;
    this.#boxes = Float64Array.from(around.obstacles.flatMap(({ minM, maxM }) => [...minM, ...maxM]));
    this.#frames = Int32Array.from(model.capsules, ({ frame }) => frame);
    this.#placeNeighbour =
      around.neighbour === null
        ? () => {}
        : neighbourPlacer(around.neighbour, pose.ends.subarray(model.capsules.length * 6));
    this.#placeNeighbour(around.neighbour?.model.homeRad ?? []);
    const all = pairingsOf(model, around);
    this.#nearest = new Float64Array((all.length + 2 * WALLS.length) * 6);
    this.away = new Float64Array((all.length + 2 * WALLS.length) * 3);
    const measure = (pairings: readonly Pairing[]) => (qRad: ArrayLike<number>, outM: Float64Array) => {
      pose.set(qRad);
      pose.placeCapsules();
      for (const [k, pairing] of pairings.entries()) this.#measurePair(pairing, k, outM);
    };
    this.#pairings = all.filter(variesIn(model, all.length, measure(all)));
    this.#walls = [
      ...wallsOf(around.guidedBox, lead, 'operator’s workspace', 0),
      ...wallsOf(around.workspace, model.joints.length, 'workspace', WALL_MARGIN_M),
    ];
    this.size = this.#pairings.length + this.#walls.length;
    this.nowM = new Float64Array(this.size);
    measure(this.#pairings)(model.homeRad, this.nowM);
    this.names = [...this.#pairings, ...this.#walls].map(({ name }) => name);
    this.by = [
      ...this.#pairings.map(() => 'collision' as const),
      ...this.#walls.map(() => 'workspace' as const),
    ];
    this.marginM = this.nowM.map((restM, k) => {
      const own = this.#pairings[k];
      // The robot does not guard the operator's own box.
      if (own === undefined) return this.#walls[k - this.#pairings.length]!.marginM;
      const keptM = own.kind === 'arm' ? restM : Number.POSITIVE_INFINITY;
      return stopClearanceM(keptM, around.stopM) + Math.min(MARGIN_M, shareOf(keptM) / 4);
    });
    this.isFirm = Uint8Array.from(this.nowM, (_, k) => (this.#isFirmAt(k, model) ? 1 : 0));
    this.isBase = Uint8Array.from(this.nowM, (_, k) => (this.#isOn(k, 0) ? 1 : 0));
    this.isShoulder = Uint8Array.from(this.nowM, (_, k) => this.isFirm[k]! & (this.#isOn(k, 1) ? 1 : 0));
    this.#seesNeighbour = false;
  }

  #isOn(k: number, frame: number): boolean {
    const pairing = this.#pairings[k];
    return pairing?.kind === 'arm' && this.#frames[pairing.b] === frame;
  }

  #isFirmAt(k: number, { capsules, joints }: RobotModel): boolean {
    const pairing = this.#pairings[k];
    if (pairing === undefined) return true;
    const isTool = capsules[pairing.a]!.frame > joints.length - TOOL_FRAMES;
    if (pairing.kind !== 'arm') return isTool;
    return isTool && capsules[pairing.b]!.frame <= FIXED_FRAMES;
  }

  /** Joint positions of the other arm; NaN: unknown, so nothing is kept clear of it here. */
  neighbourAt(qRad: ArrayLike<number>): void {
    this.#seesNeighbour = qRad.length > 0 && !Number.isNaN(qRad[0]!);
    if (this.#seesNeighbour) this.#placeNeighbour(qRad);
  }

  /** Measures everything in the pose that was set and placed. */
  measure(): void {
    const pairs = this.#pairings.length;
    for (let k = 0; k < pairs; k++) this.#measurePair(this.#pairings[k]!, k, this.nowM);
    for (let n = 0; n < this.#walls.length; n++) this.#measureWall(this.#walls[n]!, pairs + n);
    let roomM = NEAR_SHOULDER_M;
    for (let k = 0; k < pairs; k++)
      if (this.isShoulder[k] === 1) roomM = Math.min(roomM, this.nowM[k]! - this.marginM[k]!);
    this.shoulderNearness = 1 - Math.max(0, roomM) / NEAR_SHOULDER_M;
  }

  #measurePair({ a, b, kind, radiusM }: Pairing, k: number, outM: Float64Array): void {
    const { ends } = this.#pose;
    const near = this.#nearest;
    const at = k * 6;
    if (kind === 'neighbour' && !this.#seesNeighbour) {
      outM[k] = FAR_M;
      return;
    }
    if (kind === 'ground') {
      const low = ends[a * 6 + 2]! <= ends[a * 6 + 5]! ? a * 6 : a * 6 + 3;
      for (let i = 0; i < 3; i++) near[at + i] = near[at + 3 + i] = ends[low + i]!;
      near[at + 5] = this.#groundZM;
      this.away[k * 3] = this.away[k * 3 + 1] = 0;
      this.away[k * 3 + 2] = 1;
      outM[k] = near[at + 2]! - this.#groundZM - radiusM;
      return;
    }
    if (kind === 'obstacle') nearestOnBox(ends, a * 6, this.#boxes, b * 6, near, at);
    else nearestOnSegments(ends, a * 6, b * 6, near, at);
    const dx = near[at]! - near[at + 3]!;
    const dy = near[at + 1]! - near[at + 4]!;
    const dz = near[at + 2]! - near[at + 5]!;
    const apart = Math.sqrt(dx * dx + dy * dy + dz * dz);
    // Where the axes cross, no direction leads away; keep the last one.
    if (apart > 1e-6) {
      this.away[k * 3] = dx / apart;
      this.away[k * 3 + 1] = dy / apart;
      this.away[k * 3 + 2] = dz / apart;
    }
    outM[k] = apart - radiusM;
  }

  #measureWall({ frame, axis, side, atM }: Wall, k: number): void {
    const at = frame * TRANSFORM_SIZE;
    for (let i = 0; i < 3; i++) {
      this.#nearest[k * 6 + i] = this.#pose.frames[at + 4 * i + 3]!;
      this.away[k * 3 + i] = i === axis ? side : 0;
    }
    this.nowM[k] = side * (this.#nearest[k * 6 + axis]! - atM);
  }

  /** How clearance `k` changes per joint, to `out` at `outAt`. */
  gradient(k: number, out: Float64Array, outAt: number): void {
    const pose = this.#pose;
    const pairing = this.#pairings[k];
    out.fill(0, outAt, outAt + pose.joints);
    if (pairing === undefined) {
      const { frame } = this.#walls[k - this.#pairings.length]!;
      pose.addGradient(frame, this.#nearest, k * 6, this.away, k * 3, 1, out, outAt);
      return;
    }
    pose.addGradient(this.#frames[pairing.a]!, this.#nearest, k * 6, this.away, k * 3, 1, out, outAt);
    if (pairing.kind === 'arm')
      pose.addGradient(this.#frames[pairing.b]!, this.#nearest, k * 6 + 3, this.away, k * 3, -1, out, outAt);
  }
}

function wallsOf(box: Box | null, frame: number, name: string, marginM: number): Wall[] {
  if (box === null) return [];
  return WALLS.map((wall, n) => ({
    frame,
    axis: n % 3,
    side: n < 3 ? 1 : -1,
    atM: (n < 3 ? box.minM : box.maxM)[n % 3]!,
    marginM,
    name: `${name} ${wall}`,
  }));
}
