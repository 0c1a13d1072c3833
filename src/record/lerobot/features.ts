import type { EpisodeInfo } from '../../messages/recording.ts';
import { type Feature, type Features, LUMA_CELLS, LUMA_PREFIX, pictureKey, RECORDING_ID } from './layout.ts';
import type { Codec, PictureSize } from './video.ts';

export interface FeatureOptions {
  fps: number;
  codec: Codec;
  sizes: Readonly<Record<string, PictureSize>>;
}

const scalar = (dtype: string): Feature => ({ dtype, shape: [1], names: null });

/** Names of `observation.state` and `action`, in order. */
export const vectorNames = ({ joints, hasGripper }: EpisodeInfo): string[] =>
  hasGripper ? [...joints, 'gripper'] : [...joints];

const POSE_NAMES = ['x', 'y', 'z', 'qx', 'qy', 'qz', 'qw'];
const LATENCY_NAMES = ['one_way', 'uncertainty', 'playout_delay'];

/**
 * The features of an exported episode. Every column of the Parquet file must be declared here: an undeclared
 * column makes loaders reject the whole dataset. Only what a policy may see is under `observation.`, and
 * nothing there is boolean, because trainers subtract means.
 */
export function featuresOf(info: EpisodeInfo, options: FeatureOptions): Features {
  const names = vectorNames(info);
  const vector = (): Feature => ({ dtype: 'float32', shape: [names.length], names });
  const features: Features = { 'observation.state': vector(), action: vector() };
  if (info.hasEffort === true) features['observation.effort'] = vector();
  for (const camera of info.cameras) {
    features[pictureKey(camera)] = videoFeature(options, camera);
    features[`recording.capture_time.${camera}`] = scalar('float64');
    features[`recording.frame_age_ms.${camera}`] = scalar('float32');
    features[`recording.frame_stale.${camera}`] = scalar('int64');
    features[`${LUMA_PREFIX}${camera}`] = { dtype: 'uint8', shape: [LUMA_CELLS ** 2], names: null };
  }
  const { joints } = info;
  features['recording.velocity'] = { dtype: 'float32', shape: [joints.length], names: [...joints] };
  if (info.hasTorque === true)
    features['recording.torque'] = { dtype: 'float32', shape: [joints.length], names: [...joints] };
  if (info.hasTool === true)
    features['recording.tool_pose'] = { dtype: 'float32', shape: [7], names: POSE_NAMES };
  features['recording.source'] = scalar('int64');
  features['recording.subtask'] = scalar('string');
  features['recording.row_time'] = scalar('float64');
  features['recording.latency_ms'] = { dtype: 'float32', shape: [3], names: LATENCY_NAMES };
  features['recording.supervisor'] = scalar('int64');
  features['recording.limited_by'] = scalar('int64');
  features['recording.engaged'] = scalar('int64');
  features['intervention'] = scalar('bool');
  features[RECORDING_ID] = scalar('int64');
  features['next.done'] = scalar('bool');
  features['timestamp'] = scalar('float32');
  for (const key of ['frame_index', 'episode_index', 'index', 'task_index']) features[key] = scalar('int64');
  return features;
}

function videoFeature({ fps, codec, sizes }: FeatureOptions, camera: string): Feature {
  const { widthPx, heightPx } = sizes[camera]!;
  return {
    dtype: 'video',
    shape: [heightPx, widthPx, 3],
    names: ['height', 'width', 'channels'],
    info: {
      'video.height': heightPx,
      'video.width': widthPx,
      'video.codec': codec,
      'video.pix_fmt': 'yuv420p',
      'video.is_depth_map': false,
      'video.fps': fps,
      'video.channels': 3,
      has_audio: false,
    },
  };
}
