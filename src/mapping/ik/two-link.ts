import { HOLD } from './singular.ts';

/** Shoulder and elbow in a plane. Hot path: nothing allocates. */
export interface TwoLink {
  /** Point to reach from the shoulder, x and y; fill before `solve`. */
  readonly pointM: Float64Array;
  /** Shoulder and elbow that give the ray when the point is on the shoulder; fill before `solve`. */
  readonly seedRad: Float64Array;
  /** Shoulder and elbow, elbow positive; then the same, elbow negative. */
  readonly anglesRad: Float64Array;
  /** Out of reach, keeps the ray to the point and returns false. */
  solve(): boolean;
}

/** Beyond the reach by less than this is rounding. */
const SLACK_M = 1e-9;

/** Lengths may be negative, as in DH rows. */
export function createTwoLink(upperM: number, foreM: number): TwoLink {
  const sumSqM2 = upperM * upperM + foreM * foreM;
  const twiceM2 = 2 * upperM * foreM;
  const outerM = Math.abs(upperM) + Math.abs(foreM);
  const innerM = Math.abs(Math.abs(upperM) - Math.abs(foreM));
  const pointM = new Float64Array(2);
  const anglesRad = new Float64Array(4);
  const seedRad = new Float64Array(2);
  return {
    pointM,
    seedRad,
    anglesRad,
    solve() {
      const x = pointM[0]!;
      const y = pointM[1]!;
      const spanSqM2 = x * x + y * y;
      const cosElbow = Math.min(1, Math.max(-1, (spanSqM2 - sumSqM2) / twiceM2));
      const elbow = Math.acos(cosElbow);
      const inner = Math.atan2(foreM * Math.sqrt(1 - cosElbow * cosElbow), upperM + foreM * cosElbow);
      let ray = Math.atan2(y, x);
      if (spanSqM2 <= HOLD * HOLD)
        ray = seedRad[0]! + Math.atan2(foreM * Math.sin(seedRad[1]!), upperM + foreM * Math.cos(seedRad[1]!));
      anglesRad[0] = ray - inner;
      anglesRad[1] = elbow;
      anglesRad[2] = ray + inner;
      anglesRad[3] = -elbow;
      const spanM = Math.sqrt(spanSqM2);
      return spanM <= outerM + SLACK_M && spanM >= innerM - SLACK_M;
    },
  };
}
