import { partsOf, placementMatrix, product } from '../geometry/chain.ts';
import type { RobotModel } from '../geometry/robot-model.ts';
import { capsuleShape, placeNumbers, placeXml } from './arm-bodies.ts';
import { COLOURS, type Quaternion, type Shape, shapeXml, text, type Vector } from './shape.ts';

/** Half of the palm's box, and its middle in the palm's frame: x toward the little finger, y out of the palm, z ahead. */
const PALM_HALF_M: Vector = [0.04, 0.011, 0.038];
const PALM_AT_M: Vector = [0.004, -0.007, 0.04];
/** The maker publishes no masses of links: estimates. */
const PALM_KG = 0.35;
const LINK_KG = 0.015;
const FINGER_RADIUS_M = 0.0075;
/** As the tip points lie under the pads. */
const TIP_RADIUS_M = 0.006;

/** A link of a robot hand. Link i turns with joint i of the model. */
export interface HandLink {
  /** Index of the link that carries it; −1: the base. */
  parent: number;
  /** Its frame at an angle of zero in its parent's, 3×4 row-major; it turns about its z by `sign` times the angle. */
  place: Float64Array;
  sign: 1 | -1;
  massKg: number;
  shapes: Shape[];
}

/** The joints of an ORCA v2 hand, in their order, at an open hand with its thumb aside; the wrist neutral. */
export const OPEN_HAND: Readonly<Record<string, number>> = {
  ...{ wrist: -0.3490659, thumb_cmc: -0.6, thumb_abd: 0.7, thumb_mcp: 0.2, thumb_dip: 0.2 },
  ...{ index_abd: 0, index_mcp: 0, index_pip: 0.2, middle_abd: 0, middle_mcp: 0, middle_pip: 0.2 },
  ...{ ring_abd: 0, ring_mcp: 0, ring_pip: 0.2, pinky_abd: 0, pinky_mcp: 0, pinky_pip: 0.2 },
};
export const HAND_JOINTS: readonly string[] = Object.keys(OPEN_HAND);

/** Whether a hand has these joints, and the geometry of its fingers and its wrist. */
export const isWorldHand = ({ hand, joints }: RobotModel): boolean =>
  hand !== undefined &&
  joints.length === HAND_JOINTS.length &&
  joints.every(({ name }, i) => name === HAND_JOINTS[i]);

export const handReady = (): Float64Array => Float64Array.from(Object.values(OPEN_HAND));

/** The base of a hand in the world's axes: palm up when its wrist is neutral, fingers along x. */
export function handBase(): Float64Array {
  const palmUp = Float64Array.of(0, 1, 0, 0, 1, 0, 0, 0, 0, 0, -1, 0);
  return product(placementMatrix({ xyzM: [0, 0, 0], rpyRad: [0, OPEN_HAND['wrist']!, 0] }), palmUp);
}

/** The links of a hand, in the order of its joints. */
export function handLinks(model: RobotModel): HandLink[] {
  const parts = model.joints.map((joint) => {
    const { before, after } = partsOf(joint);
    return model.mirrored === true ? { before: mirror(before), after: mirror(after) } : { before, after };
  });
  const firsts = new Set(model.hand!.fingers.map(({ joints }) => joints[0]!));
  return model.joints.map(({ name }, i) => {
    const parent = i === 0 ? -1 : firsts.has(name) ? 0 : i - 1;
    const place = parent < 0 ? parts[i]!.before : product(parts[parent]!.after, parts[i]!.before);
    const shapes = i === 0 ? [palmShape(parts[0]!.after, model)] : fingerShapes(model, i, parts[i]!.after);
    const sign = model.mirrored === true ? -1 : 1;
    return { parent, place, sign, massKg: i === 0 ? PALM_KG : LINK_KG, shapes };
  });
}

/** x → −x. */
function mirror(t: Float64Array): Float64Array {
  const out = t.slice();
  for (const at of [1, 2, 3, 4, 8]) out[at] = -out[at]!;
  return out;
}

function palmShape(after: Float64Array, { mirrored }: RobotModel): Shape {
  const [x, y, z] = PALM_AT_M;
  const place = product(
    after,
    placementMatrix({ xyzM: [mirrored === true ? -x : x, y, z], rpyRad: [0, 0, 0] }),
  );
  return { kind: 'box', sizeM: PALM_HALF_M, ...placeOf(place), colour: COLOURS.arm };
}

/** A capsule to the next joint, or to the tip; none where two joints coincide. */
function fingerShapes(model: RobotModel, i: number, after: Float64Array): Shape[] {
  const finger = model.hand!.fingers.find(({ joints }) => joints.includes(model.joints[i]!.name))!;
  const at = finger.joints.indexOf(model.joints[i]!.name);
  const next = model.joints.find(({ name }) => name === finger.joints[at + 1]);
  const isTip = next === undefined;
  const [x, y, z] = isTip ? finger.tipM : (next.origin?.xyzM ?? [0, 0, 0]);
  const toM: [number, number, number] = [model.mirrored === true ? -x : x, y, z];
  const radiusM = isTip ? TIP_RADIUS_M : FINGER_RADIUS_M;
  const capsule = { name: '', frame: 0, fromM: [0, 0, 0] as [number, number, number], toM, radiusM };
  return [{ ...capsuleShape(capsule, after, 0), colour: isTip ? COLOURS.dark : COLOURS.arm }];
}

function placeOf(t: Float64Array): Pick<Shape, 'atM' | 'quatWxyz'> {
  const numbers = placeNumbers(t);
  return {
    atM: numbers.slice(0, 3) as unknown as Vector,
    quatWxyz: numbers.slice(3) as unknown as Quaternion,
  };
}

/** The fingertips whose touch counts as holding: thumb and middle finger. */
const TIPS = [
  { finger: 0, side: 'L' },
  { finger: 2, side: 'R' },
] as const;

const lastJoint = (model: RobotModel, finger: number): number =>
  model.joints.findIndex(({ name }) => name === model.hand!.fingers[finger]!.joints.at(-1));

function geomName(model: RobotModel, i: number): string {
  const tip = TIPS.find(({ finger }) => lastJoint(model, finger) === i);
  return tip === undefined ? `link${i + 1}/0` : `pad${tip.side}`;
}

/** A hand as nested MJCF bodies: the palm is `hand`, `link2` … the fingers'. */
export function handXml(model: RobotModel): string {
  const links = handLinks(model);
  const inside = (parent: number): string =>
    links.map((link, i) => (link.parent === parent ? linkXml(link, i) : '')).join('');
  const linkXml = ({ place, sign, massKg, shapes }: HandLink, i: number): string => {
    const { name, minRad, maxRad } = model.joints[i]!;
    const isPalm = i === 0;
    const geoms = shapes.map((shape) =>
      shapeXml(shape, `name="${geomName(model, i)}" class="finger" mass="${massKg}"`),
    );
    const tip = TIPS.find(({ finger }) => lastJoint(model, finger) === i);
    const site = tip === undefined ? '' : tipSiteXml(shapes[0]!, `touch${tip.side}`);
    const palm = isPalm ? `<site name="grip" pos="${text(shapes[0]!.atM)}"/>` : '';
    return `<body name="${isPalm ? 'hand' : `link${i + 1}`}" ${placeXml(place)} gravcomp="1">
<joint name="${name}" type="hinge" axis="0 0 ${sign}" range="${minRad} ${maxRad}" armature="${isPalm ? 0.01 : 0.001}" damping="0.01"/>
${geoms.join('')}${palm}${site}${inside(i)}</body>`;
  };
  return `<body name="stand" ${placeXml(handBase())}>${inside(-1)}</body>`;
}

const tipSiteXml = ({ atM, sizeM }: Shape, name: string): string =>
  `<site name="${name}" type="sphere" pos="${text(atM)}" size="${text([sizeM[0]! + (sizeM[1] ?? 0) + 0.002])}"/>`;

/** Soft skin: it holds by friction, and turns a thing by it. */
const CONTACT =
  'condim="4" friction="1 1 0.01 0.001 0.001" solref="0.005 1" solimp="0.95 0.99 0.001" solreffriction="-1 -1700"';

/** Contacts of all its links with a thing. */
export const handPairsXml = (model: RobotModel, geom: string): string =>
  model.joints.map((_, i) => `<pair geom1="${geomName(model, i)}" geom2="${geom}" ${CONTACT}/>`).join('');
