import { Group, Mesh } from 'three';
import type { RobotModel } from '../../src/geometry/robot-model.ts';
import { armFacts } from '../../src/world/arm-facts.ts';
import { GRIPPER, OPEN_M } from '../../src/world/gripper-body.ts';
import type { ArmMaterial } from './arm-body.ts';
import type { Gripper } from './gripper.ts';
import type { Palette } from './palette.ts';
import { mergeParts, type Shapes } from './shapes.ts';

/** The gripper of a simulated world, in its real size: fingers close along y of the hand. */
export function createWorldGripper(
  model: RobotModel,
  palette: Palette,
  shapes: Shapes,
  material: ArmMaterial,
): Gripper {
  const root = new Group();
  const [roll, pitch, yaw] = armFacts(model).mountRpyRad;
  root.rotation.set(roll, pitch, yaw, 'ZYX');
  const body = mergeParts([
    { geometry: shapes.drum(0.03, 0.024, 'z', [0, 0, 0.008], 0.003), colour: palette.collar },
    { geometry: shapes.box([0.04, 0.1, 0.06], [0, 0, 0.045]), colour: palette.fingers },
  ]);
  const finger = (side: 1 | -1) =>
    mergeParts([
      {
        geometry: shapes.box([0.018, 0.008, 0.055], [0, side * 0.0085, GRIPPER.padM - 0.0125]),
        colour: palette.tube,
      },
      { geometry: shapes.box([0.02, 0.006, 0.03], [0, side * 0.003, GRIPPER.padM]), colour: palette.cap },
    ]);
  const left = material.dress(new Mesh(finger(1)));
  const right = material.dress(new Mesh(finger(-1)));
  root.add(material.dress(new Mesh(body)), left, right);
  const setClosed = (closed: number) => {
    const half = (OPEN_M / 2) * (1 - Math.min(1, Math.max(0, closed)));
    left.position.y = half;
    right.position.y = -half;
  };
  setClosed(0);
  return { root, setClosed };
}
