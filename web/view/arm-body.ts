import type { Group, Mesh, Object3D } from 'three';

/** Applies materials to the meshes of an arm. */
export interface ArmMaterial {
  dress(mesh: Mesh): Mesh;
}

/** An arm without its gripper; angles in radians, one per joint. */
export interface ArmBody {
  /** Robot axes: Z up. */
  root: Group;
  flange: Object3D;
  /** The point that follows the hand. */
  lead: Object3D;
  /** Scale of the gripper. */
  scale: number;
  setJoints(anglesRad: ArrayLike<number>): void;
}
