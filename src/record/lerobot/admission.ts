import { TeleopError } from '../../core/errors.ts';
import { vectorNames } from './features.ts';
import { badEpisode, type GridRow } from './grid.ts';
import { jpegSize } from './jpeg-size.ts';
import { CODEBASE_VERSION, type DatasetInfo, type Features, type SourceEpisode } from './layout.ts';
import type { PictureSize } from './video.ts';

/** Vectors of one length, all finite, and a picture of every camera. */
export function checkRows({ info }: SourceEpisode, grid: readonly GridRow[]): void {
  const length = vectorNames(info).length - Number(info.hasGripper);
  const hint = 'Leave this episode out; the recording itself stays as it is.';
  for (const { row } of grid) {
    for (const [what, jointsRad, gripper] of [
      ['command', row.commandRad, row.commandGripper],
      ['state', row.stateRad, row.stateGripper],
    ] as const) {
      if (jointsRad.length !== length)
        throw badEpisode(`row ${row.index}: the ${what} has ${jointsRad.length} joints of ${length}`, hint);
      if (!jointsRad.every(Number.isFinite) || (info.hasGripper && !Number.isFinite(gripper)))
        throw badEpisode(`row ${row.index}: the ${what} is not a number`, hint);
    }
    const missing = info.cameras.find((camera) => !Number.isFinite(row.frames[camera]?.ageNs));
    if (missing !== undefined) throw badEpisode(`row ${row.index}: no picture of camera ${missing}`, hint);
  }
}

/** Of each camera's first picture. */
export async function sizesOf(source: SourceEpisode): Promise<Record<string, PictureSize>> {
  const sizes: Record<string, PictureSize> = {};
  for (const camera of source.info.cameras) {
    for await (const { bytes } of source.frames(camera)) {
      const size = jpegSize(bytes);
      if (size !== null) sizes[camera] = size;
      break;
    }
    if (sizes[camera] === undefined)
      throw badEpisode(
        `camera ${camera}: its first picture is missing or no JPEG`,
        'Leave this episode out.',
      );
  }
  return sizes;
}

/** Whether we may add to it. */
export function checkOurs(dir: string, info: DatasetInfo, fps: number): void {
  const refuse = (why: string, hint: string) => new TeleopError('bad-dataset', `${dir}: ${why}`, { hint });
  if (info.farhand === undefined)
    throw refuse(
      'this dataset was not written by farhand',
      'Choose a new folder, and join the two with LeRobot’s own tools.',
    );
  if (info.codebase_version !== CODEBASE_VERSION)
    throw refuse(`its version is ${info.codebase_version}, not ${CODEBASE_VERSION}`, 'Choose a new folder.');
  if (info.farhand.episodes.length !== info.total_episodes)
    throw refuse('another program has added episodes to it', 'Choose a new folder.');
  if (info.fps !== fps)
    throw refuse(
      `it has ${info.fps} rows per second, this export ${fps}`,
      `Give --fps ${info.fps}, or choose a new folder.`,
    );
}

/** Whether another episode of it looks like this one. */
export function checkSame(dir: string, info: DatasetInfo, features: Features, robot: string): void {
  const keys = new Set([...Object.keys(info.features), ...Object.keys(features)]);
  const differing = [...keys].filter(
    (key) => JSON.stringify(info.features[key]) !== JSON.stringify(features[key]),
  );
  if (info.robot_type !== robot) differing.unshift(`robot ${info.robot_type}`);
  if (differing.length === 0) return;
  throw new TeleopError(
    'bad-dataset',
    `${dir}: its episodes differ from this one in ${differing.join(', ')}`,
    {
      hint: 'Robot, joints, cameras, picture sizes and codec are the same in all episodes of a dataset: choose a new folder.',
    },
  );
}
