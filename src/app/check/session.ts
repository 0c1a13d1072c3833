import { TeleopError } from '../../core/errors.ts';
import { monotonicClock } from '../../core/time/clock.ts';
import type { LinkStats } from '../link-emulator.ts';
import type { Rig } from '../rig.ts';
import type { RoleReport } from '../role.ts';
import type { Baseline } from './baseline.ts';
import type { Place } from './place.ts';
import { SessionParts } from './session-parts.ts';
import { disarm, switchToTeleop } from './teleop.ts';

export interface SessionOptions {
  rig: string;
  overrides: readonly string[];
  place: Place;
  /** A link of the emulator between the roles. */
  profile: string | null;
  /** The robot of another machine, which runs already. */
  robotHost: string | null;
  durationS: number;
  /** Seconds of teleoperation before that: compilers warm up, playout gets to know the link. */
  settleS: number;
  /** Port of `farhand check echo` at a robot's host; the harness has an echo of its own otherwise. */
  echoPort: number;
  /** Whether to probe the path besides. */
  baseline: boolean;
  /** Ends the measurement before its time. */
  stop: Promise<unknown>;
  onPhase(text: string): void;
  onProgress(done: number, total: number): void;
}

export interface Session {
  tracePath: string;
  /** What of the trace was measured: operator's clock. */
  fromNs: number;
  toNs: number;
  /** Operator first; no robot where it is another machine's. */
  roles: RoleReport[];
  link: LinkStats | null;
  baseline: Baseline | null;
  isCutShort: boolean;
  rig: Rig;
}

/** Both roles as processes, switched to teleoperation, measured for a time and ended; whatever happens, ended. */
export async function runSession(options: SessionOptions): Promise<Session> {
  const { place, robotHost, durationS, onPhase, onProgress } = options;
  const parts = new SessionParts(options);
  try {
    onPhase(robotHost === null ? 'starting robot and operator' : `starting the operator for ${robotHost}`);
    const { rig, operatorArgs, robotArgs } = await parts.prepare();
    const robot = robotArgs && (await parts.start('robot', 'rx', robotArgs));
    const operator = await parts.start('operator', 'tx', operatorArgs);
    onPhase('switching to teleoperation');
    await switchToTeleop(place, rig, operatorArgs);
    if (options.baseline) await parts.startProbes(rig.operator.hz);
    onPhase(`settling for ${options.settleS} s`);
    await parts.waitS(options.settleS, onProgress);
    onPhase(`measuring for ${durationS} s`);
    const fromNs = monotonicClock.nowNs();
    const isCutShort = await parts.waitS(durationS, onProgress);
    const toNs = monotonicClock.nowNs();
    if (robotHost !== null) await disarm(rig);
    const { baseline, link } = await parts.end();
    const tracePath = operator.report?.tracePath;
    if (!tracePath) throw noTrace();
    const roles = [operator.report, robot?.report ?? null].filter((report) => report !== null);
    return { tracePath, fromNs, toNs, roles, link, baseline, isCutShort, rig };
  } finally {
    await parts.end();
  }
}

function noTrace(): TeleopError {
  return new TeleopError('no-trace', 'the operator process left no trace', {
    hint: 'Keep trace.dir set: the report is made of the trace.',
  });
}
