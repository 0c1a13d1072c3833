import { Group, Mesh, Object3D, Vector3 } from 'three';
import { createRobotHandPoints } from '../../src/geometry/hand-points.ts';
import type { RobotModel } from '../../src/geometry/robot-model.ts';
import { HAND_NUMBERS, HAND_POINTS } from '../../src/hand/points.ts';
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

/** A robot hand, upright, palm forward: rods between its joints. Only a wrist if the model has no finger geometry. */
export function createHandBody(
  model: RobotModel,
  palette: Palette,
  shapes: Shapes,
  material: ArmMaterial,
): ArmBody {
  const hand = createRobotHandPoints(model);
  const bones = hand?.bones ?? [];
  const pointsM = new Float64Array(HAND_NUMBERS);
  const places = Array.from({ length: HAND_POINTS }, () => new Vector3());
  const root = new Group();
  const hub = () => [{ geometry: shapes.rod(HUB_M, [0, 0, 0], [0, 0, 0]), colour: palette.cap }];
  const hubs = places.map(() => material.dress(new Mesh(mergeParts(hub()))));
  const rods = bones.map(() => createRod(palette, shapes, material, ROD_M));
  const flange = new Object3D();
  root.add(...hubs, ...rods, flange);
  return {
    root,
    flange,
    lead: flange,
    scale: 0.5,
    setJoints(angles) {
      hand?.fill(angles, pointsM);
      for (const [i, at] of places.entries()) {
        const [x, y, z] = pointsM.subarray(3 * i, 3 * i + 3) as unknown as [number, number, number];
        at.set(z, x, y + WRIST_M);
        hubs[i]!.position.copy(at);
      }
      for (const [i, [a, b]] of bones.entries()) span(rods[i]!, places[a]!, places[b]!);
      flange.position.copy(places[FLANGE_POINT]!);
    },
  };
}
