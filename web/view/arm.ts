import { Group, Mesh, Object3D } from 'three';
import type { RobotModel } from '../../src/geometry/robot-model.ts';
import { GRIPPER } from '../../src/world/gripper-body.ts';
import type { ArmBody, ArmMaterial } from './arm-body.ts';
import { createChainBody } from './chain-body.ts';
import { createGripper, GRIPPER_LENGTH_M, type Gripper } from './gripper.ts';
import { createHandBody } from './hand-body.ts';
import type { Palette } from './palette.ts';
import { mergeParts, type Shapes } from './shapes.ts';
import { urLooks } from './ur-links.ts';
import { createWorldGripper } from './world-gripper.ts';
import { createWorldHand } from './world-hand.ts';

/** An arm in the scene; angles in radians, one per joint. */
export interface Arm {
  root: Group;
  /** Between the fingertips; the flange without a gripper. */
  tip: Object3D;
  /** The point that follows the hand. */
  lead: Object3D;
  /** Its gripper; null without one. */
  gripper: Object3D | null;
  setJoints(anglesRad: ArrayLike<number>): void;
  setGripper(closed: number): void;
}

/**
 * `root` is in scene axes: the robot's base is Z up, the scene Y up. `isInWorld`: with the gripper of a simulated world.
 */
export function createArm(
  model: RobotModel,
  palette: Palette,
  shapes: Shapes,
  material: ArmMaterial,
  isInWorld = false,
): Arm {
  const isUr = model.family === 'ur' && model.joints.every((joint) => joint.dh !== undefined);
  const createHand = isInWorld ? createWorldHand : createHandBody;
  const create = isUr ? createUrBody : model.family === 'hand' ? createHand : createChainBody;
  const body = create(model, palette, shapes, material);
  body.root.rotation.x = -Math.PI / 2;
  const tip = new Object3D();
  body.flange.add(tip);
  if (isInWorld && model.family !== 'hand')
    return inWorld(body, tip, createWorldGripper(model, palette, shapes, material));
  const gripper = model.gripper ? createGripper(palette, shapes, material) : null;
  if (gripper) {
    gripper.root.scale.setScalar(body.scale);
    tip.position.z = GRIPPER_LENGTH_M * body.scale;
    body.flange.add(gripper.root);
  }
  return {
    root: body.root,
    tip,
    lead: body.lead,
    gripper: gripper?.root ?? null,
    setJoints: (angles) => body.setJoints(angles),
    setGripper: (closed) => gripper?.setClosed(closed),
  };
}

function inWorld(body: ArmBody, tip: Object3D, gripper: Gripper): Arm {
  body.flange.add(gripper.root);
  gripper.root.add(tip);
  tip.position.z = GRIPPER.padM;
  return {
    root: body.root,
    tip,
    // There, the gripper itself follows the hand.
    lead: tip,
    gripper: gripper.root,
    setJoints: (angles) => body.setJoints(angles),
    setGripper: (closed) => gripper.setClosed(closed),
  };
}

/** A UR arm with its real shape, posed by its DH parameters. */
function createUrBody(model: RobotModel, palette: Palette, shapes: Shapes, material: ArmMaterial): ArmBody {
  const root = new Group();
  const looks = urLooks(model, palette, shapes);
  root.add(material.dress(new Mesh(mergeParts(looks.base))));
  const joints: Object3D[] = [];
  let frame: Object3D = root;
  model.joints.forEach(({ dh }, i) => {
    const turning = new Object3D();
    const next = new Object3D();
    next.position.set(dh?.aM ?? 0, 0, dh?.dM ?? 0);
    next.rotation.x = dh?.alphaRad ?? 0;
    const parts = looks.links[i];
    if (parts) turning.add(material.dress(new Mesh(mergeParts(parts))));
    frame.add(turning.add(next));
    joints.push(turning);
    frame = next;
  });
  return {
    root,
    flange: frame,
    lead: joints.at(-3) ?? root,
    scale: looks.scale,
    setJoints(angles) {
      for (const [i, joint] of joints.entries())
        joint.rotation.z = (angles[i] ?? 0) + (model.joints[i]?.dh?.thetaRad ?? 0);
    },
  };
}
