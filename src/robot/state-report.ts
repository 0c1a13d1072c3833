import type { RobotState } from '../messages/robot-state.ts';
import type { Supervisor } from './supervisor/supervisor.ts';

/** What the supervisor knows, into the state that the operator receives. Hot path: nothing allocates. */
export function reportSupervisor(supervisor: Supervisor, nowNs: number, state: RobotState): void {
  const { reading } = supervisor;
  state.robotNs = nowNs;
  state.positionsRad.set(reading.positionsRad);
  state.velocitiesRadS.set(reading.velocitiesRadS);
  state.targetRad.set(supervisor.targetRad);
  state.gripper = reading.gripper;
  state.effortsNm.set(reading.effortsNm);
  state.externalNm.set(reading.externalNm);
  state.gripperN = reading.gripperN;
  state.state = supervisor.state;
  state.cause = supervisor.cause;
  state.why = supervisor.why;
  state.sinceNs = supervisor.sinceNs;
  state.epoch = supervisor.epoch;
  state.endedEngagement = supervisor.endedEngagement;
  state.limitedBy = supervisor.limitedBy;
  if (supervisor.neighbourRad !== null) state.otherRad.set(supervisor.neighbourRad);
  state.clearanceM = supervisor.clearanceM;
  state.nearest = supervisor.nearest;
}
