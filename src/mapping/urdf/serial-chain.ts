import { closest } from '../../core/suggest.ts';
import { isTurning, pathTo, type UrdfJoint, type UrdfTree } from './tree.ts';
import { badUrdf, type XmlElement } from './xml.ts';

export interface SerialChain {
  tip: string;
  /** Turning and fixed joints, root first. */
  path: UrdfJoint[];
}

/**
 * The chain to the named link, or to the end of the longest chain of turning joints if that is unambiguous.
 */
export function serialChain(robot: XmlElement, tree: UrdfTree, file: string, tip?: string): SerialChain {
  return tip === undefined ? longestChain(robot, tree, file) : chainTo(robot, tree, file, tip);
}

function chainTo(robot: XmlElement, tree: UrdfTree, file: string, tip: string): SerialChain {
  if (!tree.links.has(tip)) {
    const near = closest(tip, [...tree.links.keys()]);
    throw badUrdf(
      file,
      robot.line,
      `there is no link "${tip}"`,
      `${near ? `Did you mean "#${near}"? ` : ''}Use the name of a <link> in the file.`,
    );
  }
  const path = pathTo(tree, tip, file);
  const odd = path.find((joint) => !isUsable(joint));
  if (odd !== undefined) throw unusable(file, odd);
  if (!path.some(isTurning))
    throw badUrdf(file, robot.line, `no revolute or continuous joint on the path to "${tip}"`);
  return { tip, path };
}

/** On a path to a named tip, a joint may drive a gripper, but must not follow another joint. */
const isUsable = (joint: UrdfJoint): boolean =>
  (isTurning(joint) || joint.type === 'fixed') &&
  !joint.element.children.some((child) => child.name === 'mimic');

function unusable(file: string, joint: UrdfJoint): Error {
  const why = isTurning(joint) ? 'follows another joint (<mimic>)' : `is ${joint.type}`;
  return badUrdf(
    file,
    joint.element.line,
    `joint "${joint.name}" ${why}; a chain has revolute, continuous and fixed joints`,
    'Set a tip link before it: path/to/arm.urdf#link.',
  );
}

function longestChain(robot: XmlElement, tree: UrdfTree, file: string): SerialChain {
  let best: SerialChain = { tip: '', path: [] };
  const turning = (path: readonly UrdfJoint[]) => path.filter(isTurning).length;
  for (const tip of tree.links.keys()) {
    const path = pathTo(tree, tip, file);
    if (!path.every((joint) => isUsable(joint) && !joint.isCoupled)) continue;
    const more = turning(path) - turning(best.path) || path.length - best.path.length;
    if (more > 0) best = { tip, path };
  }
  const odd = interruption(tree, file);
  if (odd !== undefined) throw unusable(file, odd);
  if (turning(best.path) === 0) throw badUrdf(file, robot.line, 'no revolute or continuous joint');
  const stray = tree.joints.find(
    (joint) =>
      isTurning(joint) &&
      !joint.isCoupled &&
      !best.path.includes(joint) &&
      pathTo(tree, joint.parent, file).every((before) => isUsable(before) && !before.isCoupled),
  );
  if (stray === undefined) return best;
  throw badUrdf(
    file,
    stray.element.line,
    `the robot branches: joint "${stray.name}" is not on the longest chain, which ends in "${best.tip}"`,
    `Set the tip link: path/to/arm.urdf#${best.tip}.`,
  );
}

/** A sliding or mimic joint with turning joints of the arm behind it, which interrupts the chain. */
function interruption(tree: UrdfTree, file: string): UrdfJoint | undefined {
  for (const joint of tree.joints) {
    if (!isTurning(joint) || joint.isCoupled) continue;
    const odd = pathTo(tree, joint.parent, file).find((before) => !isUsable(before));
    if (odd !== undefined) return odd;
  }
  return tree.joints.some((joint) => isTurning(joint) && isUsable(joint))
    ? undefined
    : tree.joints.find((joint) => !isUsable(joint));
}
