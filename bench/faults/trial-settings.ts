import type { SupervisorState } from '../../src/messages/robot-state.ts';
import type { SimulatedArm } from '../estop/arm-sims.ts';
import type { HowToRun } from '../estop/verb-process.ts';

/** `sim`: the driver of that name, inside the robot process. */
export type TrialArm = 'sim' | SimulatedArm;

export interface TrialSettings {
  arm?: TrialArm;
  /** `key=value` for robot and operator, and for one of them. */
  both?: readonly string[];
  robot?: readonly string[];
  operator?: readonly string[];
  /** How a role is run, given the trial's folder. */
  runRobot?: (folder: string) => HowToRun;
  runOperator?: (folder: string) => HowToRun;
  /** State in which the trial is ready for its fault. */
  first?: SupervisorState;
}

/** For arms in a separate process: a shared machine stalls for longer than the 100 and 200 ms of a rig. */
export const CALM: TrialSettings = { both: ['robot.commandTimeoutMs=400', 'robot.feedbackTimeoutMs=1000'] };

export const rigOf = (arm: TrialArm): string => (arm === 'sim' ? 'demo' : arm);

const RCTP_PORTS = ['rctp.rightPort', 'rctp.leftPort'];
/** Ports of inputs that no trial uses: other programs may hold the default ones. */
const INPUT_PORTS: Partial<Record<TrialArm, string[]>> = {
  piper: RCTP_PORTS,
  ur3: RCTP_PORTS,
  xarm6: RCTP_PORTS,
  openarm: RCTP_PORTS,
  orca: ['right', 'left', 'button', 'pause'].map((place) => `openteach.${place}Port`),
};

/** Settings that robot, operator and console of a trial share; the rig comes first. */
export function sharedSettings(
  { arm = 'sim', both = [] }: TrialSettings,
  [desk, telemetry, ...inputs]: readonly number[],
  priority: number,
): string[] {
  return [
    `rig=${rigOf(arm)}`,
    `console.deskPort=${desk}`,
    `console.telemetryPort=${telemetry}`,
    'console.port=0',
    'operator.autoArm=true',
    `robot.realtimePriority=${priority}`,
    `operator.realtimePriority=${priority}`,
    'operator.input=scripted',
    'operator.inputs.scripted.periodS=4',
    ...(INPUT_PORTS[arm] ?? []).map((key, i) => `operator.inputs.${key}=${inputs[i]}`),
    ...(arm === 'orca' ? ['operator.inputs.openteach.listenHost=127.0.0.1'] : []),
    ...both,
  ];
}
