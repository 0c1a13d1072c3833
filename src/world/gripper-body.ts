import { COLOURS, type Shape } from './shape.ts';

/** The world's own gripper: two parallel fingers with pads, on every arm. */
export const GRIPPER = {
  /** Travel of each finger; fully open, the pads are twice as far apart. */
  strokeM: 0.04,
  /** Middle of the pads, from the flange along the direction of approach. */
  padM: 0.128,
  /** Tips beyond the middle of the pads. */
  tipM: 0.015,
  /** Largest force of each pad. */
  forceN: 20,
  kp: 1000,
  kv: 30,
} as const;

/** Fully open. */
export const OPEN_M = 2 * GRIPPER.strokeM;

const PAD_HALF_M = [0.01, 0.003, 0.015] as const;
const FINGER_HALF_M = [0.009, 0.004, 0.0275] as const;
const PALM_HALF_M = [0.02, 0.05, 0.03] as const;
const PALM_M = 0.045;

function finger(side: 1 | -1, prefix: string): string {
  const name = `${prefix}finger${side > 0 ? 'L' : 'R'}`;
  const pad = `${prefix}pad${side > 0 ? 'L' : 'R'}`;
  const touch = `${prefix}touch${side > 0 ? 'L' : 'R'}`;
  const y = side * PAD_HALF_M[1];
  return `<body name="${name}" gravcomp="1">
<joint name="${name}" type="slide" axis="0 ${side} 0" range="0 ${GRIPPER.strokeM}" armature="0.05" damping="2"/>
<geom class="arm" type="box" size="${FINGER_HALF_M.join(' ')}" pos="0 ${side * 0.0085} ${GRIPPER.padM - 0.0125}" mass="0.03"/>
<geom name="${pad}" class="pad" type="box" size="${PAD_HALF_M.join(' ')}" pos="0 ${y} ${GRIPPER.padM}" mass="0.01"/>
<site name="${touch}" type="box" size="0.012 0.006 0.017" pos="0 ${y} ${GRIPPER.padM}"/></body>`;
}

/** Palm and fingers, in the hand's frame. Every name begins with `prefix`. */
export const gripperXml = (
  prefix = '',
): string => `<geom class="arm" type="box" size="${PALM_HALF_M.join(' ')}" pos="0 0 ${PALM_M}" mass="0.35"/>
<geom class="arm" type="cylinder" size="0.03 0.012" pos="0 0 0.008" mass="0.1"/>
<site name="${prefix}grip" pos="0 0 ${GRIPPER.padM}"/>${finger(1, prefix)}${finger(-1, prefix)}`;

/** The tendon's length is the opening, so the actuator's force is the force on each pad. */
export const gripperTendonXml = (prefix = ''): string =>
  `<fixed name="${prefix}grip"><joint joint="${prefix}fingerL" coef="1"/><joint joint="${prefix}fingerR" coef="1"/></fixed>`;
export const gripperEqualityXml = (prefix = ''): string =>
  `<joint joint1="${prefix}fingerL" joint2="${prefix}fingerR" polycoef="0 1 0 0 0" solref="0.004 1" solimp="0.95 0.99 0.001"/>`;

export const gripperActuatorXml = (prefix = ''): string =>
  `<position name="${prefix}grip" tendon="${prefix}grip" kp="${GRIPPER.kp}" kv="${GRIPPER.kv}" forcerange="${-GRIPPER.forceN} ${GRIPPER.forceN}" ctrlrange="0 ${OPEN_M}"/>`;

const CONTACT =
  'condim="4" friction="1.2 1.2 0.02 0.001 0.001" solref="0.005 1" solimp="0.95 0.99 0.001" solreffriction="-1 -1700"';

/**
 * Contacts of the pads with a geom. A held thing drifts through moving fingers by its centripetal acceleration times
 * (1/b − step/2), with b the second number of `solreffriction`: 1.7 / step is as stiff as stays stable.
 */
export const padPairsXml = (geom: string, prefix = ''): string =>
  [`${prefix}padL`, `${prefix}padR`]
    .map((pad) => `<pair geom1="${pad}" geom2="${geom}" ${CONTACT}/>`)
    .join('');

const box = (half: readonly number[], atM: Shape['atM'], colour: string): Shape => ({
  kind: 'box',
  sizeM: half,
  atM,
  colour,
});

/** What is drawn of a palm, and of the finger on a side. */
export const palmShapes = (): Shape[] => [
  box(PALM_HALF_M, [0, 0, PALM_M], COLOURS.dark),
  { kind: 'cylinder', sizeM: [0.03, 0.012], atM: [0, 0, 0.008], colour: COLOURS.arm },
];
export const fingerShapes = (side: 1 | -1): Shape[] => [
  box(FINGER_HALF_M, [0, side * 0.0085, GRIPPER.padM - 0.0125], COLOURS.dark),
  box(PAD_HALF_M, [0, side * PAD_HALF_M[1], GRIPPER.padM], COLOURS.yellow),
];
