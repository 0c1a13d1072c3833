import os from 'node:os';
import { judgeBudget, loadBudget } from '../../check/budget.ts';
import { openLink } from '../../check/kind.ts';
import { measuredOf } from '../../check/measured.ts';
import type { CheckResult, Machine } from '../../check/result.ts';
import type { SessionOptions } from '../../check/session.ts';
import { linkKeys, refuseWebrtc } from '../../rig/link-keys.ts';
import { loadRig } from '../../rig/rig.ts';
import { preflight } from '../preflight.ts';
import { runSession } from './run-session.ts';

export interface CheckOptions extends Omit<SessionOptions, 'place' | 'profile'> {
  /** `local`, `wired`, `wireless` or `profile:<name>`. */
  kind: string;
  /** Path of a budget; null uses the one shipped for the kind of link. */
  budget: string | null;
}

/** Settings that a session chooses itself. */
const SESSION_PORTS = [
  ...['link.commandPort', 'link.statePort', 'link.syncPort'],
  ...['console.deskPort', 'console.telemetryPort'],
];

/** Throws the errors that its processes would throw; starts nothing. */
export async function checkSession({ rig, overrides, robotHost }: CheckOptions): Promise<void> {
  const { config } = loadRig(rig, overrides);
  refuseWebrtc(config);
  if (robotHost !== null || config.link.security === 'plain' || config.link.keyFile !== '')
    linkKeys('operator', robotHost === null ? config : { ...config, link: { ...config.link, robotHost } });
  await preflight(config, robotHost === null ? ['robot', 'operator'] : ['operator'], SESSION_PORTS);
}

/** Starts both roles, measures, ends them and judges. Throws when they do not reach teleoperation. */
export async function runCheck(options: CheckOptions): Promise<CheckResult> {
  const { kind, robotHost } = options;
  await checkSession(options);
  const { place, profile, about } = openLink(kind, robotHost);
  const startedAt = new Date().toISOString();
  const loadBefore = os.loadavg()[0]!;
  try {
    const budget = loadBudget(options.budget, kind, options.settleS + options.durationS);
    const session = await runSession({ ...options, place, profile });
    const measured = await measuredOf(session);
    const verdicts = judgeBudget(budget, measured);
    const { tracePath, link, isCutShort } = session;
    const isWhole = session.roles.every(({ losses }) => losses.length === 0);
    const ok = isWhole && !isCutShort && verdicts.every((verdict) => verdict.ok);
    const machine = machineOf(loadBefore);
    return {
      kind,
      about,
      startedAt,
      machine,
      tracePath,
      measured,
      link,
      budget,
      verdicts,
      isCutShort,
      ok,
    };
  } finally {
    place.close();
  }
}

function machineOf(loadBefore: number): Machine {
  return {
    cpu: os.cpus()[0]?.model.trim() ?? 'unknown',
    cores: os.cpus().length,
    kernel: `${os.type()} ${os.release()} ${os.arch()}`,
    node: process.version,
    loadBefore: Math.round(loadBefore * 100) / 100,
    loadAfter: Math.round(os.loadavg()[0]! * 100) / 100,
  };
}
