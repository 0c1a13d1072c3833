import type { RecoveredEpisode } from './recover.ts';

/** What a recovery kept and lost, in one line. */
export function recoveryText(file: string, found: RecoveredEpisode): string {
  const lost: string[] = [];
  if (found.truncatedBytes > 0) lost.push(`${found.truncatedBytes} bytes after the last complete record`);
  if (found.damagedChunks > 0) lost.push(`${found.damagedChunks} damaged chunks`);
  if (found.damagedBytes > 0) lost.push(`${found.damagedBytes} damaged bytes`);
  if (found.unsearchedBytes > 0)
    lost.push(`${found.unsearchedBytes} bytes not searched: too many false chunks before them`);
  if (found.lostRows > 0) lost.push(`${found.lostRows} rows between kept ones`);
  const kept = `${found.rows} rows over ${found.durationS.toFixed(2)} s`;
  return `${file} recovered to ${found.path}: ${kept}; lost: ${lost.join(', ') || 'nothing that was written'}`;
}
