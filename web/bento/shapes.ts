import {
  BoxGeometry,
  type BufferGeometry,
  CanvasTexture,
  CapsuleGeometry,
  CylinderGeometry,
  Group,
  LatheGeometry,
  Mesh,
  MeshLambertMaterial,
  MeshStandardMaterial,
  SphereGeometry,
  SRGBColorSpace,
  Vector2,
} from 'three';
import type { Body, Shape } from '../../sim/bento/bento-view.ts';

const AROUND = 40;

/** The visible shapes of a body, in its frame. */
export function drawBody(body: Body, fine: boolean): Group {
  const group = new Group();
  for (const shape of body.shapes) if (shape.only !== 'felt') group.add(meshOf(shape, fine));
  return group;
}

function meshOf(shape: Shape, fine: boolean): Mesh {
  const roughness = shape.kind === 'cup' ? 0.45 : 0.65;
  // MeshStandardMaterial takes a software renderer several times as long.
  const material = fine
    ? new MeshStandardMaterial({ color: shape.colour, roughness, metalness: 0.05 })
    : new MeshLambertMaterial({ color: shape.colour });
  if (shape.label !== undefined) {
    material.map = letter(shape.label, shape.colour);
    material.color.set('#ffffff');
  }
  const mesh = new Mesh(geometryOf(shape), material);
  mesh.castShadow = mesh.receiveShadow = true;
  mesh.position.set(...shape.atM);
  // Intrinsic rotations: three.js order XYZ.
  mesh.rotation.set(...(shape.eulerRad ?? [0, 0, 0]), 'XYZ');
  return mesh;
}

function geometryOf({ kind, sizeM }: Shape): BufferGeometry {
  const [a = 0, b = 0, c = 0] = sizeM;
  switch (kind) {
    case 'box':
      return new BoxGeometry(2 * a, 2 * b, 2 * c);
    case 'sphere':
      return new SphereGeometry(a, AROUND, AROUND / 2);
    case 'cylinder':
      return new CylinderGeometry(a, a, 2 * b, AROUND).rotateX(Math.PI / 2);
    case 'capsule':
      return new CapsuleGeometry(a, 2 * b, 10, AROUND).rotateX(Math.PI / 2);
    case 'cup':
      return cupGeometry(a, b, c);
  }
}

/** Opening upwards, origin at half height; with rim, wall and foot ring. */
function cupGeometry(radiusM: number, heightM: number, wallM: number): BufferGeometry {
  const low = -heightM / 2;
  const high = heightM / 2;
  const inner = radiusM - wallM;
  const points: [number, number][] = [
    [0, low + wallM],
    [inner, low + wallM],
    [inner, high - 0.001],
    [inner + wallM / 2, high],
    [radiusM + 0.0012, high - 0.0015],
    [radiusM + 0.0012, high - 0.007],
    [radiusM, high - 0.008],
    [radiusM, low + 0.003],
    [radiusM - 0.003, low],
    [0.019, low],
    [0.019, low - 0.003],
    [0.018, low - 0.004],
    [0.014, low - 0.004],
    [0.013, low - 0.003],
    [0.013, low],
    [0, low],
  ];
  // Outside first, so that the faces point outwards.
  const profile = points.reverse().map(([x, y]) => new Vector2(x, y));
  return new LatheGeometry(profile, AROUND).rotateX(Math.PI / 2);
}

function letter(text: string, colour: string): CanvasTexture {
  const canvas = document.createElement('canvas');
  canvas.width = canvas.height = 128;
  const context = canvas.getContext('2d')!;
  context.fillStyle = colour;
  context.fillRect(0, 0, 128, 128);
  context.strokeStyle = context.fillStyle = '#ffffff';
  context.lineWidth = 5;
  context.strokeRect(9, 9, 110, 110);
  context.font = '700 84px system-ui, sans-serif';
  context.textAlign = 'center';
  context.textBaseline = 'middle';
  context.fillText(text, 64, 69);
  const texture = new CanvasTexture(canvas);
  texture.colorSpace = SRGBColorSpace;
  return texture;
}
