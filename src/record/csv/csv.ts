import type { EpisodeInfo, EpisodeRow } from '../../messages/recording.ts';

/** Column names; each includes its unit. */
export function csvHeader({ joints, hasGripper, hasEffort = false, cameras }: EpisodeInfo): string[] {
  const vector = (kind: string) => [
    ...joints.map((joint) => `${kind}.${joint}_rad`),
    ...(hasGripper ? [`${kind}.gripper`] : []),
  ];
  return [
    'index',
    'time_s',
    'seq',
    'engaged',
    'supervisor',
    'limited_by',
    'one_way_ms',
    'uncertainty_ms',
    'playout_delay_ms',
    ...vector('command'),
    ...vector('state'),
    ...(hasEffort ? effortNames(joints, hasGripper) : []),
    ...cameras.flatMap((camera) =>
      ['capture_ns', 'age_ms', 'stale'].map((what) => `camera.${camera}.${what}`),
    ),
  ];
}

const effortNames = (joints: readonly string[], hasGripper: boolean): string[] => [
  ...joints.map((joint) => `effort.${joint}_nm`),
  ...(hasGripper ? ['effort.gripper_n'] : []),
];

export function csvRow(
  { joints, hasGripper, hasEffort = false, cameras }: EpisodeInfo,
  row: EpisodeRow,
): string[] {
  const ms = (ns: number | null | undefined) => (ns === null || ns === undefined ? '' : String(ns / 1e6));
  const vector = (jointsRad: readonly number[], gripper: number) =>
    (hasGripper ? [...jointsRad, gripper] : jointsRad).map(String);
  return [
    String(row.index),
    String(row.timeNs / 1e9),
    String(row.seq),
    String(Number(row.engaged)),
    row.supervisor,
    row.limitedBy,
    ms(row.oneWayNs),
    ms(row.uncertaintyNs),
    ms(row.playoutDelayNs),
    ...vector(row.commandRad, row.commandGripper),
    ...vector(row.stateRad, row.stateGripper),
    ...(hasEffort ? effortNames(joints, hasGripper).map((_, i) => String(row.effort?.[i] ?? '')) : []),
    ...cameras.flatMap((camera) => {
      const frame = row.frames[camera];
      return [
        frame === undefined ? '' : String(frame.captureNs),
        ms(frame?.ageNs),
        frame === undefined ? '' : String(Number(frame.stale)),
      ];
    }),
  ];
}

/** RFC 4180: quotes a value only if needed. */
export const csvLine = (values: readonly string[]): string =>
  `${values.map((value) => (/[",\r\n]/.test(value) ? `"${value.replaceAll('"', '""')}"` : value)).join(',')}\r\n`;
