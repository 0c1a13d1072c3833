import { sessionHex } from './stamps.ts';

/**
 * `robot_trace_<UTC yyyymmdd-hhmmss>_<session hex>.jsonl`; from the second part on, `_<part>` precedes the
 * dot.
 */
export function traceFileName(startedAt: Date, session: number, part = 1): string {
  const utc = startedAt.toISOString().slice(0, 19).replaceAll(/[-:]/g, '').replace('T', '-');
  return `robot_trace_${utc}_${sessionHex(session)}${part === 1 ? '' : `_${part}`}.jsonl`;
}

/** Path of the part after `path`; null if `path` is not a trace file name. */
export function nextPartPath(path: string): string | null {
  const match = /^(.*robot_trace_\d{8}-\d{6}_[0-9a-f]{8,13})(?:_([1-9]\d{0,5}))?\.jsonl$/.exec(path);
  return match === null ? null : `${match[1]}_${Number(match[2] ?? 1) + 1}.jsonl`;
}
