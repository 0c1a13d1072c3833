import { Group, Mesh } from 'three';
import type { ArmMaterial } from './arm-body.ts';
import type { Palette } from './palette.ts';
import { mergeParts, type Shapes } from './shapes.ts';

/** A parallel gripper along +z of the flange. `closed`: 0 open … 1 closed. */
export interface Gripper {
  root: Group;
  setClosed(closed: number): void;
}

const OPEN_M = 0.036;
const SHUT_M = 0.006;
/** Flange to fingertips. */
export const GRIPPER_LENGTH_M = 0.125;

export function createGripper(palette: Palette, shapes: Shapes, material: ArmMaterial): Gripper {
  const root = new Group();
  const body = mergeParts([
    { geometry: shapes.drum(0.029, 0.012, 'z', [0, 0, 0.006], 0.003), colour: palette.collar },
    { geometry: shapes.box([0.094, 0.044, 0.046], [0, 0, 0.035]), colour: palette.fingers },
    { geometry: shapes.box([0.1, 0.05, 0.008], [0, 0, 0.06]), colour: palette.collar },
    { geometry: shapes.drum(0.012, 0.003, 'y', [0, -0.023, 0.035], 0.001), colour: palette.cap },
    { geometry: shapes.drum(0.012, 0.003, 'y', [0, 0.023, 0.035], 0.001), colour: palette.cap },
  ]);
  const finger = mergeParts([
    { geometry: shapes.box([0.016, 0.024, 0.02], [0.006, 0, 0.074]), colour: palette.fingers },
    { geometry: shapes.box([0.01, 0.02, 0.048], [0.005, 0, 0.101]), colour: palette.tube },
    { geometry: shapes.box([0.003, 0.018, 0.026], [-0.0012, 0, 0.111]), colour: palette.cap },
  ]);
  const left = material.dress(new Mesh(finger));
  const right = material.dress(new Mesh(finger));
  right.rotation.z = Math.PI;
  root.add(material.dress(new Mesh(body)), left, right);
  const setClosed = (closed: number) => {
    const gap = OPEN_M + (SHUT_M - OPEN_M) * Math.min(1, Math.max(0, closed));
    left.position.x = gap;
    right.position.x = -gap;
  };
  setClosed(0);
  return { root, setClosed };
}
