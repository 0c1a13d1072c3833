import { Group, Matrix4, Mesh, Object3D } from 'three';
import type { RobotModel } from '../../src/geometry/robot-model.ts';
import { handBase, handLinks } from '../../src/world/hand-bodies.ts';
import type { ArmBody, ArmMaterial } from './arm-body.ts';
import type { Palette } from './palette.ts';
import { mergeParts, type Shapes } from './shapes.ts';
import { geometryOf } from './things.ts';

function placed(t: Float64Array): Object3D {
  const node = new Object3D();
  const m = new Matrix4().fromArray([...t, 0, 0, 0, 1]).transpose();
  m.decompose(node.position, node.quaternion, node.scale);
  return node;
}

/** A robot hand as it is in a simulated world: palm up, in its real size. */
export function createWorldHand(
  model: RobotModel,
  _palette: Palette,
  shapes: Shapes,
  material: ArmMaterial,
): ArmBody {
  const root = new Group();
  const base = placed(handBase());
  const turning: Object3D[] = [];
  const links = handLinks(model);
  links.forEach(({ parent, place, shapes: own }) => {
    const node = placed(place);
    const inside = new Object3D();
    const parts = own.map((shape) => ({
      geometry: geometryOf(shape, shapes),
      colour: Number.parseInt(shape.colour.slice(1), 16),
    }));
    (turning[parent] ?? base).add(node.add(inside.add(material.dress(new Mesh(mergeParts(parts))))));
    turning.push(inside);
  });
  const flange = new Object3D();
  turning[0]!.add(flange);
  root.add(base);
  return {
    root,
    flange,
    lead: flange,
    scale: 1,
    setJoints(angles) {
      links.forEach(({ sign }, i) => {
        turning[i]!.rotation.z = sign * (angles[i] ?? 0);
      });
    },
  };
}
