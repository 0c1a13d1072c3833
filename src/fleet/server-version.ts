import { TeleopError } from '../core/errors.ts';

/** What is known about a version of nats-server. */
export type VersionVerdict = 'good' | 'outdated' | 'unsafe';

/** Oldest release of each line without known holes; lines after the last are good. */
const GOOD_FROM: Record<string, number> = { '2.11': 16, '2.12': 7 };
/**
 * `unsafe`: any client can inject messages anywhere with a trace header (CVE-2026-33249). `outdated`: a
 * client that may publish JetStream's own subjects can empty another account (CVE-2025-30215, before 2.10.27);
 * ours may not. Or whoever reaches a port for sites can crash the server (CVE-2026-33218, before 2.11.15).
 */
export function judgeVersion(version: string): VersionVerdict {
  const [, major = '0', minor = '0', patch = '0'] = /^v?(\d+)\.(\d+)\.(\d+)/.exec(version) ?? [];
  const [line, number] = [Number(major) * 1000 + Number(minor), Number(patch)];
  if (line < 2009) return 'unsafe';
  if ((line === 2011 && number <= 14) || (line === 2012 && number <= 5)) return 'unsafe';
  if (line < 2011) return 'outdated';
  return number < (GOOD_FROM[`${major}.${minor}`] ?? 0) ? 'outdated' : 'good';
}

export function refuseUnsafeServer(version: string): void {
  if (judgeVersion(version) !== 'unsafe') return;
  throw new TeleopError(
    'server-unsafe',
    `nats-server ${version} has a hole through which any user reaches every robot`,
    {
      hint: 'Install another version: 2.11.16, 2.12.7 or newer.',
    },
  );
}

/** Null: nothing to warn about. */
export const versionWarning = (version: string): string | null =>
  judgeVersion(version) === 'outdated'
    ? `nats-server ${version} is outdated: use 2.11.16, 2.12.7 or newer.`
    : null;
