import type { JointDesk, SeenTelemetry } from './joint-desk.ts';

const ARM_MS = 30_000;

/** Waits until the robot's joints are powered; `arm`: arms it if they are not. */
export async function power(desk: JointDesk, arm: boolean): Promise<void> {
  const isPowered = ({ robot }: SeenTelemetry) =>
    robot !== null && ['armed', 'engaged', 'hold'].includes(robot.state);
  if (arm && desk.newest !== null && !isPowered(desk.newest)) desk.ask({ kind: 'arm' });
  const state = desk.newest?.robot?.state ?? 'disconnected';
  await desk.until(
    isPowered,
    arm ? ARM_MS : 500,
    `the robot is ${state}`,
    'Arm it first: `farhand ask arm`. After a stop: `farhand reset`.',
  );
}
