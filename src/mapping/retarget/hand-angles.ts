import { checkHand, HAND_NUMBERS, HAND_POINTS, type HandReason, PALM } from '../../hand/points.ts';

/**
 * Angles measured on a hand, in radians; 0 is a straight finger in line with the palm. Abduction is positive
 * toward the thumb.
 */
export const HAND_ANGLES = [
  'thumb_mcp',
  'thumb_abd',
  'thumb_pip',
  'index_abd',
  'index_mcp',
  'index_pip',
  'middle_abd',
  'middle_mcp',
  'middle_pip',
  'ring_abd',
  'ring_mcp',
  'ring_pip',
  'pinky_abd',
  'pinky_mcp',
  'pinky_pip',
  'wrist',
] as const;
export type HandAngle = (typeof HAND_ANGLES)[number];

/** The abduction of a bone out of the palm's plane is not well defined: in-plane share over which it fades. */
const FADE_FROM = 0.1;
const FADE_OVER = 0.2;

const { index: INDEX, middle: MIDDLE, pinky: PINKY } = PALM;
const RING = 13;

/** Flexions: index of the angle, and the two bones, each by its end point. */
const FLEXIONS = Uint8Array.of(
  ...[0, 2, 3],
  ...[2, 3, 4],
  ...[INDEX, MIDDLE, RING, PINKY].flatMap((mcp, f) => [4 + 3 * f, mcp, mcp + 1, 5 + 3 * f, mcp + 1, mcp + 2]),
);
/** Abductions: index of the angle, and the bone by its end point. A finger's MCP angle follows its abduction. */
const ABDUCTIONS = Uint8Array.of(
  ...[1, 2],
  ...[3, INDEX + 1],
  ...[6, MIDDLE + 1],
  ...[9, RING + 1],
  ...[12, PINKY + 1],
);
const WRIST_ANGLE = 15;

/** Measures a hand of 21 points. Hot path: nothing allocates; one caller at a time. */
export interface HandMeter {
  /**
   * Fills `outRad` in the order of `HAND_ANGLES`. A left hand is mirrored first and gives the angles of a
   * right one. `outRad` is untouched if a reason is returned.
   */
  measure(pointsM: Float64Array, isLeft: boolean, outRad: Float64Array): HandReason | null;
}

/** Where a finger's MCP angle is measured: in the plane in which it bends, or as the document does. */
export type Flexion = 'plane' | 'bones';

/** `gravity` is the unit vector pointing down in the frame of the points. */
export function createHandMeter(
  gravity: readonly number[] = [0, -1, 0],
  flexion: Flexion = 'plane',
): HandMeter {
  return new Meter(gravity, flexion);
}

/** Uses loops over typed arrays: a function that returns a number may allocate on every call. */
class Meter implements HandMeter {
  readonly #gravity: Float64Array;
  /** Unit bone vectors, by end point; a left hand is mirrored. */
  readonly #bones = new Float64Array(HAND_NUMBERS);
  /** Axes of the palm: x, y, z. */
  readonly #palm = new Float64Array(9);
  readonly #angles = new Float64Array(HAND_ANGLES.length);

  readonly #inPlane: boolean;

  constructor(gravity: readonly number[], flexion: Flexion) {
    this.#gravity = Float64Array.from(gravity);
    this.#inPlane = flexion === 'plane';
  }

  measure(pointsM: Float64Array, isLeft: boolean, outRad: Float64Array): HandReason | null {
    const reason = checkHand(pointsM);
    if (reason !== null) return reason;
    const mirror = isLeft ? -1 : 1;
    this.#takeBones(pointsM, mirror);
    this.#takePalm(pointsM, mirror);
    this.#flex();
    this.#abduct();
    const [g, palm] = [this.#gravity, this.#palm];
    const down = mirror * g[0]! * palm[3]! + g[1]! * palm[4]! + g[2]! * palm[5]!;
    this.#angles[WRIST_ANGLE] = Math.asin(Math.min(1, Math.max(-1, down)));
    outRad.set(this.#angles);
    return null;
  }

  /** Five chains of four bones, each from the wrist. */
  #takeBones(p: Float64Array, mirror: number): void {
    const bones = this.#bones;
    for (let i = 1; i < HAND_POINTS; i++) {
      const to = 3 * i;
      const from = i % 4 === 1 ? 3 * PALM.wrist : to - 3;
      const dx = mirror * (p[to]! - p[from]!);
      const dy = p[to + 1]! - p[from + 1]!;
      const dz = p[to + 2]! - p[from + 2]!;
      const length = Math.sqrt(dx * dx + dy * dy + dz * dz);
      bones[to] = dx / length;
      bones[to + 1] = dy / length;
      bones[to + 2] = dz / length;
    }
  }

  #takePalm(p: Float64Array, mirror: number): void {
    const [palm, bones] = [this.#palm, this.#bones];
    // The middle finger's first bone goes from the wrist to its knuckle.
    const yx = bones[3 * MIDDLE]!;
    const yy = bones[3 * MIDDLE + 1]!;
    const yz = bones[3 * MIDDLE + 2]!;
    const ax = mirror * (p[3 * INDEX]! - p[3 * PINKY]!);
    const ay = p[3 * INDEX + 1]! - p[3 * PINKY + 1]!;
    const az = p[3 * INDEX + 2]! - p[3 * PINKY + 2]!;
    let zx = ay * yz - az * yy;
    let zy = az * yx - ax * yz;
    let zz = ax * yy - ay * yx;
    const length = Math.sqrt(zx * zx + zy * zy + zz * zz);
    zx /= length;
    zy /= length;
    zz /= length;
    palm[0] = yy * zz - yz * zy;
    palm[1] = yz * zx - yx * zz;
    palm[2] = yx * zy - yy * zx;
    palm[3] = yx;
    palm[4] = yy;
    palm[5] = yz;
    palm[6] = zx;
    palm[7] = zy;
    palm[8] = zz;
  }

  #flex(): void {
    const bones = this.#bones;
    for (let i = 0; i < FLEXIONS.length; i += 3) {
      const u = 3 * FLEXIONS[i + 1]!;
      const v = 3 * FLEXIONS[i + 2]!;
      const cosine = bones[u]! * bones[v]! + bones[u + 1]! * bones[v + 1]! + bones[u + 2]! * bones[v + 2]!;
      this.#angles[FLEXIONS[i]!] = Math.acos(Math.min(1, Math.max(-1, cosine)));
    }
  }

  /** Also the MCP angles of the fingers in the planes in which they bend. */
  #abduct(): void {
    const bones = this.#bones;
    const palm = this.#palm;
    for (let i = 0; i < ABDUCTIONS.length; i += 2) {
      const angle = ABDUCTIONS[i]!;
      const u = 3 * ABDUCTIONS[i + 1]!;
      const x = bones[u]! * palm[0]! + bones[u + 1]! * palm[1]! + bones[u + 2]! * palm[2]!;
      const y = bones[u]! * palm[3]! + bones[u + 1]! * palm[4]! + bones[u + 2]! * palm[5]!;
      const z = bones[u]! * palm[6]! + bones[u + 1]! * palm[7]! + bones[u + 2]! * palm[8]!;
      const flat = Math.sqrt(Math.max(0, 1 - z * z));
      const fade = Math.min(1, Math.max(0, (flat - FADE_FROM) / FADE_OVER));
      // A bone that is bent beyond the palm's normal points backwards: its direction in the plane is opposite.
      const aside = fade === 0 ? 0 : fade * (y < 0 && i > 0 ? Math.atan2(-x, -y) : Math.atan2(x, y));
      this.#angles[angle] = aside;
      if (i > 0 && this.#inPlane)
        this.#angles[angle + 1] = Math.atan2(z, Math.cos(aside) * y + Math.sin(aside) * x);
    }
  }
}
