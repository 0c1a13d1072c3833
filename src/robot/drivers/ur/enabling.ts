import type { Clock } from '../../../core/time/clock.ts';
import { Refused, until } from '../../buses/wait.ts';
import { MAJOR_VERSION, type UrConfig } from './config.ts';
import { Dashboard } from './dashboard.ts';
import { ROBOT_MODE, robotModeName, SAFETY_MODE, safetyCause } from './modes.ts';
import type { RtdeClient } from './rtde.ts';

/** UR requires this pause to investigate the cause at the robot. */
const UNLOCK_AFTER_NS = 5e9;
const POWER_TIMEOUT_MS = 40_000;
const BRAKE_TIMEOUT_MS = 20_000;

export interface Readiness {
  config: UrConfig;
  rtde: RtdeClient;
  clock: Clock;
  /** When the present protective stop was detected; NaN if there is none. */
  protectiveStopNs: () => number;
  signal: AbortSignal;
}

/**
 * Brings a controller to the point where it can run our program: safety system normal, powered, brakes
 * released. Only ever run because an operator armed the robot. Rejects with what the operator must do.
 */
export async function makeReady(at: Readiness): Promise<void> {
  const { config, rtde, signal } = at;
  await until(
    () => rtde.streaming,
    3000,
    () => `no state from ${config.host}:${config.rtdePort}`,
    signal,
  );
  const major = MAJOR_VERSION[config.series];
  if (config.series === 'cb3' ? rtde.majorVersion !== major : rtde.majorVersion < major)
    throw new Refused(`series is ${config.series}, but the controller runs version ${rtde.majorVersion}`);
  rejectIfUnsafe(at);
  const { robotMode, safetyMode } = rtde.state;
  const protective = safetyMode === SAFETY_MODE.protectiveStop;
  if (config.series === 'cb3' && robotMode === ROBOT_MODE.running && !protective) return;
  const dashboard = await Dashboard.open(config.host, config.dashboardPort);
  try {
    if (config.series === 'e') await checkRemoteControl(dashboard);
    if (protective) await unlock(at, dashboard);
    await power(at, dashboard);
  } finally {
    dashboard.close();
  }
  rejectIfUnsafe(at);
}

function rejectIfUnsafe({ rtde, clock, protectiveStopNs }: Readiness): void {
  const { safetyMode, robotMode } = rtde.state;
  if (safetyMode === SAFETY_MODE.protectiveStop) {
    if (!(clock.nowNs() - protectiveStopNs() >= UNLOCK_AFTER_NS))
      throw new Refused(`protective stop: find its cause, then arm again after 5 s`);
  } else if (safetyCause(safetyMode) !== '')
    throw new Refused(`${safetyCause(safetyMode)}: clear it at the robot`);
  const { booting, powerOff, powerOn, idle, running } = ROBOT_MODE;
  if (![booting, powerOff, powerOn, idle, running].some((mode) => mode === robotMode))
    throw new Refused(`robot is in mode "${robotModeName(robotMode)}": see its pendant`);
}

/** Software before 5.6 does not know this request; it rejects the program instead. */
async function checkRemoteControl(dashboard: Dashboard): Promise<void> {
  const answer = await dashboard.ask('is in remote control');
  if (answer.toLowerCase() === 'false')
    throw new Refused('switch the robot to remote control at its pendant');
}

async function unlock({ rtde, signal }: Readiness, dashboard: Dashboard): Promise<void> {
  await dashboard.ask('close safety popup');
  const answer = await dashboard.ask('unlock protective stop');
  await until(
    () => safetyCause(rtde.state.safetyMode) === '',
    3000,
    () => `protective stop was not unlocked: ${answer}`,
    signal,
  );
}

async function power({ config, rtde, signal }: Readiness, dashboard: Dashboard): Promise<void> {
  const mode = (): number => rtde.state.robotMode;
  const failed = (what: string) => () =>
    `${what} did not succeed: robot is in mode "${robotModeName(mode())}"`;
  if (mode() === ROBOT_MODE.running) return;
  if (!config.powerOn) throw new Refused('switch the robot on and release its brakes at the pendant');
  if (mode() <= ROBOT_MODE.powerOff) {
    await until(() => mode() !== ROBOT_MODE.booting, POWER_TIMEOUT_MS, failed('booting'), signal);
    await dashboard.ask('power on');
  }
  await until(() => mode() >= ROBOT_MODE.idle, POWER_TIMEOUT_MS, failed('power on'), signal);
  if (mode() !== ROBOT_MODE.running) await dashboard.ask('brake release');
  await until(() => mode() === ROBOT_MODE.running, BRAKE_TIMEOUT_MS, failed('brake release'), signal);
}
