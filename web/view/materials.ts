import { Mesh, MeshBasicMaterial, MeshLambertMaterial } from 'three';
import type { ArmMaterial } from './arm.ts';

/** Vertex-coloured and matt: the cheapest lit material, which software renderers need. */
export function solidMaterial(): ArmMaterial {
  const material = new MeshLambertMaterial({ vertexColors: true });
  return {
    dress(mesh) {
      mesh.material = material;
      return mesh;
    },
  };
}

export interface GhostMaterial extends ArmMaterial {
  setOpacity(opacity: number): void;
}

/**
 * One even tint: a depth-only pass first keeps the ghost's own inner surfaces from adding up, and the offset lets the
 * robot win where both are in the same place.
 */
export function ghostMaterial(colour: number): GhostMaterial {
  const offset = { polygonOffset: true, polygonOffsetFactor: 2, polygonOffsetUnits: 2 };
  const depth = new MeshBasicMaterial({ colorWrite: false, ...offset });
  const tint = new MeshLambertMaterial({
    color: colour,
    emissive: colour,
    transparent: true,
    depthWrite: false,
    ...offset,
  });
  tint.emissiveIntensity = 0.35;
  return {
    dress(mesh) {
      mesh.material = tint;
      mesh.renderOrder = 3;
      const first = new Mesh(mesh.geometry, depth);
      first.renderOrder = 2;
      return mesh.add(first) as Mesh;
    },
    setOpacity(opacity) {
      tint.opacity = opacity;
    },
  };
}
