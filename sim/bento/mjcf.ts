import type { Body, Shape } from './bento-view.ts';

/** Stiffness and damping of the drives, N·m/rad and N·m·s/rad, and their maximum torque, N·m. */
const DRIVE = {
  arm: { stiffness: 120, damping: 5, most: 12 },
  hand: { stiffness: 6, damping: 0.25, most: 1.2 },
} as const;

/** A drive's lag behind a moving target, due to its damping. */
export const lagS = (joint: string): number => {
  const { stiffness, damping } = DRIVE[joint === 'hand' ? 'hand' : 'arm'];
  return damping / stiffness;
};

const numbers = (values: readonly number[]): string => values.map((value) => value.toFixed(6)).join(' ');

/**
 * A scene for MuJoCo. The arm's shapes collide with objects but not with each other; its drives carry its
 * weight, as in Unity. Friction 1 is the Virtual Bento's own value.
 */
export function sceneXml(bodies: readonly Body[]): string {
  const joints = bodies.filter((body) => body.axis !== undefined);
  const drives = joints.map(({ name }) => {
    const { stiffness, damping, most } = DRIVE[name === 'hand' ? 'hand' : 'arm'];
    return `<position name="${name}" joint="${name}" kp="${stiffness}" kv="${damping}" forcerange="${-most} ${most}"/>`;
  });
  return `<mujoco model="bento">
  <compiler angle="radian" eulerseq="xyz"/>
  <option timestep="0.002" integrator="implicitfast" cone="elliptic" impratio="10" noslip_iterations="2"/>
  <default>
    <geom friction="1 0.01 0.0005" condim="3" solref="0.006 1" solimp="0.95 0.99 0.001"/>
    <joint armature="0.004" damping="0.02"/>
  </default>
  <worldbody>${bodies
    .filter((body) => body.parent === undefined)
    .map((body) => bodyXml(body, bodies))
    .join('')}</worldbody>
  <actuator>${drives.join('')}</actuator>
</mujoco>`;
}

function bodyXml(body: Body, bodies: readonly Body[]): string {
  const isArm = body.axis !== undefined;
  const joint = isArm
    ? `<joint name="${body.name}" type="hinge" axis="${numbers(body.axis!)}"/>`
    : body.free
      ? '<freejoint/>'
      : '';
  const shapes = body.shapes.filter((shape) => shape.only !== 'drawn' && shape.kind !== 'cup');
  const children = bodies
    .filter((child) => child.parent === body.name)
    .map((child) => bodyXml(child, bodies));
  return `<body name="${body.name}" pos="${numbers(body.atM)}" euler="0 0 ${body.turnRad ?? 0}"${isArm ? ' gravcomp="1"' : ''}>
    ${joint}${shapes.map((shape) => shapeXml(shape, isArm)).join('')}${children.join('')}</body>`;
}

function shapeXml(shape: Shape, isArm: boolean): string {
  const layer = isArm ? 'contype="2" conaffinity="1"' : 'contype="1" conaffinity="3"';
  const euler = shape.eulerRad === undefined ? '' : ` euler="${numbers(shape.eulerRad)}"`;
  return `<geom type="${shape.kind}" size="${numbers(shape.sizeM)}" pos="${numbers(shape.atM)}"${euler} mass="${shape.massKg ?? 0}"${isArm ? ' condim="4"' : ''} ${layer}/>`;
}
