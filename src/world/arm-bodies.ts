import { partsOf, placementMatrix, product } from '../geometry/chain.ts';
import { quatFromMatrix } from '../geometry/frames.ts';
import type { Capsule, RobotModel } from '../geometry/robot-model.ts';
import type { ArmFacts } from './arm-facts.ts';
import { gripperXml } from './gripper-body.ts';
import { text, type Vector } from './shape.ts';

/** Capsules of a robot's own gripper: the world has another one there. */
const OWN_HAND = new Set(['gripper', 'hand', 'fingers', 'palm', 'right_finger', 'left_finger']);
/** Moving share of an arm's mass; the rest is its foot. */
const MOVING = 0.85;
const BARE_RADIUS_M = 0.025;

/** An arm as nested MJCF bodies: `link1` … `linkN`, `hand` at the flange, and the gripper. */
export function armXml(model: RobotModel, { massKg, mountRpyRad }: ArmFacts): string {
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
  // A capsule of the flange is given in the flange's frame.
  const inLink = (i: number) =>
    i === last - 1 ? product(parts[i]!.after, placementMatrix(model.tool)) : parts[i]!.after;
  let xml = `<body name="hand" ${placeXml(hand)} gravcomp="1">${gripperXml()}</body>`;
  for (let i = last - 1; i >= 0; i--) {
    const place = i === 0 ? parts[0]!.before : product(parts[i - 1]!.after, parts[i]!.before);
    const { name, minRad, maxRad } = model.joints[i]!;
    xml = `<body name="link${i + 1}" ${placeXml(place)} gravcomp="1">
<joint name="${name}" type="hinge" axis="0 0 1" range="${minRad} ${maxRad}" armature="${i < 3 ? 0.05 : 0.02}" damping="0.1"/>
${geoms(i + 1, inLink(i))}${xml}</body>`;
  }
  return geoms(0, placementMatrix({ xyzM: [0, 0, 0], rpyRad: [0, 0, 0] })) + xml;
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

function placeXml(t: Float64Array): string {
  const rotation = Float64Array.of(t[0]!, t[1]!, t[2]!, t[4]!, t[5]!, t[6]!, t[8]!, t[9]!, t[10]!);
  const q = new Float64Array(4);
  quatFromMatrix(rotation, q);
  return `pos="${text([t[3]!, t[7]!, t[11]!])}" quat="${text([q[3]!, q[0]!, q[1]!, q[2]!])}"`;
}
