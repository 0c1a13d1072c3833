import type { CameraReport } from '../messages/role-report.ts';

/** One line about a camera’s run. */
export function cameraLine(report: CameraReport): string {
  const { camera, source, frames, bytes, restarts, unreadable, encodeMeanMs, encodeMaxMs, trouble } = report;
  const size = frames === 0 ? '' : `, ${(bytes / frames / 1000).toFixed(1)} kB each`;
  const encode = `, encoding ${encodeMeanMs.toFixed(2)} ms (max ${encodeMaxMs.toFixed(1)})`;
  const bad = unreadable > 0 ? `, ${unreadable} unreadable` : '';
  const again = restarts > 0 ? `; reopened ${restarts} times, last: ${trouble}` : '';
  return `camera ${camera} (${source}): ${frames} pictures${size}${frames > 0 ? encode : ''}${bad}${again}`;
}
