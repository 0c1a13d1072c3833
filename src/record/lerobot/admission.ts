import { TeleopError } from '../../core/errors.ts';
import { vectorNames } from './features.ts';
import { badEpisode, type GridRow } from './grid.ts';
import { jpegSize } from './jpeg-size.ts';
import {
  CODEBASE_VERSION,
  type DatasetInfo,
  type Feature,
  type Features,
  RECORDING_ID,
  type SourceEpisode,
} from './layout.ts';
import type { PictureSize } from './video.ts';

/** Requires vectors of equal length, finite values, and a picture from every camera. */
export function checkRows({ info }: SourceEpisode, grid: readonly GridRow[]): void {
  const length = vectorNames(info).length - Number(info.hasGripper);
  const hint = 'Leave this episode out; the recording itself is not changed.';
  for (const { row } of grid) {
    for (const [what, jointsRad, gripper] of [
      ['command', row.commandRad, row.commandGripper],
      ['state', row.stateRad, row.stateGripper],
    ] as const) {
      if (jointsRad.length !== length)
        throw badEpisode(
          `row ${row.index}: the ${what} has ${jointsRad.length} joints, expected ${length}`,
          hint,
        );
      if (!jointsRad.every(Number.isFinite) || (info.hasGripper && !Number.isFinite(gripper)))
        throw badEpisode(`row ${row.index}: the ${what} contains a value that is not finite`, hint);
    }
    const missing = info.cameras.find((camera) => !Number.isFinite(row.frames[camera]?.ageNs));
    if (missing !== undefined) throw badEpisode(`row ${row.index}: no picture from camera ${missing}`, hint);
  }
}

/** The size of each camera's first picture. */
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
        `camera ${camera}: the first picture is missing or not a JPEG`,
        'Leave this episode out.',
      );
  }
  return sizes;
}

/** Throws unless this program may add to the dataset. */
export function checkMayAdd(dir: string, info: DatasetInfo, fps: number): void {
  const rejection = (why: string, hint: string) => new TeleopError('bad-dataset', `${dir}: ${why}`, { hint });
  if (info.codebase_version !== CODEBASE_VERSION)
    throw rejection(
      `the dataset version is ${info.codebase_version}, not ${CODEBASE_VERSION}`,
      'Choose a new folder.',
    );
  if (info.features[RECORDING_ID] === undefined)
    throw rejection(
      'this dataset was not written by farhand',
      'Choose a new folder, and join the two with `farhand dataset merge`.',
    );
  if (info.fps !== fps)
    throw rejection(
      `the dataset has ${info.fps} rows per second, this export has ${fps}`,
      `Use --fps ${info.fps}, or choose a new folder.`,
    );
}

/** What must agree; other programs add details to a feature. */
function essence(feature: Feature | undefined): string {
  if (feature === undefined) return '';
  const { dtype, shape, names, info } = feature;
  return JSON.stringify([dtype, shape, dtype === 'video' ? (info?.['video.codec'] ?? null) : names]);
}

/** What keeps rows with these features out of a dataset, in words. */
export function differences(info: DatasetInfo, features: Features, robot: string | null): string[] {
  const keys = new Set([...Object.keys(info.features), ...Object.keys(features)]);
  const differing = [...keys].filter((key) => essence(info.features[key]) !== essence(features[key]));
  if (info.robot_type !== robot) differing.unshift(`robot ${info.robot_type}`);
  return differing;
}

/** Features that datasets of earlier versions lack: episodes added to those go without. */
const SINCE = [
  ...['velocity', 'torque', 'tool_pose', 'source', 'subtask'].map((name) => `recording.${name}`),
  'intervention',
];

export const withoutNewer = (own: Features, dataset: Features): Features =>
  Object.fromEntries(
    Object.entries(own).filter(([key]) => !SINCE.includes(key) || dataset[key] !== undefined),
  );

/** Throws unless the episode has the same features as the dataset. */
export function checkSame(dir: string, info: DatasetInfo, features: Features, robot: string): void {
  const differing = differences(info, features, robot);
  if (differing.length === 0) return;
  throw new TeleopError(
    'bad-dataset',
    `${dir}: the episode differs from the dataset in ${differing.join(', ')}`,
    {
      hint: 'All episodes of a dataset share robot, joints, cameras, picture sizes and codec: choose a new folder.',
    },
  );
}
