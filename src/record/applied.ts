import type { EpisodeRow } from '../messages/recording.ts';
import type { JsonMessage } from './reader.ts';
import { traceKey } from './schemas.ts';

interface Applied {
  atNs: number;
  row: EpisodeRow;
}

/**
 * The same rows, each with the state and the applied command of the instant of its observation: the capture of its
 * oldest picture. A newer state beside it would show the motion since then, different in every recording. A command takes
 * the link and playout to be applied; a policy that learnt commands as they were sent would learn that delay, and its own
 * commands would be delayed again. Rows from before the first applied command keep that one; a recording without traces
 * stays as it is.
 */
export function alignApplied(rows: readonly EpisodeRow[], traces: readonly JsonMessage[]): EpisodeRow[] {
  const bySeq = new Map(rows.map((row) => [row.seq, row]));
  const applied: Applied[] = [];
  let firstNs = Number.NaN;
  for (const { value } of traces) {
    const row = bySeq.get(Number(value['seq']));
    const sampledNs = value[traceKey('sampledNs')];
    if (row === undefined || typeof sampledNs !== 'number') continue;
    if (Number.isNaN(firstNs)) firstNs = sampledNs - row.timeNs;
    const [appliedNs, offsetNs] = [value['appliedNs'], value['offsetNs']];
    if (typeof appliedNs === 'number' && typeof offsetNs === 'number')
      applied.push({ atNs: appliedNs - offsetNs - firstNs, row });
  }
  if (applied.length === 0) return [...rows];
  applied.sort((a, b) => a.atNs - b.atNs);
  let at = 0;
  let then = 0;
  return rows.map((row) => {
    const instantNs = observedNs(row);
    while (then + 1 < rows.length && rows[then + 1]!.timeNs <= instantNs) then++;
    while (at + 1 < applied.length && applied[at + 1]!.atNs <= instantNs) at++;
    const { commandRad, commandGripper, source, intervention = false } = applied[at]!.row;
    const driver = source === undefined ? {} : { source, intervention };
    return { ...row, ...measured(rows[then]!), commandRad, commandGripper, ...driver };
  });
}

function measured({ stateRad, stateGripper, effort, velocityRadS, torqueNm, toolPose }: EpisodeRow) {
  return {
    ...{ stateRad, stateGripper },
    ...(effort === undefined ? {} : { effort }),
    ...(velocityRadS === undefined ? {} : { velocityRadS }),
    ...(torqueNm === undefined ? {} : { torqueNm }),
    ...(toolPose === undefined ? {} : { toolPose }),
  };
}

/** When the oldest picture of a row was taken, on the row's time; the row's own time without a camera. */
function observedNs({ timeNs, frames }: EpisodeRow): number {
  const ages = Object.values(frames).map(({ ageNs }) => ageNs);
  return timeNs - Math.max(0, ...ages.filter(Number.isFinite));
}
