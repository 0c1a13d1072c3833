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

function finger(side: 1 | -1): string {
  const name = side > 0 ? 'L' : 'R';
  const y = side * PAD_HALF_M[1];
  return `<body name="finger${name}" gravcomp="1">
<joint name="finger${name}" type="slide" axis="0 ${side} 0" range="0 ${GRIPPER.strokeM}" armature="0.05" damping="2"/>
<geom class="arm" type="box" size="0.009 0.004 0.0275" pos="0 ${side * 0.0085} ${GRIPPER.padM - 0.0125}" mass="0.03"/>
<geom name="pad${name}" class="pad" type="box" size="${PAD_HALF_M.join(' ')}" pos="0 ${y} ${GRIPPER.padM}" mass="0.01"/>
<site name="touch${name}" type="box" size="0.012 0.006 0.017" pos="0 ${y} ${GRIPPER.padM}"/></body>`;
}

/** Palm and fingers, in the hand's frame. */
export const gripperXml =
  (): string => `<geom class="arm" type="box" size="0.02 0.05 0.03" pos="0 0 0.045" mass="0.35"/>
<geom class="arm" type="cylinder" size="0.03 0.012" pos="0 0 0.008" mass="0.1"/>
<site name="grip" pos="0 0 ${GRIPPER.padM}"/>${finger(1)}${finger(-1)}`;

/** The tendon's length is the opening, so the actuator's force is the force on each pad. */
export const GRIPPER_LINKS = `<tendon><fixed name="grip"><joint joint="fingerL" coef="1"/><joint joint="fingerR" coef="1"/></fixed></tendon>
<equality><joint joint1="fingerL" joint2="fingerR" polycoef="0 1 0 0 0" solref="0.004 1" solimp="0.95 0.99 0.001"/></equality>`;

export const GRIPPER_ACTUATOR = `<position name="grip" tendon="grip" kp="${GRIPPER.kp}" kv="${GRIPPER.kv}" forcerange="${-GRIPPER.forceN} ${GRIPPER.forceN}" ctrlrange="0 ${OPEN_M}"/>`;

const CONTACT =
  'condim="4" friction="1.2 1.2 0.02 0.001 0.001" solref="0.005 1" solimp="0.95 0.99 0.001" solreffriction="-1 -1700"';

/**
 * Contacts of the pads with a geom. A held thing drifts through moving fingers by its centripetal acceleration times
 * (1/b − step/2), with b the second number of `solreffriction`: 1.7 / step is as stiff as stays stable.
 */
export const padPairsXml = (geom: string): string =>
  ['padL', 'padR'].map((pad) => `<pair geom1="${pad}" geom2="${geom}" ${CONTACT}/>`).join('');
