import { HAND_NUMBERS, PALM, spanM } from '../../hand/points.ts';

const MIDDLE = 3 * PALM.middle;
const INDEX = 3 * PALM.index;
const PINKY = 3 * PALM.pinky;

/**
 * A person's 21 points relative to the wrist, turned so that the person's palm lies on the robot's. A left
 * hand is mirrored first. Hot path: nothing allocates; one caller at a time.
 */
export class PalmPoints {
  readonly pointsM = new Float64Array(HAND_NUMBERS);
  /** Length of the palm, wrist to the middle knuckle; one number. */
  readonly palmM = new Float64Array(1);
  readonly #robotAxes: Float64Array;
  readonly #axes = new Float64Array(9);
  readonly #turn = new Float64Array(9);

  /** `robotAxes`: rows x, y, z of the robot's palm. */
  constructor(robotAxes: Float64Array) {
    this.#robotAxes = robotAxes;
  }

  /** `pointsM`: a hand that `checkHand` accepts. */
  take(pointsM: Float64Array, isLeft: boolean): void {
    const mirror = isLeft ? -1 : 1;
    this.#takeAxes(pointsM, mirror);
    const turn = this.#turn;
    const robot = this.#robotAxes;
    const own = this.#axes;
    for (let row = 0; row < 3; row++)
      for (let column = 0; column < 3; column++)
        turn[3 * row + column] =
          robot[row]! * own[column]! +
          robot[3 + row]! * own[3 + column]! +
          robot[6 + row]! * own[6 + column]!;
    const out = this.pointsM;
    for (let i = 0; i < HAND_NUMBERS; i += 3) {
      const x = mirror * (pointsM[i]! - pointsM[0]!);
      const y = pointsM[i + 1]! - pointsM[1]!;
      const z = pointsM[i + 2]! - pointsM[2]!;
      out[i] = turn[0]! * x + turn[1]! * y + turn[2]! * z;
      out[i + 1] = turn[3]! * x + turn[4]! * y + turn[5]! * z;
      out[i + 2] = turn[6]! * x + turn[7]! * y + turn[8]! * z;
    }
  }

  #takeAxes(p: Float64Array, mirror: number): void {
    const axes = this.#axes;
    const length = spanM(p, PALM.wrist, PALM.middle);
    this.palmM[0] = length;
    const yx = (mirror * (p[MIDDLE]! - p[0]!)) / length;
    const yy = (p[MIDDLE + 1]! - p[1]!) / length;
    const yz = (p[MIDDLE + 2]! - p[2]!) / length;
    const ax = mirror * (p[INDEX]! - p[PINKY]!);
    const ay = p[INDEX + 1]! - p[PINKY + 1]!;
    const az = p[INDEX + 2]! - p[PINKY + 2]!;
    let zx = ay * yz - az * yy;
    let zy = az * yx - ax * yz;
    let zz = ax * yy - ay * yx;
    const area = Math.sqrt(zx * zx + zy * zy + zz * zz);
    zx /= area;
    zy /= area;
    zz /= area;
    axes[0] = yy * zz - yz * zy;
    axes[1] = yz * zx - yx * zz;
    axes[2] = yx * zy - yy * zx;
    axes[3] = yx;
    axes[4] = yy;
    axes[5] = yz;
    axes[6] = zx;
    axes[7] = zy;
    axes[8] = zz;
  }
}
