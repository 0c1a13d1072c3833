import type { RobotModel } from '../../src/geometry/robot-model.ts';

/** A target as the driver received it, and the pose at rest before it if the driver was powered in between. */
export interface Target {
  atNs: number;
  jointsRad: Float64Array;
  /** Pose at rest from which this target starts; null: from the previous target. */
  fromRad: Float64Array | null;
}

/** Largest share of its limit used by any joint's target; above 1 is a violation. */
export interface Shares {
  velocity: number;
  acceleration: number;
  jerk: number;
  /** Largest distance outside a joint's range. */
  outsideRad: number;
}

export interface LimitSettings {
  speedPercent: number;
  accelerationPercent: number;
  jerkPercent: number;
  /** A powered robot whose loop stalls for longer is stopped, so a longer gap allows no larger jump. */
  feedbackTimeoutMs: number;
}

/** Position tolerance: far below the step of any encoder. */
const EXACT_RAD = 2e-7;
/** Spacing of the synthetic samples before a target that starts from rest. */
const REST_S = 0.005;
const APART_S = 10;
/** Two different targets with the same time count as this far apart. */
const SAME_S = 1e-6;

/**
 * Derivatives of the targets by divided differences over their times. For a motion within its limits they never exceed
 * them, even for irregular times. Shares no code with the supervisor.
 */
export function limitShares(targets: readonly Target[], model: RobotModel, settings: LimitSettings): Shares {
  const shares: Shares = { velocity: 0, acceleration: 0, jerk: 0, outsideRad: 0 };
  model.joints.forEach((joint, i) => {
    const limits = [
      (joint.maxVelocityRadS * settings.speedPercent) / 100,
      (joint.maxAccelerationRadS2 * settings.accelerationPercent) / 100,
      (joint.maxJerkRadS3 * settings.jerkPercent) / 100,
    ];
    const path = pathOf(targets, i, settings.feedbackTimeoutMs / 1000);
    const worst = [1, 2, 3].map((order) => worstOf(path, order) / limits[order - 1]!);
    shares.velocity = Math.max(shares.velocity, worst[0]!);
    shares.acceleration = Math.max(shares.acceleration, worst[1]!);
    shares.jerk = Math.max(shares.jerk, worst[2]!);
    for (const { jointsRad } of targets)
      shares.outsideRad = Math.max(
        shares.outsideRad,
        joint.minRad - jointsRad[i]!,
        jointsRad[i]! - joint.maxRad,
      );
  });
  return shares;
}

interface Sample {
  s: number;
  rad: number;
}

/** One joint's targets on a time axis whose gaps are capped. */
function pathOf(targets: readonly Target[], joint: number, maxGapS: number): Sample[] {
  const path: Sample[] = [];
  let s = 0;
  let lastNs = Number.NaN;
  for (const { atNs, jointsRad, fromRad } of targets) {
    if (fromRad !== null || Number.isNaN(lastNs)) {
      // A new start: so far from the previous samples that no difference spans both.
      const rad = (fromRad ?? jointsRad)[joint]!;
      s += APART_S;
      for (let n = 3; n > 0; n--) path.push({ s: s - n * REST_S, rad });
    } else if (atNs === lastNs && Math.abs(path.at(-1)!.rad - jointsRad[joint]!) <= EXACT_RAD) continue;
    else s += Math.min(maxGapS, Math.max(SAME_S, (atNs - lastNs) / 1e9));
    lastNs = atNs;
    path.push({ s, rad: jointsRad[joint]! });
  }
  return path;
}

/** The largest derivative of that order that the samples prove, minus rounding of the targets. */
function worstOf(path: readonly Sample[], order: number): number {
  let worst = 0;
  for (let end = order; end < path.length; end++) {
    let value = 0;
    let doubt = 0;
    for (let k = end - order; k <= end; k++) {
      let product = 1;
      for (let m = end - order; m <= end; m++) if (m !== k) product *= path[k]!.s - path[m]!.s;
      value += path[k]!.rad / product;
      doubt += EXACT_RAD / Math.abs(product);
    }
    if (path[end]!.s - path[end - order]!.s > APART_S / 2) continue;
    worst = Math.max(worst, FACTORIAL[order]! * (Math.abs(value) - doubt));
  }
  return worst;
}

const FACTORIAL = [1, 1, 2, 6];
