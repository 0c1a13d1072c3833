import type { EpisodeInfo, EpisodeRow, ReceivedFrame } from '../messages/recording.ts';

type Recorded = Pick<
  EpisodeInfo,
  'task' | 'robot' | 'joints' | 'hasGripper' | 'jointLimits' | 'cameras' | 'rateHz'
>;

/** Of an episode that begins. */
export function newInfo(recorded: Recorded, id: string, startedAt: Date, isVideo: boolean): EpisodeInfo {
  const { task, robot, joints, hasGripper, jointLimits, cameras, rateHz } = recorded;
  const measured = { durationS: 0, rows: 0, skippedRows: 0, staleRows: 0, sizeBytes: 0 };
  return {
    id,
    task,
    label: null,
    startedAt: startedAt.toISOString(),
    ...measured,
    robot,
    joints,
    hasGripper,
    ...(jointLimits && { jointLimits }),
    cameras,
    ...(isVideo && cameras.length > 0 ? { video: 'h264' as const } : {}),
    rateHz,
    complete: false,
    quality: null,
  };
}

/** Which cameras have distances. */
export function noteDepth(info: EpisodeInfo, pictures: ReadonlyMap<string, ReceivedFrame>): void {
  for (const [camera, { depth }] of pictures)
    if (depth !== undefined && !info.depthCameras?.includes(camera))
      info.depthCameras = [...(info.depthCameras ?? []), camera];
}

/** Which optional numbers all rows so far have. */
export function noteParts(info: EpisodeInfo, row: EpisodeRow, hasTool: boolean): void {
  const isFirst = info.rows === 0;
  info.hasEffort = row.effort !== undefined && (isFirst || info.hasEffort === true);
  info.hasVelocity = row.velocityRadS !== undefined && (isFirst || info.hasVelocity === true);
  info.hasTorque = row.torqueNm !== undefined && (isFirst || info.hasTorque === true);
  info.hasTool = hasTool;
}
