import { Group, Mesh, Object3D, Vector3 } from 'three';
import type { RobotModel } from '../../src/geometry/robot-model.ts';
import { HAND_NUMBERS, HAND_POINTS } from '../../src/hand/points.ts';
import { HAND_BONES } from '../../src/hand/projection.ts';
import { robotHandPoints } from '../../src/mapping/retarget/robot-fingers.ts';
import type { ArmBody, ArmMaterial } from './arm-body.ts';
import { createRod, span } from './chain-body.ts';
import type { Palette } from './palette.ts';
import { mergeParts, type Shapes } from './shapes.ts';

const ROD_M = 0.007;
const HUB_M = 0.009;
/** Height of the wrist above the floor. */
const WRIST_M = 0.05;
/** Knuckle of the middle finger. */
const FLANGE_POINT = 9;

/** A robot hand, upright, palm forward: rods and hubs at the estimated finger positions. */
export function createHandBody(
  model: RobotModel,
  palette: Palette,
  shapes: Shapes,
  material: ArmMaterial,
): ArmBody {
  const names = model.joints.map(({ name }) => name);
  const left = model.name.endsWith('-left') ? -1 : 1;
  const pointsM = new Float64Array(HAND_NUMBERS);
  const places = Array.from({ length: HAND_POINTS }, () => new Vector3());
  const root = new Group();
  const hub = () => [{ geometry: shapes.rod(HUB_M, [0, 0, 0], [0, 0, 0]), colour: palette.cap }];
  const hubs = places.map(() => material.dress(new Mesh(mergeParts(hub()))));
  const rods = HAND_BONES.map(() => createRod(palette, shapes, material, ROD_M));
  const flange = new Object3D();
  root.add(...hubs, ...rods, flange);
  return {
    root,
    flange,
    lead: flange,
    scale: 0.5,
    setJoints(angles) {
      robotHandPoints(names, angles, pointsM);
      for (const [i, at] of places.entries()) {
        const [x, y, z] = pointsM.subarray(3 * i, 3 * i + 3) as unknown as [number, number, number];
        at.set(z, left * x, y + WRIST_M);
        hubs[i]!.position.copy(at);
      }
      for (const [i, [a, b]] of HAND_BONES.entries()) span(rods[i]!, places[a]!, places[b]!);
      flange.position.copy(places[FLANGE_POINT]!);
    },
  };
}
