import type { SupervisorState } from '../messages/robot-state.ts';
import type { ArmTelemetry, Telemetry } from '../messages/telemetry.ts';
import { SIDES } from '../rig/arms-config.ts';

/** What matters more to a person comes first. */
const MOST_URGENT: readonly SupervisorState[] = [
  'stopped',
  'disconnected',
  'idle',
  'engaged',
  'hold',
  'armed',
];

/** One message about both arms: that of the arm the page drives, with the state of the more urgent one. */
export function twoArmTelemetry(parts: readonly [Telemetry, Telemetry], driven: number): Telemetry {
  const shown = parts[driven]!;
  return {
    ...shown,
    link: { ...shown.link, connected: parts.every(({ link }) => link.connected) },
    robot: jointState(parts, driven),
    arms: parts.map((part, i) => armOf(part, i, i === driven)),
  };
}

function jointState(parts: readonly Telemetry[], driven: number): Telemetry['robot'] {
  const shown = parts[driven]!.robot;
  const other = parts[1 - driven]!.robot;
  if (shown === null || other === null) return null;
  if (MOST_URGENT.indexOf(shown.state) <= MOST_URGENT.indexOf(other.state)) return shown;
  return { ...shown, state: other.state, cause: `${SIDES[1 - driven]} arm: ${other.cause}` };
}

const armOf = (part: Telemetry, i: number, isDriven: boolean): ArmTelemetry => ({
  side: SIDES[i]!,
  isDriven,
  robot: part.robot,
  operator: part.operator,
  clutch: part.input.clutch,
  hand: part.hand,
  commandedRad: part.commandedRad,
});
