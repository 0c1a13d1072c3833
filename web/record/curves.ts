import type { EpisodeView } from '../../src/messages/console.ts';
import type { EpisodeRow } from '../../src/messages/recording.ts';

export const COLOURS = 6;

/** One line of a plot. */
export interface Curve {
  name: string;
  /** Index of a colour of the theme. */
  colour: number;
  dashed: boolean;
  of(row: EpisodeRow): number | null;
}

export interface CurveSet {
  title: string;
  unit: string;
  curves: Curve[];
}

/** What was recorded beside the pictures. Measured as solid lines, commanded dashed. */
export function curveSets({ info, rows }: EpisodeView): CurveSet[] {
  const joints = info.joints.slice(0, rows[0]?.stateRad.length ?? 0);
  const perJoint = (of: (row: EpisodeRow, joint: number) => number | undefined, dashed = false): Curve[] =>
    joints.map((joint, i) => ({
      name: joint.replaceAll('_', ' '),
      colour: i % COLOURS,
      dashed,
      of: (row) => of(row, i) ?? null,
    }));
  const sets: CurveSet[] = [
    {
      title: 'Joints',
      unit: 'rad',
      curves: [
        ...perJoint(({ stateRad }, i) => stateRad[i]),
        ...perJoint(({ commandRad }, i) => commandRad[i], true),
      ],
    },
  ];
  if (info.hasGripper) sets.push({ title: 'Gripper', unit: 'open 0, closed 1', curves: GRIPPER });
  if (info.hasEffort)
    sets.push({
      title: 'External torque',
      unit: 'N·m',
      curves: perJoint(({ effort }, i) => effort?.[i]),
    });
  if (info.hasTorque)
    sets.push({ title: 'Torque', unit: 'N·m', curves: perJoint(({ torqueNm }, i) => torqueNm?.[i]) });
  return sets;
}

const GRIPPER: Curve[] = [
  { name: 'measured', colour: 0, dashed: false, of: ({ stateGripper }) => stateGripper },
  { name: 'commanded', colour: 0, dashed: true, of: ({ commandGripper }) => commandGripper },
];
