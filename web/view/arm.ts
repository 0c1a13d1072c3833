import { Group, Mesh, Object3D } from 'three';
import type { RobotModel } from '../../src/core/robot-model.ts';
import { createGripper, GRIPPER_LENGTH_M } from './gripper.ts';
import type { Palette } from './palette.ts';
import { mergeParts, type Shapes } from './shapes.ts';
import { urLooks } from './ur-links.ts';

/** How meshes of one arm are painted. */
export interface ArmMaterial {
  dress(mesh: Mesh): Mesh;
}

/** An arm drawn from its DH rows; angles in radians, one per joint. */
export interface Arm {
  root: Group;
  /** Between the fingertips, or the flange of an arm without a gripper. */
  tip: Object3D;
  /** Where the last three axes begin: the point that the hand leads. */
  wrist: Object3D;
  setJoints(anglesRad: ArrayLike<number>): void;
  setGripper(closed: number): void;
}

/** `root` is in scene axes: the robot's base is Z up, the scene Y up. */
export function createArm(model: RobotModel, palette: Palette, shapes: Shapes, material: ArmMaterial): Arm {
  const root = new Group();
  root.rotation.x = -Math.PI / 2;
  const looks = urLooks(model, palette, shapes);
  root.add(material.dress(new Mesh(mergeParts(looks.base))));
  const joints: Object3D[] = [];
  let frame: Object3D = root;
  model.joints.forEach((joint, i) => {
    const turning = new Object3D();
    const next = new Object3D();
    next.position.set(joint.dh?.aM ?? 0, 0, joint.dh?.dM ?? 0);
    next.rotation.x = joint.dh?.alphaRad ?? 0;
    const parts = looks.links[i];
    if (parts) turning.add(material.dress(new Mesh(mergeParts(parts))));
    frame.add(turning.add(next));
    joints.push(turning);
    frame = next;
  });
  const wrist = joints.at(-3) ?? root;
  const tip = new Object3D();
  frame.add(tip);
  const gripper = model.gripper ? createGripper(palette, shapes, material) : null;
  if (gripper) {
    gripper.root.scale.setScalar(looks.scale);
    tip.position.z = GRIPPER_LENGTH_M * looks.scale;
    frame.add(gripper.root);
  }
  return {
    root,
    tip,
    wrist,
    setJoints(angles) {
      for (const [i, joint] of joints.entries()) joint.rotation.z = angles[i] ?? 0;
    },
    setGripper: (closed) => gripper?.setClosed(closed),
  };
}
