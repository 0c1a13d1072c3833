/**
 * Units of time per second of a video at `fps`, as ffmpeg and LeRobot choose them. LeRobot joins files without
 * converting their times, so all must count in the same unit.
 */
export function timescaleOf(fps: number): number {
  let units = fps;
  while (units < 10_000) units *= 2;
  return units;
}
