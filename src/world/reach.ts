import { placementMatrix } from '../geometry/chain.ts';
import { quatConjugate, quatFromMatrix, quatMultiply } from '../geometry/frames.ts';
import type { RobotModel } from '../geometry/robot-model.ts';
import type { Solver } from '../mapping/ik/contract.ts';
import { createSolver, methodsOf } from '../mapping/ik/solver.ts';
import type { ArmFacts } from './arm-facts.ts';
import { GRIPPER } from './gripper-body.ts';
import { handReady } from './hand-bodies.ts';

/** Height of the ready pose above the table. */
const READY_M = 0.12;

/** Joint angles for the gripper straight down at a point of the world. */
export interface Reach {
  /** From `seedRad` without a jump; false if it is not reached. `outRad` may be `seedRad`. */
  follow(
    pointM: ArrayLike<number>,
    yawRad: number,
    seedRad: Float64Array,
    outRad: Float64Array,
    tiltRad?: number,
  ): boolean;
  /** Above the middle of where things are; the home pose if that is out of reach. */
  ready(): Float64Array;
}

export function createReach(model: RobotModel, facts: ArmFacts): Reach {
  // A hand stands still; only its fingers move.
  if (model.family === 'hand') return { follow: () => false, ready: handReady };
  const methods = methodsOf(model);
  const method = methods.includes('analytic') ? 'analytic' : 'numeric';
  const follower = createSolver(model, method, {});
  const pose = flangePose(facts);
  const home = Float64Array.from(model.homeRad);
  const solveWith = (
    solver: Solver,
    pointM: ArrayLike<number>,
    yawRad: number,
    seedRad: Float64Array,
    outRad: Float64Array,
    tiltRad = 0,
  ): boolean => {
    pose.set(pointM, yawRad, tiltRad);
    return solver.solve(pose.positionM, pose.quatXyzw, seedRad, outRad) === 'ok';
  };
  return {
    follow: (pointM, yawRad, seedRad, outRad, tiltRad) =>
      solveWith(follower, pointM, yawRad, seedRad, outRad, tiltRad),
    ready() {
      const { xM, yM, trayM } = facts.layout;
      const middle = [(xM[0] + xM[1]) / 2, ((yM[0] + yM[1]) / 2 + trayM[1]) / 2, READY_M];
      const free = createSolver(model, method, { switchAtLimit: true, restarts: 60 });
      const found = new Float64Array(model.joints.length);
      return solveWith(free, middle, 0, home, found) ? found : home;
    },
  };
}

/** The flange's pose in the base frame from the grip point, yaw and tilt of a gripper that points straight down otherwise. */
function flangePose({ layout, mountRpyRad }: ArmFacts) {
  const positionM = new Float64Array(3);
  const quatXyzw = new Float64Array(4);
  const t = placementMatrix({ xyzM: [0, 0, 0], rpyRad: [...mountRpyRad] });
  const unmount = new Float64Array(4);
  quatFromMatrix(Float64Array.of(t[0]!, t[1]!, t[2]!, t[4]!, t[5]!, t[6]!, t[8]!, t[9]!, t[10]!), unmount);
  quatConjugate(unmount, unmount);
  return {
    positionM,
    quatXyzw,
    set(pointM: ArrayLike<number>, yawRad: number, tiltRad: number) {
      const half = (yawRad + layout.yawRad) / 2;
      for (let k = 0; k < 3; k++) positionM[k] = pointM[k]! - layout.baseM[k]!;
      quatXyzw.set([Math.cos(half), Math.sin(half), 0, 0]);
      if (tiltRad === 0) positionM[2]! += GRIPPER.padM;
      else {
        const backM = GRIPPER.padM * Math.sin(tiltRad);
        positionM[0]! -= backM * Math.cos(yawRad);
        positionM[1]! -= backM * Math.sin(yawRad);
        positionM[2]! += GRIPPER.padM * Math.cos(tiltRad);
        const turn = Math.sin(-tiltRad / 2);
        const axis = [-turn * Math.sin(yawRad), turn * Math.cos(yawRad), 0, Math.cos(tiltRad / 2)];
        quatMultiply(Float64Array.from(axis), quatXyzw, quatXyzw);
      }
      quatMultiply(quatXyzw, unmount, quatXyzw);
    },
  };
}
