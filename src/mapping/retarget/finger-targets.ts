import type { HandChains } from '../../geometry/hand-chains.ts';
import type { RobotPalm } from '../../geometry/hand-palm.ts';
import type { Person } from '../../messages/person.ts';

/** Weights of the angle mapping, in metres per radian. */
const LIKE_FINGER_M = 0.004;
const LIKE_SPREAD_M = 0.006;
/** Added for the spread of a bent finger, which is not defined at 90°. */
const LIKE_BENT_SPREAD_M = 0.06;
const LIKE_THUMB_M = 0.02;
const LIKE_THUMB_BASE_M = 0.004;
/** Share of the first bone in the palm's plane over which a finger counts as bent. */
const BENT_SHARE = 0.15;
const FLAT_SHARE = 0.75;
/** A robot finger without a DIP joint takes this share of the person's DIP bend at its PIP joint. */
const DIP_SHARE = 0.45;
const FINGER_NAMES = ['thumb', 'index', 'middle', 'ring', 'pinky'];

/**
 * Where the robot's fingertips and middle joints should be, and the joint angles that a plain angle mapping
 * gives, for a person's points in the robot's palm. Hot path: nothing allocates; one caller at a time.
 */
export class FingerTargets {
  readonly tipsM: Float64Array;
  readonly middlesM: Float64Array;
  /** Angles of the plain mapping, by link, and their weights in metres per radian. */
  readonly likeRad: Float64Array;
  readonly likeM: Float64Array;
  /** Bend of each finger, summed over its joints. */
  readonly bendRad: Float64Array;
  readonly #chains: HandChains;
  readonly #palm: RobotPalm;
  /** First point of each finger of the robot, in coordinates of 21 points. */
  readonly #base: Int32Array;
  readonly #lengthM: Float64Array | null;
  readonly #openRad: Float64Array;
  readonly #thumbM: Float64Array;
  readonly #chordCos: Float64Array;
  readonly #chordSin: Float64Array;
  /** MCP, PIP, DIP of the finger at hand. */
  readonly #angles = new Float64Array(3);
  /** First bone of the finger at hand in palm axes. */
  readonly #bone = new Float64Array(3);

  constructor(chains: HandChains, palm: RobotPalm, person: Person) {
    const { fingers, links } = chains;
    this.#chains = chains;
    this.#palm = palm;
    const human = chains.hand.fingers.map(({ name }) => FINGER_NAMES.indexOf(name));
    this.#base = Int32Array.from(human, (finger) => 3 * (1 + 4 * finger));
    this.#lengthM = person.lengthM ? Float64Array.from(human, (finger) => person.lengthM![finger]!) : null;
    this.#openRad = Float64Array.from(human.flatMap((finger) => person.openRad?.[finger - 1] ?? [0, 0, 0]));
    this.#thumbM = Float64Array.from(person.thumbM ?? [0, 0, 0]);
    this.#chordCos = palm.chordRad.map(Math.cos);
    this.#chordSin = palm.chordRad.map(Math.sin);
    this.tipsM = new Float64Array(3 * fingers);
    this.middlesM = new Float64Array(3 * fingers);
    this.bendRad = new Float64Array(fingers);
    this.likeRad = Float64Array.from(chains.jointOf, (joint) => chains.model.homeRad[joint]!);
    this.likeM = Float64Array.from({ length: links }, (_, e) =>
      e >= chains.start[1]!
        ? LIKE_FINGER_M
        : palm.roles[e]!.does === 'free'
          ? LIKE_THUMB_BASE_M
          : LIKE_THUMB_M,
    );
  }

  /** `pointsM`, in the robot's palm, is corrected in place by the person's open hand. */
  take(pointsM: Float64Array): void {
    for (let f = 0; f < this.#chains.fingers; f++) {
      if (f > 0) this.#straighten(f, pointsM);
      this.#aim(f, pointsM);
      this.#measure(f, pointsM);
      this.#liken(f);
    }
  }

  /** Takes away the bend that the person's flat hand shows, about the finger's lateral axis. */
  #straighten(f: number, p: Float64Array): void {
    const open = this.#openRad;
    if (open[3 * f] === 0 && open[3 * f + 1] === 0 && open[3 * f + 2] === 0) return;
    const axes = this.#palm.axes;
    const base = this.#base[f]!;
    this.#takeBone(base, p);
    const x = this.#bone[0]!;
    const y = this.#bone[1]!;
    const flat = Math.sqrt(x * x + y * y);
    const usable = flat > 0.01 && y > 0;
    const cos = usable ? y / flat : 1;
    const sin = usable ? x / flat : 0;
    const lx = cos * axes[0]! - sin * axes[3]!;
    const ly = cos * axes[1]! - sin * axes[4]!;
    const lz = cos * axes[2]! - sin * axes[5]!;
    for (let joint = 0; joint < 3; joint++) {
      const s = Math.sin(-open[3 * f + joint]!);
      const d = 1 - Math.cos(open[3 * f + joint]!);
      const o = base + 3 * joint;
      for (let i = o + 3; i < base + 12; i += 3) {
        const vx = p[i]! - p[o]!;
        const vy = p[i + 1]! - p[o + 1]!;
        const vz = p[i + 2]! - p[o + 2]!;
        const kx = ly * vz - lz * vy;
        const ky = lz * vx - lx * vz;
        const kz = lx * vy - ly * vx;
        p[i]! += s * kx + d * (ly * kz - lz * ky);
        p[i + 1]! += s * ky + d * (lz * kx - lx * kz);
        p[i + 2]! += s * kz + d * (lx * ky - ly * kx);
      }
    }
  }

  /** First bone in palm axes. */
  #takeBone(base: number, p: Float64Array): void {
    const axes = this.#palm.axes;
    const ux = p[base + 3]! - p[base]!;
    const uy = p[base + 4]! - p[base + 1]!;
    const uz = p[base + 5]! - p[base + 2]!;
    for (let k = 0; k < 3; k++)
      this.#bone[k] = ux * axes[3 * k]! + uy * axes[3 * k + 1]! + uz * axes[3 * k + 2]!;
  }

  /** Targets of tip and middle joint: the person's, from the robot's knuckle and at the robot's length. */
  #aim(f: number, p: Float64Array): void {
    const { axes, knucklesM, lengthM, firstM } = this.#palm;
    const base = this.#base[f]!;
    const middle = base + (f === 0 ? 6 : 3);
    let bones = 0;
    let first = 0;
    for (let i = base; i < base + 9; i += 3) {
      const x = p[i + 3]! - p[i]!;
      const y = p[i + 4]! - p[i + 1]!;
      const z = p[i + 5]! - p[i + 2]!;
      bones += Math.sqrt(x * x + y * y + z * z);
      if (i + 3 === middle) first = bones;
    }
    const scale = lengthM[f]! / (this.#lengthM === null ? bones : this.#lengthM[f]!);
    const firstScale = firstM[f]! / first;
    const vx = p[base + 9]! - p[base]!;
    const vy = p[base + 10]! - p[base + 1]!;
    const vz = p[base + 11]! - p[base + 2]!;
    // A straight finger of the person meets the robot's straight finger, whose chord is bent a little.
    const cx = vx * axes[0]! + vy * axes[1]! + vz * axes[2]!;
    const cy = vx * axes[3]! + vy * axes[4]! + vz * axes[5]!;
    const cz = vx * axes[6]! + vy * axes[7]! + vz * axes[8]!;
    const ny = this.#chordCos[f]! * cy - this.#chordSin[f]! * cz;
    const nz = this.#chordSin[f]! * cy + this.#chordCos[f]! * cz;
    for (let k = 0; k < 3; k++) {
      const turned = cx * axes[k]! + ny * axes[3 + k]! + nz * axes[6 + k]!;
      this.tipsM[3 * f + k] = knucklesM[3 * f + k]! + scale * turned + (f === 0 ? this.#thumbM[k]! : 0);
      this.middlesM[3 * f + k] = knucklesM[3 * f + k]! + firstScale * (p[middle + k]! - p[base + k]!);
    }
  }

  /** Bends of the finger's three joints. */
  #measure(f: number, p: Float64Array): void {
    const base = this.#base[f]!;
    this.#takeBone(base, p);
    const x = this.#bone[0]!;
    const y = this.#bone[1]!;
    this.#angles[0] = Math.atan2(this.#bone[2]!, y < 0 ? y : Math.sqrt(x * x + y * y));
    for (let joint = 1; joint < 3; joint++) {
      const b = base + 3 * joint;
      const ux = p[b]! - p[b - 3]!;
      const uy = p[b + 1]! - p[b - 2]!;
      const uz = p[b + 2]! - p[b - 1]!;
      const vx = p[b + 3]! - p[b]!;
      const vy = p[b + 4]! - p[b + 1]!;
      const vz = p[b + 5]! - p[b + 2]!;
      const lengths = Math.sqrt((ux * ux + uy * uy + uz * uz) * (vx * vx + vy * vy + vz * vz));
      const cosine = (ux * vx + uy * vy + uz * vz) / lengths;
      this.#angles[joint] = Math.acos(Math.min(1, Math.max(-1, cosine)));
    }
    this.bendRad[f] = this.#angles[0]! + this.#angles[1]! + this.#angles[2]!;
  }

  /** The plain angle mapping of this finger's joints. */
  #liken(f: number): void {
    const { roles, splayRad, riseRad } = this.#palm;
    const x = this.#bone[0]!;
    const y = this.#bone[1]!;
    const z = this.#bone[2]!;
    const flat = Math.sqrt((x * x + y * y) / (x * x + y * y + z * z));
    const t = Math.min(1, Math.max(0, (FLAT_SHARE - flat) / (FLAT_SHARE - BENT_SHARE)));
    const bent = t * t * (3 - 2 * t);
    const splay = y <= 0 ? 0 : (1 - bent) * (1 - bent) * Math.atan2(x, y);
    const mcp = Math.atan2(z, Math.cos(splay) * y + Math.sin(splay) * x) - riseRad[f]!;
    const pip = this.#angles[1]!;
    const dip = this.#angles[2]!;
    for (let e = this.#chains.start[f]!; e < this.#chains.start[f + 1]!; e++) {
      const { does, sign } = roles[e]!;
      if (does === 'spread') {
        this.likeRad[e] = sign * (splay - splayRad[f]!);
        this.likeM[e] = LIKE_SPREAD_M + bent * LIKE_BENT_SPREAD_M;
      } else if (does === 'mcp') this.likeRad[e] = sign * mcp;
      else if (does === 'pip') this.likeRad[e] = sign * pip;
      else if (does === 'dip') this.likeRad[e] = sign * dip;
      else if (does === 'pip+dip') this.likeRad[e] = sign * (pip + DIP_SHARE * dip);
    }
  }
}
