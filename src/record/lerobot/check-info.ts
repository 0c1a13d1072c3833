import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { restoreInterrupted } from '../edit/swap.ts';
import { CODEBASE_VERSION, type DatasetInfo, type Feature, INFO_FILE } from './layout.ts';
import type { Problems } from './problems.ts';

/** What loaders can store and give to a policy. */
const DTYPES = /^(video|image|string|large_string|bool|u?int(8|16|32|64)|float(16|32|64))$/;

/** What `info.json` says; null if it is unusable. Finishes an interrupted edit first. */
export function readInfoFile(dir: string, problems: Problems): DatasetInfo | null {
  restoreInterrupted(dir);
  const file = path.join(dir, INFO_FILE);
  if (!existsSync(file)) {
    problems.add(
      'file-missing',
      INFO_FILE,
      null,
      'this is not a LeRobot v3 dataset, or its metadata is lost',
    );
    return null;
  }
  let info: DatasetInfo;
  try {
    const parsed: unknown = JSON.parse(readFileSync(file, 'utf8'));
    if (typeof parsed !== 'object' || parsed === null) throw new Error('it does not contain a JSON object');
    info = parsed as DatasetInfo;
  } catch (error) {
    problems.add('file-unreadable', INFO_FILE, null, (error as Error).message);
    return null;
  }
  if (info.codebase_version !== CODEBASE_VERSION) {
    const problem = JSON.stringify(info.codebase_version ?? null);
    const older = /^"v2\./.test(problem) ? '; LeRobot’s convert_dataset_v21_to_v30 converts it to v3.0' : '';
    problems.add('version', INFO_FILE, null, `codebase_version is ${problem}${older}`);
  }
  if (!(Number.isInteger(info.fps) && info.fps > 0)) {
    problems.add('info', INFO_FILE, null, `fps is ${JSON.stringify(info.fps)}, not a whole number above 0`);
    return null;
  }
  checkSplits(info, problems);
  return checkFeatures(info, problems) ? info : null;
}

/** Each is a range of episodes, `from:to` without the last. */
function checkSplits({ splits, total_episodes: episodes }: DatasetInfo, problems: Problems): void {
  const problem = (message: string) => problems.add('info', INFO_FILE, null, message);
  if (splits === undefined) return;
  if (typeof splits !== 'object' || splits === null || Array.isArray(splits))
    return problem('splits is not an object of ranges');
  for (const [name, range] of Object.entries(splits)) {
    const [, from, to] = /^(\d+):(\d+)$/.exec(String(range)) ?? [];
    if (from === undefined || Number(from) > Number(to))
      problem(`split ${name} is ${JSON.stringify(range)}, not a range as 0:5`);
    else if (Number(to) > episodes) problem(`split ${name} is ${range}, but there are ${episodes} episodes`);
  }
}

/** False if the remaining checks cannot use the features. */
function checkFeatures(info: DatasetInfo, problems: Problems): boolean {
  const problem = (message: string) => problems.add('info', INFO_FILE, null, message);
  const features: Record<string, Partial<Feature> | null> | null | undefined = info.features;
  if (typeof features !== 'object' || features === null) {
    problem('features are missing');
    return false;
  }
  for (const key of ['data_path', 'video_path'] as const)
    if (info[key] !== undefined && typeof info[key] !== 'string') {
      problem(`${key} is not a string`);
      return false;
    }
  const { chunks_size: chunk } = info;
  if (chunk !== undefined && !(Number.isInteger(chunk) && chunk > 0))
    problem(`chunks_size is ${JSON.stringify(chunk)}, not a whole number above 0`);
  const robot: unknown = info.robot_type ?? null;
  if (robot !== null && typeof robot !== 'string')
    problem(`robot_type is ${JSON.stringify(robot)}, not text`);
  let valid = true;
  for (const [key, feature] of Object.entries(features)) {
    const { dtype, shape, names } = feature ?? {};
    if (typeof dtype !== 'string' || !isShape(shape)) {
      problem(`feature ${key} has no valid dtype and shape`);
      valid = false;
      continue;
    }
    if (key.includes('/')) problem(`feature ${key} has a name with "/", which LeRobot rejects`);
    if (!DTYPES.test(dtype)) problem(`feature ${key} has the unknown dtype ${JSON.stringify(dtype)}`);
    const isVector = dtype !== 'video' && dtype !== 'image' && shape.length === 1;
    if (isVector && Array.isArray(names) && names.length !== shape[0])
      problem(`feature ${key} has ${names.length} names for ${shape[0]} values`);
    if (isVector && Array.isArray(names) && new Set(names).size < names.length)
      problem(`feature ${key} has the same name twice`);
  }
  if (areExchanged(features['action']?.names, features['observation.state']?.names))
    problem('action and observation.state have the same names in different orders');
  for (const key of ['timestamp', 'frame_index', 'episode_index', 'index', 'task_index'])
    if (!(key in features)) problem(`feature ${key} is not declared`);
  return valid;
}

/** One robot lists its joints in one order. */
const areExchanged = (one: unknown, other: unknown): boolean =>
  Array.isArray(one) &&
  Array.isArray(other) &&
  [...one].sort().join() === [...other].sort().join() &&
  one.join() !== other.join();

const isShape = (shape: unknown): shape is number[] =>
  Array.isArray(shape) && shape.length > 0 && shape.every((n) => Number.isInteger(n) && n > 0);
