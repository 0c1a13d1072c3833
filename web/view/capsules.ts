import { BoxGeometry, Group, Mesh, Object3D } from 'three';
import { createChain, TRANSFORM_SIZE } from '../../src/geometry/chain.ts';
import type { RobotModel } from '../../src/geometry/robot-model.ts';
import type { ConsoleScene } from '../../src/messages/console.ts';
import type { Telemetry } from '../../src/messages/telemetry.ts';
import { type ClearanceTone, clearanceTone } from '../operate/clearance.ts';
import { placeFrame } from './chain-body.ts';
import { litMaterial, type TintMaterial } from './materials.ts';
import type { Palette } from './palette.ts';
import type { Shapes } from './shapes.ts';

const OPACITY: Record<ClearanceTone, number> = { clear: 0.28, near: 0.6, touching: 0.75 };

/** The robot's collision capsules and obstacle boxes; highlights the nearest pair. Robot axes: Z up. */
export class CollisionShapes {
  readonly root = new Group();
  readonly #chain;
  readonly #poses: Float64Array;
  readonly #frames: Object3D[];
  readonly #meshes = new Map<string, Mesh>();
  readonly #paints: Record<ClearanceTone, TintMaterial>;
  readonly #scene: ConsoleScene | null;
  #marked = '';

  constructor(model: RobotModel, palette: Palette, shapes: Shapes, scene: ConsoleScene | null) {
    this.#scene = scene;
    this.#chain = createChain(model);
    this.#poses = new Float64Array(TRANSFORM_SIZE * (this.#chain.joints + 1));
    this.#paints = {
      clear: paint(palette, palette.clear, 'clear'),
      near: paint(palette, palette.near, 'near'),
      touching: paint(palette, palette.touching, 'touching'),
    };
    this.#frames = Array.from({ length: this.#chain.joints + 1 }, () => new Object3D());
    for (const frame of this.#frames) frame.matrixAutoUpdate = false;
    this.root.add(...this.#frames);
    this.root.rotation.x = -Math.PI / 2;
    for (const { name, frame, fromM, toM, radiusM } of model.capsules)
      this.#add(name, this.#frames[frame] ?? this.root, new Mesh(shapes.rod(radiusM, fromM, toM)));
    for (const { name, minM, maxM } of scene?.obstacles ?? [])
      this.#add(name, this.root, boxBetween(minM, maxM));
    this.root.visible = false;
  }

  setJoints(anglesRad: ArrayLike<number>): void {
    this.#chain.frames(anglesRad, this.#poses);
    for (const [i, frame] of this.#frames.entries()) placeFrame(frame, this.#poses, i);
  }

  /** Colours the nearest pair as reported by the supervisor: `forearm ↔ base`. */
  mark(robot: NonNullable<Telemetry['robot']>): void {
    const pair = robot.nearest;
    const tone = clearanceTone(robot, this.#scene);
    const key = tone === 'clear' ? '' : `${tone} ${pair}`;
    if (key === this.#marked) return;
    this.#marked = key;
    const names = tone === 'clear' ? [] : pair.split(' ↔ ');
    for (const [name, mesh] of this.#meshes)
      mesh.material = this.#paints[names.includes(name) ? tone : 'clear'];
  }

  #add(name: string, parent: Object3D, mesh: Mesh): void {
    mesh.material = this.#paints.clear;
    mesh.renderOrder = 5;
    parent.add(mesh);
    this.#meshes.set(name, mesh);
  }
}

function paint(palette: Palette, tint: number, tone: ClearanceTone): TintMaterial {
  const material = litMaterial(palette, tint, false);
  material.transparent = true;
  material.depthWrite = false;
  material.uniforms.opacity.value = OPACITY[tone];
  return material;
}

function boxBetween(minM: readonly number[], maxM: readonly number[]): Mesh {
  const size = maxM.map((high, i) => high - minM[i]!) as [number, number, number];
  const middle = maxM.map((high, i) => (high + minM[i]!) / 2) as [number, number, number];
  return new Mesh(new BoxGeometry(...size).translate(...middle));
}
