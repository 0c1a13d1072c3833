import { TeleopError } from '../../core/errors.ts';
import type { Clock } from '../../core/time/clock.ts';
import type { Gripper } from '../gripper.ts';
import { type GripperLink, PolledGripper } from './polled-gripper.ts';

/** Opens a gripper and waits for its first report; `where` and `hint` name the device and the remedy. */
export async function openGripper(
  link: GripperLink,
  clock: Clock,
  where: string,
  hint: string,
): Promise<Gripper> {
  const gripper = new PolledGripper(link, clock);
  try {
    await gripper.ready();
    return gripper;
  } catch (cause) {
    gripper.dispose();
    throw new TeleopError('robot-unreachable', `no gripper at ${where}: ${(cause as Error).message}`, {
      hint,
      cause,
    });
  }
}
