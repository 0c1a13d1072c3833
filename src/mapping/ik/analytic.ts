import type { RobotModel } from '../../geometry/robot-model.ts';
import { createBranchChooser } from './branch.ts';
import type { ClosedSolver, SolverOptions } from './contract.ts';
import { createPiperBranches } from './piper-branches.ts';
import { createTarget, isFiniteSeed } from './target.ts';
import { createUrBranches } from './ur-branches.ts';

/** Solutions of a six-joint arm: two shoulders, two wrists, two elbows. */
const BRANCHES = 8;

/** Closed form for the flange's full pose. */
export function createAnalyticSolver(model: RobotModel, options: SolverOptions = {}): ClosedSolver {
  const joints = model.joints.length;
  const placeM = new Float64Array(3);
  const matrix = new Float64Array(9);
  const chooser = createBranchChooser(model, 0, BRANCHES, { ...options, width: joints });
  const context = { model, chooser, placeM, matrix, singularStepRad: options.singularStepRad ?? Infinity };
  const fill = model.family === 'piper' ? createPiperBranches(context) : createUrBranches(context);
  const target = createTarget(model, matrix, placeM);
  const homeRad = Float64Array.from(model.homeRad);
  return {
    allSize: BRANCHES * joints,
    solve(positionM, quatXyzw, seedRad, outRad) {
      if (!isFiniteSeed(seedRad, joints) || !target.place(positionM, quatXyzw)) return 'bad-input';
      fill(seedRad);
      return chooser.choose(seedRad, outRad);
    },
    all(positionM, quatXyzw, out) {
      if (!target.place(positionM, quatXyzw)) return -1;
      fill(homeRad);
      return chooser.list(out);
    },
  };
}
