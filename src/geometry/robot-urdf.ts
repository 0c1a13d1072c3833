import { partsOf, placementMatrix, product, TRANSFORM_SIZE } from './chain.ts';
import { quatFromMatrix } from './frames.ts';
import type { Capsule, RobotModel } from './robot-model.ts';

/** A link of the arm; its frame turns with its joint, about its own z axis. */
interface Link {
  name: string;
  parent: string;
  /** At joint position zero: its frame in its parent's, 3×4 row-major. */
  origin: Float64Array;
  /** Null: fixed. */
  joint: number | null;
}

export const BASE_LINK = 'base';
const FLANGE_LINK = 'flange';
const linkName = (joint: string): string => `${joint}_link`;

/** The links of an arm from its base on, the flange last. A hand has none: its fingers are no chain. */
function linksOf(model: RobotModel): Link[] {
  const parts = model.joints.map(partsOf);
  const links = model.joints.map(({ name }, i): Link => {
    const before = parts[i]!.before;
    return {
      name: linkName(name),
      parent: i === 0 ? BASE_LINK : linkName(model.joints[i - 1]!.name),
      origin: i === 0 ? before : product(parts[i - 1]!.after, before),
      joint: i,
    };
  });
  const last = parts.at(-1)!.after;
  const origin = product(last, placementMatrix(model.tool));
  return [...links, { name: FLANGE_LINK, parent: links.at(-1)!.name, origin, joint: null }];
}

/** Poses of the links' frames, for viewers. Allocates when it is created, not per pose. */
export class LinkPoses {
  readonly links: readonly { parent: string; child: string; pose: Float64Array }[];
  /** The flange in the base frame: x, y, z (m), then a quaternion x, y, z, w. */
  readonly tool = new Float64Array(7);
  readonly #links: readonly Link[];
  readonly #turned = new Float64Array(TRANSFORM_SIZE);
  readonly #turn = new Float64Array(TRANSFORM_SIZE);

  constructor(model: RobotModel) {
    this.#links = linksOf(model);
    this.links = this.#links.map(({ parent, name }) => ({ parent, child: name, pose: new Float64Array(7) }));
  }

  /** Poses at these joint positions; the arrays are reused. */
  update(qRad: ArrayLike<number>): void {
    let whole: Float64Array = IDENTITY;
    this.#links.forEach(({ origin, joint }, i) => {
      const angle = joint === null ? 0 : qRad[joint]!;
      const [cos, sin] = [Math.cos(angle), Math.sin(angle)];
      this.#turn.set([cos, -sin, 0, 0, sin, cos, 0, 0, 0, 0, 1, 0]);
      this.#turned.set(product(origin, this.#turn));
      poseOf(this.#turned, this.links[i]!.pose);
      whole = product(whole, this.#turned);
    });
    poseOf(whole, this.tool);
  }
}

const IDENTITY = Float64Array.of(1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0);
const rotation = new Float64Array(9);
const quaternion = new Float64Array(4);

function poseOf(t: Float64Array, out: Float64Array): void {
  for (let row = 0; row < 3; row++) {
    out[row] = t[row * 4 + 3]!;
    for (let column = 0; column < 3; column++) rotation[row * 3 + column] = t[row * 4 + column]!;
  }
  quatFromMatrix(rotation, quaternion);
  out.set(quaternion, 3);
}

/** The arm as URDF: its joints, and its collision capsules as shapes. Null for a hand. */
export function urdfOf(model: RobotModel): string | null {
  if (model.family === 'hand') return null;
  const links = linksOf(model);
  const parts = model.joints.map(partsOf);
  const shapes = (link: string, frame: number) => {
    const to = frame === 0 ? IDENTITY : parts[frame - 1]!.after;
    const own = model.capsules.filter((capsule) => capsule.frame === frame);
    return `  <link name="${escaped(link)}">\n${own.map((capsule) => capsuleXml(capsule, to)).join('')}  </link>\n`;
  };
  return [
    `<?xml version="1.0"?>\n<robot name="${escaped(model.name)}">\n`,
    shapes(BASE_LINK, 0),
    ...links.map(({ name, joint }) =>
      joint === null ? `  <link name="${name}"/>\n` : shapes(name, joint + 1),
    ),
    ...links.map((link) => jointXml(model, link)),
    '</robot>\n',
  ].join('');
}

function jointXml({ joints }: RobotModel, { name, parent, origin, joint }: Link): string {
  const limits = joint === null ? null : joints[joint]!;
  const head =
    limits === null ? `name="${name}_fixed" type="fixed"` : `name="${escaped(limits.name)}" type="revolute"`;
  const turning =
    limits === null
      ? ''
      : `    <axis xyz="0 0 1"/>\n    <limit lower="${limits.minRad}" upper="${limits.maxRad}" velocity="${limits.maxVelocityRadS}" effort="0"/>\n`;
  return `  <joint ${head}>\n    <parent link="${escaped(parent)}"/>\n    <child link="${escaped(name)}"/>\n    ${originXml(origin)}\n${turning}  </joint>\n`;
}

/** URDF has no capsule: a cylinder and two spheres. */
function capsuleXml({ fromM, toM, radiusM }: Capsule, to: Float64Array): string {
  const ends = [fromM, toM].map((point) => applied(to, point));
  const [a, b] = ends as [number[], number[]];
  const along = a.map((value, i) => b[i]! - value);
  const length = Math.hypot(...along);
  const middle = a.map((value, i) => (value + b[i]!) / 2);
  const yaw = Math.atan2(along[1]!, along[0]!);
  const pitch = Math.atan2(Math.hypot(along[0]!, along[1]!), along[2]!);
  const shape = (xyz: readonly number[], rpy: readonly number[], geometry: string) =>
    `    <visual>\n      <origin xyz="${numbers(xyz)}" rpy="${numbers(rpy)}"/>\n      <geometry>${geometry}</geometry>\n    </visual>\n`;
  const sphere = `<sphere radius="${radiusM}"/>`;
  const cylinder = `<cylinder radius="${radiusM}" length="${length}"/>`;
  const tube = length > 1e-6 ? shape(middle, [0, pitch, yaw], cylinder) : '';
  return `${tube}${shape(a, [0, 0, 0], sphere)}${length > 1e-6 ? shape(b, [0, 0, 0], sphere) : ''}`;
}

const applied = (t: Float64Array, point: readonly number[]): number[] =>
  [0, 4, 8].map(
    (row) => t[row]! * point[0]! + t[row + 1]! * point[1]! + t[row + 2]! * point[2]! + t[row + 3]!,
  );

/** R = Rz(yaw) Ry(pitch) Rx(roll). */
function originXml(t: Float64Array): string {
  const pitch = Math.atan2(-t[8]!, Math.hypot(t[0]!, t[4]!));
  const isUpright = Math.hypot(t[0]!, t[4]!) > 1e-9;
  const roll = isUpright ? Math.atan2(t[9]!, t[10]!) : 0;
  const yaw = isUpright ? Math.atan2(t[4]!, t[0]!) : Math.atan2(-t[1]!, t[5]!);
  return `<origin xyz="${numbers([t[3]!, t[7]!, t[11]!])}" rpy="${numbers([roll, pitch, yaw])}"/>`;
}

const numbers = (values: readonly number[]): string => values.map((value) => String(value)).join(' ');
const escaped = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;');
