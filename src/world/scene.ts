import type { RobotModel } from '../geometry/robot-model.ts';
import type { ArmFacts } from './arm-facts.ts';
import { sensorsXml } from './arm-sense.ts';
import { PARTNER } from './partner-arm.ts';
import { robotPartOf } from './robot-part.ts';
import { hasPlace, isFree, shapeXml, text, type WorldBody } from './shape.ts';

export const STEP_S = 0.001;
/** A servo follows a ramp this much later: 2 ζ / ω with ζ = 1. */
export const SERVO_RAD_S = 50;

/** Stiffness and damping of a servo. */
export interface Gains {
  kp: number;
  kv: number;
}

/** Critically damped servos for joints with these inertias. */
export const gainsFor = (inertias: readonly number[]): Gains[] =>
  inertias.map((inertia) => ({ kp: inertia * SERVO_RAD_S ** 2, kv: 2 * inertia * SERVO_RAD_S }));

const geomName = (body: WorldBody, shape: number): string => `${body.name}/${shape}`;

/** An arm of a scene. Without gains its servos serve only to read its inertia. */
export interface SceneArm {
  model: RobotModel;
  facts: ArmFacts;
  gains: readonly Gains[] | null;
}

/** The whole world as MJCF. */
export function sceneXml(arm: SceneArm, bodies: readonly WorldBody[], partner: SceneArm | null): string {
  const movable = bodies.filter(({ massKg }) => massKg !== undefined);
  const robots = [{ prefix: '', arm }, ...(partner === null ? [] : [{ prefix: PARTNER, arm: partner }])].map(
    (robot) => ({ ...robot, part: robotPartOf(robot.arm.model) }),
  );
  const geoms = movable.flatMap((body) =>
    body.shapes.flatMap(({ isDrawnOnly }, i) => (isDrawnOnly ? [] : [geomName(body, i)])),
  );
  const pairs = geoms.flatMap((geom) => robots.map(({ part, prefix }) => part.pairsXml(geom, prefix)));
  const each = (xml: (robot: (typeof robots)[number]) => string): string => robots.map(xml).join('\n');
  return `<mujoco model="world">
<compiler angle="radian" autolimits="true"/>
<option timestep="${STEP_S}" integrator="implicitfast" cone="elliptic" impratio="100" iterations="50" tolerance="1e-8" solver="Newton"/>
<size memory="8M"/>
<default>
<geom solref="0.005 1" solimp="0.95 0.99 0.001" condim="3" friction="0.7 0.005 0.0005" contype="1" conaffinity="3"/>
<default class="arm"><geom contype="2" conaffinity="1" condim="3" friction="0.5 0.005 0.0001"/></default>
<default class="pad"><geom contype="2" conaffinity="1" condim="4" friction="1.2 0.02 0.001" priority="2"/></default>
<default class="finger"><geom contype="2" conaffinity="1" condim="4" friction="1 0.01 0.001"/></default>
</default>
<worldbody>
<geom name="table" type="plane" size="1 1 0.1"/>
${each(({ arm: { model, facts }, part, prefix }) => `<body name="${prefix}base" pos="${text(facts.layout.baseM)}">${part.bodyXml(model, facts, prefix)}</body>`)}
${bodies.map((body) => bodyXml(body, bodies)).join('\n')}
</worldbody>
<contact>${pairs.join('')}</contact>
${each(({ part, prefix }) => part.couplingXml(prefix))}
<actuator>${each(({ arm: own, part, prefix }) => servosXml(own, prefix) + part.actuatorXml(prefix))}</actuator>
<sensor>${each(({ prefix }) => sensorsXml(bodies, prefix))}</sensor>
</mujoco>`;
}

const servosXml = ({ model, facts, gains }: SceneArm, prefix: string): string =>
  model.joints.map(({ name }, i) => servoXml(prefix + name, gains?.[i], facts.torqueNm[i]!)).join('\n');

function servoXml(joint: string, gains: Gains | undefined, torqueNm: number): string {
  const { kp, kv } = gains ?? { kp: 100, kv: 5 };
  return `<position name="${joint}" joint="${joint}" kp="${text([kp])}" kv="${text([kv])}" forcerange="${-torqueNm} ${torqueNm}"/>`;
}

function bodyXml(body: WorldBody, bodies: readonly WorldBody[]): string {
  if (!hasPlace(body)) return '';
  const inner = bodies.filter(({ slide }) => slide?.in === body.name).map(slidingXml);
  const joint = isFree(body) ? '<freejoint/>' : '';
  return `<body name="${body.name}">${joint}${geomsXml(body)}${inner.join('')}</body>`;
}

function slidingXml(body: WorldBody): string {
  const { axis, rangeM, frictionN } = body.slide!;
  return `<body name="${body.name}"><joint name="${body.name}" type="slide" axis="${text(axis)}" range="${text(rangeM)}" frictionloss="${frictionN}" damping="1"/>${geomsXml(body)}</body>`;
}

function geomsXml(body: WorldBody): string {
  const felt = body.shapes.filter(({ isDrawnOnly }) => !isDrawnOnly).length;
  const mass = body.massKg === undefined ? '' : `mass="${text([body.massKg / felt])}"`;
  return body.shapes
    .map((shape, i) => shapeXml(shape, `name="${geomName(body, i)}" ${shape.isDrawnOnly ? '' : mass}`))
    .join('');
}
