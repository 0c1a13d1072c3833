import { TeleopError } from '../core/errors.ts';
import type { PolicyFacts } from './policy.ts';

export interface DrivenRobot {
  name: string;
  joints: readonly string[];
  cameras: readonly string[];
}

/** Rejects a policy that declares other joints or cameras than the robot has; `warn` is called for other names of joints. */
export function checkFit(
  { name, joints, cameras }: PolicyFacts,
  robot: DrivenRobot,
  warn: (text: string) => void,
) {
  const missing = (cameras ?? []).filter((each) => !robot.cameras.includes(each));
  if (missing.length > 0)
    throw new TeleopError(
      'policy-failed',
      `${name} needs ${camerasText(missing)}; this rig has ${camerasText(robot.cameras)}`,
      {
        hint: 'Give the rig it was trained with, or add cameras of these names under cameras.list.',
      },
    );
  if (joints === null) return;
  if (joints.length !== robot.joints.length)
    throw new TeleopError(
      'policy-failed',
      `${name} drives ${joints.length} joints, ${robot.name} has ${robot.joints.length}`,
      {
        hint: 'Give the rig it was trained with.',
      },
    );
  if (joints.some((each, i) => each !== robot.joints[i]))
    warn(
      `${name} was trained on joints ${joints.join(', ')}; those of ${robot.name} are ${robot.joints.join(', ')}.`,
    );
}

const camerasText = (names: readonly string[]): string =>
  names.length === 0 ? 'no camera' : `${names.length === 1 ? 'camera' : 'cameras'} ${names.join(', ')}`;
