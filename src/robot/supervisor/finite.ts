import type { Reason } from '../../core/counters.ts';
import type { JointCommand } from '../../messages/command.ts';
import type { JointReading } from '../driver.ts';

/** Whether a command has only numbers that can be used. */
export function notFinite({ positionsRad, gripper }: JointCommand): Reason | null {
  if (!areFinite(positionsRad)) return 'non-finite';
  return gripper >= 0 && gripper <= 1 ? null : 'bad-range';
}

function areFinite(values: Float64Array): boolean {
  for (let i = 0; i < values.length; i++) if (!Number.isFinite(values[i])) return false;
  return true;
}

export function isWhole({ positionsRad, velocitiesRadS, gripper, robotNs }: JointReading): boolean {
  return areFinite(positionsRad) && areFinite(velocitiesRadS) && Number.isFinite(gripper + robotNs);
}
