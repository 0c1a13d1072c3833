import type { Session, SessionOptions } from '../../check/session.ts';
import { TeleopError } from '../../core/errors.ts';
import { monotonicClock } from '../../core/time/clock.ts';
import { SessionParts } from './session-parts.ts';
import { disarm, switchToTeleop } from './teleop.ts';

/** Starts both roles as processes, switches to teleoperation, measures for a time and always ends them. */
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
    await options.onReady?.();
    onPhase(`measuring for ${durationS} s`);
    const fromNs = monotonicClock.nowNs();
    const isCutShort = await parts.waitS(durationS, onProgress);
    const toNs = monotonicClock.nowNs();
    if (robotHost !== null) await disarm(rig);
    const { baseline, link } = await parts.end();
    const tracePath = operator.report?.tracePath;
    if (!tracePath) throw noTrace();
    const roles = [operator.report, robot?.report ?? null].filter((report) => report !== null);
    return { tracePath, fromNs, toNs, roles, link, baseline, isCutShort, hz: rig.operator.hz };
  } finally {
    await parts.end();
  }
}

function noTrace(): TeleopError {
  return new TeleopError('no-trace', 'the operator process left no trace', {
    hint: 'Keep trace.dir set: the report is made from the trace.',
  });
}
