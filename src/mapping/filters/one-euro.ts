import { NS_PER_S } from '../../core/clock.ts';
import { quatConjugate, quatMultiply, rotvecFromQuat } from '../../core/frames.ts';
import { blendQuat, blendVector } from './blend.ts';
import type { PoseFilter } from './filter.ts';

/** Cutoff of the speed estimate, as in the paper. */
const SPEED_CUTOFF_HZ = 1;
/** Speeds stay finite. */
const SHORTEST_STEP_NS = 1;

/**
 * One-Euro filter (Casiez, Roussel, Vogel 2012): a low pass whose cutoff is `minCutoffHz` for a still hand and grows
 * by `beta` Hz per m/s of its speed, for the orientation by `beta` Hz per rad/s of its own.
 * Delay: 1 / (2π cutoff), the larger of the two, at this moment.
 */
export function createOneEuro(minCutoffHz: number, beta: number): PoseFilter {
  const position = { raw: new Float64Array(3), out: new Float64Array(3), speed: new Float64Array(3) };
  const turn = { raw: new Float64Array(4), out: new Float64Array(4), speed: new Float64Array(3) };
  const velocity = new Float64Array(3);
  const step = new Float64Array(4);
  let takenNs = 0;
  let positionDelayNs = 0;
  let turnDelayNs = 0;

  /** Smooths the speed by what is in `velocity`; the share of the newest sample at the cutoff that follows. */
  const shareAt = (speed: Float64Array, dtS: number): number => {
    blendVector(speed, velocity, share(SPEED_CUTOFF_HZ, dtS));
    const size = Math.sqrt(speed[0]! * speed[0]! + speed[1]! * speed[1]! + speed[2]! * speed[2]!);
    return share(minCutoffHz + beta * size, dtS);
  };
  return {
    get delayNs() {
      return Math.max(positionDelayNs, turnDelayNs);
    },
    reset(pose) {
      position.raw.set(pose.positionM);
      position.out.set(pose.positionM);
      position.speed.fill(0);
      turn.raw.set(pose.quatXyzw);
      turn.out.set(pose.quatXyzw);
      turn.speed.fill(0);
      takenNs = pose.takenNs;
      positionDelayNs = 0;
      turnDelayNs = 0;
    },
    apply(pose) {
      if (pose.takenNs >= takenNs + SHORTEST_STEP_NS) {
        const dtNs = pose.takenNs - takenNs;
        const dtS = dtNs / NS_PER_S;
        takenNs = pose.takenNs;
        for (let i = 0; i < 3; i++) velocity[i] = (pose.positionM[i]! - position.raw[i]!) / dtS;
        position.raw.set(pose.positionM);
        const placeShare = shareAt(position.speed, dtS);
        blendVector(position.out, pose.positionM, placeShare);
        positionDelayNs = (1 - placeShare) * (positionDelayNs + dtNs);
        quatConjugate(turn.raw, step);
        quatMultiply(pose.quatXyzw, step, step);
        rotvecFromQuat(step, velocity);
        for (let i = 0; i < 3; i++) velocity[i]! /= dtS;
        turn.raw.set(pose.quatXyzw);
        const turnShare = shareAt(turn.speed, dtS);
        blendQuat(turn.out, pose.quatXyzw, turnShare);
        turnDelayNs = (1 - turnShare) * (turnDelayNs + dtNs);
      }
      pose.positionM.set(position.out);
      pose.quatXyzw.set(turn.out);
    },
  };
}

/** Weight of the newest sample in a first-order low pass. */
function share(cutoffHz: number, dtS: number): number {
  const turns = 2 * Math.PI * cutoffHz * dtS;
  return turns / (turns + 1);
}
