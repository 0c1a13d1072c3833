import {
  BoxGeometry,
  BufferAttribute,
  type BufferGeometry,
  CapsuleGeometry,
  Color,
  CylinderGeometry,
  LatheGeometry,
  Quaternion,
  Vector2,
  Vector3,
} from 'three';
import { mergeGeometries } from 'three/examples/jsm/utils/BufferGeometryUtils.js';

export type Axis = 'x' | 'y' | 'z';
export type Point = readonly [number, number, number];

/** Tessellation of round shapes. Triangles dominate the cost of a software renderer. */
export interface Detail {
  around: number;
  bevelSteps: number;
}

/** Creates solids; lengths in metres. */
export class Shapes {
  readonly #around: number;
  readonly #bevelSteps: number;

  constructor({ around, bevelSteps }: Detail) {
    this.#around = around;
    this.#bevelSteps = bevelSteps;
  }

  /** A cylinder along `axis`, centred at `at`, with bevelled edges. */
  drum(radiusM: number, lengthM: number, axis: Axis, at: Point, bevelM = 0): BufferGeometry {
    if (this.#bevelSteps === 0 || bevelM === 0) {
      return place(new CylinderGeometry(radiusM, radiusM, lengthM, this.#around), axis, at);
    }
    const bevel = Math.min(bevelM, lengthM / 2, radiusM / 2);
    const profile = [new Vector2(0, -lengthM / 2)];
    for (const end of [-1, 1]) {
      for (let i = 0; i <= this.#bevelSteps; i++) {
        const angle = ((end < 0 ? i : this.#bevelSteps - i) / this.#bevelSteps) * (Math.PI / 2);
        const x = radiusM - bevel + bevel * Math.sin(angle);
        profile.push(new Vector2(x, end * (lengthM / 2 - bevel + bevel * Math.cos(angle))));
      }
    }
    profile.push(new Vector2(0, lengthM / 2));
    return place(new LatheGeometry(profile, this.#around), axis, at);
  }

  /** An open tube along X from `fromM` to `toM`, with a radius at each end. */
  tubeX(radiiM: readonly [number, number], fromM: number, toM: number, zM: number): BufferGeometry {
    const [from, to] = radiiM;
    const [low, high] = toM > fromM ? [from, to] : [to, from];
    const length = Math.abs(toM - fromM);
    return place(new CylinderGeometry(low, high, length, this.#around, 1, true), 'x', [
      (fromM + toM) / 2,
      0,
      zM,
    ]);
  }

  box(sizeM: Point, at: Point): BufferGeometry {
    return new BoxGeometry(...sizeM).translate(...at);
  }

  /** A capsule between two points; a sphere if they coincide. */
  rod(radiusM: number, fromM: Point, toM: Point): BufferGeometry {
    const [from, to] = [new Vector3(...fromM), new Vector3(...toM)];
    const direction = to.clone().sub(from);
    const rounds = 2 + 2 * this.#bevelSteps;
    const rod = new CapsuleGeometry(radiusM, direction.length(), rounds, this.#around);
    if (direction.lengthSq() > 0)
      rod.applyQuaternion(new Quaternion().setFromUnitVectors(new Vector3(0, 1, 0), direction.normalize()));
    return rod.translate(...from.add(to).multiplyScalar(0.5).toArray());
  }

  /** Along Y. */
  capsule(radiusM: number, lengthM: number): BufferGeometry {
    return new CapsuleGeometry(radiusM, lengthM, 2, Math.max(6, Math.round(this.#around / 3)));
  }
}

function place(geometry: BufferGeometry, axis: Axis, at: Point): BufferGeometry {
  if (axis === 'x') geometry.rotateZ(Math.PI / 2);
  if (axis === 'z') geometry.rotateX(Math.PI / 2);
  return geometry.translate(...at);
}

export interface Part {
  geometry: BufferGeometry;
  colour: number;
}

/** Merges parts into one geometry, so one draw call; keeps their colours per vertex. */
export function mergeParts(parts: Part[]): BufferGeometry {
  for (const { geometry, colour } of parts) {
    const { r, g, b } = new Color(colour);
    const count = geometry.getAttribute('position').count;
    const colours = new Float32Array(count * 3);
    for (let i = 0; i < count; i++) colours.set([r, g, b], i * 3);
    geometry.setAttribute('color', new BufferAttribute(colours, 3));
    geometry.deleteAttribute('uv');
  }
  return mergeGeometries(parts.map((part) => part.geometry));
}
