import type { RobotModel } from '../../src/geometry/robot-model.ts';

/** A target as the driver got it; a pose at rest before it, where the driver was powered in between. */
export interface Target {
  atNs: number;
  jointsRad: Float64Array;
  /** Pose, at rest, from which this target sets out; null: from the target before. */
  fromRad: Float64Array | null;
}

/** Largest share of its limit that any joint's target took; above 1 is a violation. */
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
  /** A powered robot whose loop stands still for longer is stopped; a longer gap gives no licence to leap. */
  feedbackTimeoutMs: number;
}

/** A target nearer than this to where it should be is there: far below any encoder's step. */
const EXACT_RAD = 2e-7;
/** Spacing of the made-up samples before a target that sets out from rest. */
const REST_S = 0.005;
const APART_S = 10;
/** Two different targets of one instant count as this far apart. */
const SAME_S = 1e-6;

/**
 * Derivatives of the targets by divided differences over their own instants, which for a motion inside its limits never
 * exceed them, however irregular the instants are. Shares no code with the supervisor.
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

/** One joint's targets on a time that runs through gaps no longer than allowed. */
function pathOf(targets: readonly Target[], joint: number, maxGapS: number): Sample[] {
  const path: Sample[] = [];
  let s = 0;
  let lastNs = Number.NaN;
  for (const { atNs, jointsRad, fromRad } of targets) {
    if (fromRad !== null || Number.isNaN(lastNs)) {
      // A new start: so far from what was before that no difference reaches across.
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

/** The largest derivative of that order that the samples prove, rounding of the targets taken off. */
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
