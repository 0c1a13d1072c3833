import { badUrdf, childOf, childrenOf, type Vector, type XmlElement, type XmlReader } from './xml.ts';

export interface UrdfJoint {
  name: string;
  type: string;
  parent: string;
  child: string;
  xyzM: Vector;
  rpyRad: Vector;
  /** The joint follows another, or another follows it: part of a gripper, not of the arm. */
  isCoupled: boolean;
  element: XmlElement;
}

export interface UrdfTree {
  links: Map<string, XmlElement>;
  joints: UrdfJoint[];
  /** The parent joint of each link. */
  carrier: Map<string, UrdfJoint>;
}

export const isTurning = ({ type }: UrdfJoint): boolean => type === 'revolute' || type === 'continuous';

/** Links and joints of a robot, verified to form a tree. */
export function readTree(robot: XmlElement, reader: XmlReader): UrdfTree {
  const links = new Map<string, XmlElement>();
  for (const element of childrenOf(robot, 'link')) {
    const name = reader.text(element, 'name');
    if (links.has(name)) throw badUrdf(reader.file, element.line, `duplicate link "${name}"`);
    links.set(name, element);
  }
  const elements = childrenOf(robot, 'joint');
  const mimicked = new Set(elements.map((element) => childOf(element, 'mimic')?.attributes['joint']));
  const joints = elements.map((element) => readJoint(element, reader, links, mimicked));
  const carrier = new Map<string, UrdfJoint>();
  for (const joint of joints) {
    const other = carrier.get(joint.child);
    if (other !== undefined)
      throw badUrdf(
        reader.file,
        joint.element.line,
        `link "${joint.child}" has two parent joints, "${joint.name}" and "${other.name}"`,
      );
    carrier.set(joint.child, joint);
  }
  return { links, joints, carrier };
}

function readJoint(
  element: XmlElement,
  reader: XmlReader,
  links: ReadonlyMap<string, XmlElement>,
  mimicked: ReadonlySet<string | undefined>,
): UrdfJoint {
  const name = reader.text(element, 'name');
  const end = (which: 'parent' | 'child'): string => {
    const found = childOf(element, which);
    if (found === undefined) throw badUrdf(reader.file, element.line, `joint "${name}" has no <${which}>`);
    const link = reader.text(found, 'link');
    if (!links.has(link))
      throw badUrdf(reader.file, found.line, `<${which}> of joint "${name}": there is no link "${link}"`);
    return link;
  };
  const origin = childOf(element, 'origin');
  return {
    name,
    type: reader.text(element, 'type'),
    parent: end('parent'),
    child: end('child'),
    xyzM: origin ? reader.vector(origin, 'xyz', [0, 0, 0]) : [0, 0, 0],
    rpyRad: origin ? reader.vector(origin, 'rpy', [0, 0, 0]) : [0, 0, 0],
    isCoupled: childOf(element, 'mimic') !== undefined || mimicked.has(name),
    element,
  };
}

/** Joints from the root to a link, root first. */
export function pathTo(tree: UrdfTree, link: string, file: string): UrdfJoint[] {
  const path: UrdfJoint[] = [];
  for (let joint = tree.carrier.get(link); joint !== undefined; joint = tree.carrier.get(joint.parent)) {
    path.unshift(joint);
    if (path.length > tree.joints.length)
      throw badUrdf(file, joint.element.line, `joint "${joint.name}" is part of a loop of links`);
  }
  return path;
}
