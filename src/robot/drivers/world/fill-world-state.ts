import { MAX_WORLD_BODIES, WORLD_POSE_SIZE, type WorldState } from '../../../messages/world-state.ts';
import type { SecondArm, WorkWorld } from '../../../world/work-world.ts';

/** About the arm `second`, if given. Hot path: nothing allocates. */
export function fillWorldState(
  work: WorkWorld,
  round: number,
  out: WorldState,
  second: SecondArm | null = null,
): void {
  const { physics, progress } = work;
  const { layout } = second?.facts ?? work;
  const sense = second?.port.sense ?? physics;
  out.seed = work.seed;
  out.round = round;
  out.elapsedS = progress.elapsedS;
  out.limitS = work.task.limitS;
  out.score = progress.score;
  out.outcome = progress.isLate ? 'late' : Number.isNaN(progress.doneS) ? 'running' : 'done';
  out.held = sense.heldBody();
  const touches = sense.readContact();
  const { forceN, atM } = sense.contact;
  out.contactN = touches ? Math.hypot(forceN[0]!, forceN[1]!, forceN[2]!) : 0;
  out.contactM.set(atM);
  const arm = second?.port ?? physics;
  out.openingM = arm.openingM;
  arm.gripPoint(out.gripM);
  out.gripYawRad = second?.port.yawRad(layout.yawRad) ?? physics.gripYawRad(layout.yawRad);
  for (let k = 0; k < 3; k++) out.baseM[k] = layout.baseM[k]!;
  out.bodies = Math.min(MAX_WORLD_BODIES, physics.bodies.length);
  physics.poses(out.poses.subarray(0, out.bodies * WORLD_POSE_SIZE));
}
