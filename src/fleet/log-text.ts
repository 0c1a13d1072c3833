import type { AuditLine } from './audit.ts';

/** Most clocks are closer; entries that wait for the broker are later. */
const CLOCKS_DIFFER_MS = 60_000;

/** The time is the store's: a sender chooses its own. */
export function logText({ atMs, storedMs, robot, by, what, who, why, revision, count }: AuditLine): string {
  const time = (ms: number) => new Date(ms).toISOString();
  const text = [
    what,
    who && `of ${who}`,
    why && `(${why})`,
    count && `× ${count}`,
    revision && `token ${revision}`,
    storedMs !== undefined && Math.abs(storedMs - atMs) > CLOCKS_DIFFER_MS && `[sent as of ${time(atMs)}]`,
  ];
  return `${time(storedMs ?? atMs)}  ${robot}  ${by}: ${text.filter(Boolean).join(' ')}`;
}
