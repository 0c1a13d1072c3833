import { createHash } from 'node:crypto';
import { type EpisodeInfo, type EpisodeRow, ROW_SOURCES } from '../../messages/recording.ts';
import { LIMITED_BY, SUPERVISOR_STATES } from '../../messages/robot-state.ts';
import type { GridRow } from './grid.ts';
import { RECORDING_ID } from './layout.ts';

/** Stands for unknown values; loaders and trainers need finite numbers. */
const UNKNOWN = -1;

/** Values of one feature, row by row: numbers, or lists of them. */
export type Values = (number | boolean | string | number[])[];

export interface EpisodePlace {
  episode: number;
  /** Global index of its first row. */
  firstIndex: number;
  taskIndex: number;
  fps: number;
}

/** A recording's id as a number that every reader keeps exactly. */
export const recordingNumber = (id: string): number =>
  Number.parseInt(createHash('sha256').update(id).digest('hex').slice(0, 12), 16);

/** The columns of `data/…parquet`, by feature; videos are separate. */
export function dataColumns(
  info: EpisodeInfo,
  grid: readonly GridRow[],
  place: EpisodePlace,
): Record<string, Values> {
  const rows = grid.map(({ row }) => row);
  const withGripper = (jointsRad: number[], gripper: number) =>
    info.hasGripper ? [...jointsRad, gripper] : [...jointsRad];
  const columns: Record<string, Values> = {
    'observation.state': rows.map((row) => withGripper(row.stateRad, row.stateGripper)),
    action: rows.map((row) => withGripper(row.commandRad, row.commandGripper)),
  };
  if (info.hasEffort === true) {
    const count = info.joints.length + Number(info.hasGripper);
    columns['observation.effort'] = rows.map((row) =>
      (row.effort ?? new Array<number>(count).fill(0)).slice(0, count),
    );
  }
  for (const camera of info.cameras) Object.assign(columns, cameraColumns(rows, camera));
  const zeros = () => new Array<number>(info.joints.length).fill(0);
  columns['recording.velocity'] = velocities(rows);
  if (info.hasTorque === true) columns['recording.torque'] = rows.map((row) => row.torqueNm ?? zeros());
  if (info.hasTool === true) columns['recording.tool_pose'] = rows.map((row) => row.toolPose ?? NO_POSE);
  // Recordings from before this was recorded: whoever engaged is taken for a person.
  columns['recording.source'] = rows.map((row) =>
    ROW_SOURCES.indexOf(row.source ?? (row.engaged ? 'person' : 'none')),
  );
  columns['recording.subtask'] = rows.map((row) => row.subtask ?? '');
  columns['recording.row_time'] = rows.map((row) => row.timeNs / 1e9);
  columns['recording.latency_ms'] = rows.map((row) =>
    [row.oneWayNs, row.uncertaintyNs, row.playoutDelayNs].map((ns) => (ns === null ? UNKNOWN : ns / 1e6)),
  );
  columns['recording.supervisor'] = rows.map((row) => SUPERVISOR_STATES.indexOf(row.supervisor));
  columns['recording.limited_by'] = rows.map((row) => LIMITED_BY.indexOf(row.limitedBy));
  columns['recording.engaged'] = rows.map((row) => Number(row.engaged));
  columns['intervention'] = rows.map(({ intervention = false }) => intervention);
  columns[RECORDING_ID] = rows.map(() => recordingNumber(info.id));
  columns['next.done'] = rows.map((_, i) => i === rows.length - 1);
  columns['timestamp'] = grid.map(({ frameIndex }) => frameIndex / place.fps);
  columns['frame_index'] = grid.map(({ frameIndex }) => frameIndex);
  columns['episode_index'] = rows.map(() => place.episode);
  columns['index'] = grid.map(({ frameIndex }) => place.firstIndex + frameIndex);
  columns['task_index'] = rows.map(() => place.taskIndex);
  return columns;
}

const NO_POSE = [0, 0, 0, 0, 0, 0, 1];

/** As measured; the slope of the positions where a recording has no speeds. */
function velocities(rows: readonly EpisodeRow[]): number[][] {
  return rows.map((row, i) => {
    if (row.velocityRadS !== undefined) return row.velocityRadS;
    const [before, after] = [rows[Math.max(0, i - 1)]!, rows[Math.min(rows.length - 1, i + 1)]!];
    const seconds = (after.timeNs - before.timeNs) / 1e9;
    return row.stateRad.map((_, j) =>
      seconds > 0 ? (after.stateRad[j]! - before.stateRad[j]!) / seconds : 0,
    );
  });
}

function cameraColumns(rows: readonly EpisodeRow[], camera: string): Record<string, Values> {
  const frames = rows.map(({ frames }) => frames[camera]!);
  return {
    [`recording.capture_time.${camera}`]: rows.map(({ timeNs }, i) => (timeNs - frames[i]!.ageNs) / 1e9),
    [`recording.frame_age_ms.${camera}`]: frames.map(({ ageNs }) => ageNs / 1e6),
    [`recording.frame_stale.${camera}`]: frames.map(({ stale }) => Number(stale)),
  };
}
