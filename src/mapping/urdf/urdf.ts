import { TeleopError } from '../../core/errors.ts';
import { type JointModel, type RobotModel, robotModelSchema } from '../../geometry/robot-model.ts';
import { touchingPairs } from '../../geometry/touching.ts';
import { linkCapsules } from './capsules.ts';
import { inverse, placementOf, type Rigid, rigid, times } from './rigid.ts';
import { type SerialChain, serialChain } from './serial-chain.ts';
import { isTurning, readTree, type UrdfJoint, type UrdfTree } from './tree.ts';
import { linkVisuals, namedColours, type UrdfVisual } from './visuals.ts';
import { badUrdf, childOf, createXmlReader, readXml, type XmlElement, type XmlReader } from './xml.ts';

export interface UrdfModel {
  model: RobotModel;
  /** What was omitted or assumed, for the user. */
  notes: string[];
  /** Meshes to show; none for a hand. */
  visuals?: UrdfVisual[];
}

/** A continuous joint may turn this far in either direction. */
const CONTINUOUS_RAD = 2 * Math.PI;
/** URDF has neither: full speed is reached in a quarter of a second, full acceleration in a twentieth. */
const ACCELERATION_PER_S = 4;
const JERK_PER_S = 20;
const UNKNOWN_VELOCITY_RAD_S = 1;

/**
 * Builds a robot model from the text of a URDF file: the chain from its root to `tip`, or to its only end.
 */
export function parseUrdf(text: string, file: string, tip?: string): UrdfModel {
  const reader = createXmlReader(file);
  const robot = robotOf(text, file);
  const tree = readTree(robot, reader);
  const chain = serialChain(robot, tree, file, tip);
  const notes = [`chain to link "${chain.tip}"`];
  const { joints, tool } = chainJoints(chain, reader, notes);
  const places = linkPlaces(tree, chain, tool, notes);
  const name = robot.attributes['name'] ?? 'urdf';
  const draft = {
    name,
    title: `${name} (${file})`,
    family: 'serial' as const,
    joints,
    tool: placementOf(tool),
    homeRad: joints.map(({ minRad, maxRad }) => (minRad <= 0 && maxRad >= 0 ? 0 : (minRad + maxRad) / 2)),
    gripper: tree.joints.some((joint) => !chain.path.includes(joint) && joint.type !== 'fixed'),
    ...chainCapsules(tree, places, reader, notes),
  };
  // Shapes that overlap at home are assumed to touch by design; otherwise the arm could never move.
  const mayTouch = touchingPairs(draft, draft.homeRad);
  for (const [a, b] of mayTouch) notes.push(`"${a}" and "${b}" overlap at home and may always touch`);
  const colours = namedColours(robot);
  const visuals = [...places].flatMap(([link, { frame, pose }]) =>
    linkVisuals(tree.links.get(link)!, frame, pose, reader, colours),
  );
  return { model: checked({ ...draft, mayTouch }, file), notes, visuals };
}

/** The root element of a URDF file; `file` is the name used in errors. */
export function robotOf(text: string, file: string): XmlElement {
  const robot = readXml(text, file);
  if (robot.name !== 'robot') throw badUrdf(file, robot.line, `the root is <${robot.name}>, not <robot>`);
  const odd = robot.children.find(({ name }) => name.startsWith('xacro:'));
  if (odd !== undefined)
    throw badUrdf(
      file,
      odd.line,
      `<${odd.name}> is xacro, not URDF`,
      'Expand it first: xacro arm.urdf.xacro > arm.urdf.',
    );
  return robot;
}

function chainJoints(chain: SerialChain, reader: XmlReader, notes: string[]) {
  const joints: JointModel[] = [];
  let pending = rigid([0, 0, 0], [0, 0, 0]);
  for (const joint of chain.path) {
    pending = times(pending, rigid(joint.xyzM, joint.rpyRad));
    if (!isTurning(joint)) continue;
    joints.push({ ...turningJoint(joint, reader, notes), origin: placementOf(pending) });
    pending = rigid([0, 0, 0], [0, 0, 0]);
  }
  return { joints, tool: pending };
}

export function turningJoint(joint: UrdfJoint, reader: XmlReader, notes: string[]): JointModel {
  const { name, element } = joint;
  const limit = childOf(element, 'limit');
  const isRevolute = joint.type === 'revolute';
  if (isRevolute && limit === undefined)
    throw badUrdf(reader.file, element.line, `joint "${name}" is revolute and has no <limit>`);
  const soft = childOf(element, 'safety_controller') ?? element;
  const range = (which: 'lower' | 'upper', end: number) =>
    isRevolute ? reader.number(limit!, which, 0) : end;
  const minRad = Math.max(
    range('lower', -CONTINUOUS_RAD),
    reader.number(soft, 'soft_lower_limit', -Infinity),
  );
  const maxRad = Math.min(range('upper', CONTINUOUS_RAD), reader.number(soft, 'soft_upper_limit', Infinity));
  if (minRad >= maxRad)
    throw badUrdf(
      reader.file,
      (limit ?? element).line,
      `<limit> of joint "${name}": lower is not below upper`,
    );
  const given = limit && (isRevolute || limit.attributes['velocity'] !== undefined);
  const maxVelocityRadS = given ? reader.number(limit, 'velocity') : UNKNOWN_VELOCITY_RAD_S;
  if (!given) notes.push(`joint "${name}" has no velocity limit: ${UNKNOWN_VELOCITY_RAD_S} rad/s assumed`);
  if (maxVelocityRadS <= 0)
    throw badUrdf(reader.file, limit!.line, `<limit> of joint "${name}": velocity is not positive`);
  const axis = childOf(element, 'axis');
  const direction = axis ? reader.vector(axis, 'xyz') : ([1, 0, 0] as [number, number, number]);
  if (Math.hypot(...direction) === 0)
    throw badUrdf(reader.file, axis!.line, `<axis> of joint "${name}" is zero`);
  const maxAccelerationRadS2 = ACCELERATION_PER_S * maxVelocityRadS;
  const maxJerkRadS3 = JERK_PER_S * maxAccelerationRadS2;
  return { name, minRad, maxRad, maxVelocityRadS, maxAccelerationRadS2, maxJerkRadS3, axis: direction };
}

/** In which chain frame a link is, and where. */
type LinkPlaces = ReadonlyMap<string, { frame: number; pose: Rigid }>;

/** Every link that moves with the chain, including side branches. */
function linkPlaces(tree: UrdfTree, chain: SerialChain, tool: Rigid, notes: string[]): LinkPlaces {
  const last = chain.path.filter(isTurning).length;
  const places = new Map<string, { frame: number; pose: Rigid }>();
  const loose: string[] = [];
  const place = (link: string, frame: number, pose: Rigid): void => {
    places.set(link, { frame, pose: frame === last ? times(inverse(tool), pose) : pose });
    for (const joint of tree.joints.filter(({ parent }) => parent === link)) {
      const onward = times(pose, rigid(joint.xyzM, joint.rpyRad));
      if (joint.type === 'fixed') place(joint.child, frame, onward);
      else if (chain.path.includes(joint)) place(joint.child, frame + 1, rigid([0, 0, 0], [0, 0, 0]));
      else loose.push(joint.child);
    }
  };
  place(chain.path[0]!.parent, 0, rigid([0, 0, 0], [0, 0, 0]));
  if (loose.length > 0)
    notes.push(`links that move independently, excluded from collision checks: ${loose.join(', ')}`);
  return places;
}

function chainCapsules(
  tree: UrdfTree,
  places: LinkPlaces,
  reader: XmlReader,
  notes: string[],
): Pick<RobotModel, 'capsules' | 'mayTouch'> {
  const meshes: string[] = [];
  const capsules = [...places].flatMap(([link, { frame, pose }]) =>
    linkCapsules(tree.links.get(link)!, frame, pose, reader, meshes),
  );
  if (meshes.length > 0) notes.push(`meshes are not read, so no collision shape for: ${meshes.join(', ')}`);
  return { capsules, mayTouch: [] };
}

export function checked(draft: RobotModel, file: string): RobotModel {
  const parsed = robotModelSchema.safeParse(draft);
  if (parsed.success) return parsed.data;
  const issue = parsed.error.issues[0]!;
  throw new TeleopError('bad-model', `${file}: ${issue.path.join('.')}: ${issue.message}`, {
    hint: 'Fix the file; docs/kinematics.md lists the supported parts of URDF.',
  });
}
