import { partsOf, placementMatrix, product } from '../geometry/chain.ts';
import { quatFromMatrix } from '../geometry/frames.ts';
import type { Capsule, RobotModel } from '../geometry/robot-model.ts';
import type { ArmFacts } from './arm-facts.ts';
import { gripperXml } from './gripper-body.ts';
import { COLOURS, type Quaternion, type Shape, text, type Vector } from './shape.ts';

/** Capsules of a robot's own gripper: the world has another one there. */
const OWN_HAND = new Set(['gripper', 'hand', 'fingers', 'palm', 'right_finger', 'left_finger']);
/** Moving share of an arm's mass; the rest is its foot. */
const MOVING = 0.85;
const BARE_RADIUS_M = 0.025;

/** An arm as nested MJCF bodies: `link1` … `linkN`, `hand` at the flange, and the gripper. Every name begins with `prefix`. */
export function armXml(model: RobotModel, { massKg, mountRpyRad }: ArmFacts, prefix = ''): string {
  const parts = model.joints.map(partsOf);
  const last = model.joints.length;
  const capsules = capsulesOf(model);
  const moving = capsules.filter(({ frame }) => frame > 0);
  const density = (MOVING * massKg) / moving.reduce((sum, capsule) => sum + volumeM3(capsule), 0);
  const geoms = (frame: number, inBody: Float64Array): string =>
    capsules
      .filter((capsule) => capsule.frame === frame)
      .map((capsule) => capsuleXml(capsule, inBody, density * volumeM3(capsule)))
      .join('');
  const mount = placementMatrix({ xyzM: [0, 0, 0], rpyRad: [...mountRpyRad] });
  const hand = product(parts[last - 1]!.after, placementMatrix(model.tool), mount);
  let xml = `<body name="${prefix}hand" ${placeXml(hand)} gravcomp="1">${gripperXml(prefix)}</body>`;
  for (let i = last - 1; i >= 0; i--) {
    const place = i === 0 ? parts[0]!.before : product(parts[i - 1]!.after, parts[i]!.before);
    const { name, minRad, maxRad } = model.joints[i]!;
    xml = `<body name="${prefix}link${i + 1}" ${placeXml(place)} gravcomp="1">
<joint name="${prefix}${name}" type="hinge" axis="0 0 1" range="${minRad} ${maxRad}" armature="${i < 3 ? 0.05 : 0.02}" damping="0.1"/>
${geoms(i + 1, capsuleFrame(model, i))}${xml}</body>`;
  }
  return geoms(0, placementMatrix({ xyzM: [0, 0, 0], rpyRad: [0, 0, 0] })) + xml;
}

/** Where the capsules of joint i's link are given, in its body. Those of the last one are given in the flange's frame. */
function capsuleFrame(model: RobotModel, i: number): Float64Array {
  const { after } = partsOf(model.joints[i]!);
  return i === model.joints.length - 1 ? product(after, placementMatrix(model.tool)) : after;
}

/** What is drawn of each link, in its body: the base, then one list per joint. */
export function linkShapes(model: RobotModel): Shape[][] {
  const identity = placementMatrix({ xyzM: [0, 0, 0], rpyRad: [0, 0, 0] });
  const capsules = capsulesOf(model);
  return Array.from({ length: model.joints.length + 1 }, (_, frame) =>
    capsules
      .filter((capsule) => capsule.frame === frame)
      .map((capsule) =>
        capsuleShape(capsule, frame === 0 ? identity : capsuleFrame(model, frame - 1), frame),
      ),
  );
}

export function capsuleShape({ fromM, toM, radiusM }: Capsule, inBody: Float64Array, frame: number): Shape {
  const [from, to] = [pointIn(inBody, fromM), pointIn(inBody, toM)];
  const along = to.map((value, k) => value - from[k]!) as [number, number, number];
  const lengthM = Math.hypot(...along);
  const atM = from.map((value, k) => (value + to[k]!) / 2) as [number, number, number];
  const colour = frame % 2 === 0 ? COLOURS.arm : COLOURS.blue;
  if (lengthM < 1e-6) return { kind: 'sphere', sizeM: [radiusM], atM, colour };
  // The turn that takes z to the capsule's direction.
  const [x, y, z] = along.map((value) => value / lengthM) as [number, number, number];
  const length = Math.sqrt(2 * (1 + z)) || 1;
  const quatWxyz: Quaternion = z > -1 + 1e-9 ? [length / 2, -y / length, x / length, 0] : [0, 1, 0, 0];
  return { kind: 'capsule', sizeM: [radiusM, lengthM / 2], atM, quatWxyz, colour };
}

/** The model's capsules without its own gripper; without any, a rod along each link. */
export function capsulesOf(model: RobotModel): Capsule[] {
  const given = model.capsules.filter(
    ({ name, frame }) => frame < model.joints.length || !OWN_HAND.has(name),
  );
  if (given.some(({ frame }) => frame > 0)) return given;
  const rods = model.joints.map((joint, i): Capsule => {
    const { after } = partsOf(joint);
    const next = model.joints[i + 1];
    const reach = next === undefined ? after : product(after, partsOf(next).before);
    const toM: [number, number, number] = [reach[3]!, reach[7]!, reach[11]!];
    return { name: `rod${i + 1}`, frame: i + 1, fromM: [0, 0, 0], toM, radiusM: BARE_RADIUS_M };
  });
  return [...given, ...rods];
}

function volumeM3({ fromM, toM, radiusM: r }: Capsule): number {
  const length = Math.hypot(...fromM.map((value, i) => value - toM[i]!));
  return Math.PI * r * r * length + (4 / 3) * Math.PI * r ** 3;
}

function capsuleXml({ fromM, toM, radiusM }: Capsule, inBody: Float64Array, massKg: number): string {
  const [from, to] = [pointIn(inBody, fromM), pointIn(inBody, toM)];
  const mass = `mass="${text([massKg])}" class="arm"`;
  if (Math.hypot(...from.map((value, i) => value - to[i]!)) < 1e-6)
    return `<geom type="sphere" pos="${text(from)}" size="${radiusM}" ${mass}/>`;
  return `<geom type="capsule" fromto="${text([...from, ...to])}" size="${radiusM}" ${mass}/>`;
}

function pointIn(t: Float64Array, [x, y, z]: Vector): number[] {
  return [0, 4, 8].map((row) => t[row]! * x + t[row + 1]! * y + t[row + 2]! * z + t[row + 3]!);
}

/** Position, then the quaternion w, x, y, z. */
export function placeNumbers(t: Float64Array): number[] {
  const rotation = Float64Array.of(t[0]!, t[1]!, t[2]!, t[4]!, t[5]!, t[6]!, t[8]!, t[9]!, t[10]!);
  const q = new Float64Array(4);
  quatFromMatrix(rotation, q);
  return [t[3]!, t[7]!, t[11]!, q[3]!, q[0]!, q[1]!, q[2]!];
}

export function placeXml(t: Float64Array): string {
  const numbers = placeNumbers(t);
  return `pos="${text(numbers.slice(0, 3))}" quat="${text(numbers.slice(3))}"`;
}
