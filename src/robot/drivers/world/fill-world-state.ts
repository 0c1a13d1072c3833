import { MAX_WORLD_BODIES, WORLD_POSE_SIZE, type WorldState } from '../../../messages/world-state.ts';
import type { WorkWorld } from '../../../world/work-world.ts';

/** Hot path: nothing allocates. */
export function fillWorldState(work: WorkWorld, round: number, out: WorldState): void {
  const { physics, progress, layout } = work;
  out.seed = work.seed;
  out.round = round;
  out.elapsedS = progress.elapsedS;
  out.limitS = work.task.limitS;
  out.score = progress.score;
  out.outcome = progress.isLate ? 'late' : Number.isNaN(progress.doneS) ? 'running' : 'done';
  out.held = physics.heldBody();
  const touches = physics.readContact();
  const { forceN, atM } = physics.contact;
  out.contactN = touches ? Math.hypot(forceN[0]!, forceN[1]!, forceN[2]!) : 0;
  out.contactM.set(atM);
  out.openingM = physics.openingM;
  physics.gripPoint(out.gripM);
  out.gripYawRad = physics.gripYawRad(layout.yawRad);
  for (let k = 0; k < 3; k++) out.baseM[k] = layout.baseM[k]!;
  out.bodies = Math.min(MAX_WORLD_BODIES, physics.bodies.length);
  physics.poses(out.poses.subarray(0, out.bodies * WORLD_POSE_SIZE));
}
