import type { ArmTelemetry, Telemetry } from '../messages/telemetry.ts';

const ADVICE = 'open the clutch, then close it again';

const isWaiting = ({ robot, operator }: Telemetry | ArmTelemetry): boolean =>
  operator.mustOpenClutch === true && (robot?.state === 'armed' || robot?.state === 'hold');

/** What to do when a closed clutch does not count: it names the arm if only one of two waits. Empty: nothing. */
export function clutchAdvice(telemetry: Telemetry): string {
  const { arms } = telemetry;
  if (arms === undefined) return isWaiting(telemetry) ? ADVICE : '';
  const [first, second] = arms.filter(isWaiting);
  if (first === undefined) return '';
  return `${second === undefined ? `${first.side} arm` : 'both arms'}: ${ADVICE}`;
}
