import type { WorldTelemetry } from '../../src/messages/telemetry.ts';
import { TASKS } from '../../src/world/task-list.ts';

/** What the robot should learn, for a world whose person named nothing else. */
export const instructionOf = (task: string): string =>
  TASKS.find(({ name }) => name === task)?.instruction ?? '';

export const timeText = ({ elapsedS, limitS }: WorldTelemetry): string =>
  `${elapsedS.toFixed(1)} of ${limitS.toFixed(0)} s`;

export function scoreText({ outcome, score, elapsedS }: WorldTelemetry): string {
  if (outcome === 'done') return `done in ${elapsedS.toFixed(1)} s`;
  return outcome === 'late' ? 'time is over' : `${Math.round(100 * score)} %`;
}
