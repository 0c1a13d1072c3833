import {
  type BufferGeometry,
  CylinderGeometry,
  Group,
  Matrix4,
  Mesh,
  MeshBasicMaterial,
  type Object3D,
  Quaternion,
  SphereGeometry,
  Vector3,
} from 'three';
import type { WorldTelemetry } from '../../src/messages/telemetry.ts';
import { POSE_SIZE, type Shape, type WorldBody } from '../../src/world/shape.ts';
import { TASKS } from '../../src/world/task-list.ts';
import { litMaterial, type TintMaterial } from './materials.ts';
import type { Palette } from './palette.ts';
import { PoseTrack } from './pose-track.ts';
import { mergeParts, type Shapes } from './shapes.ts';

/** Direction of the light that casts the shadows, towards it; robot axes. */
const LIGHT = [-0.35, 0.3, 1] as const;
/** Above the table, so that a shadow is not hidden by it. */
const SHADOW_M = 0.0006;
/** Size of the mark where something touches the arm. */
const MARK_M = 0.006;
const AT_ORIGIN = [0, 0, 0] as const;
const FULL_MARK_N = 20;

interface Drawn {
  mesh: Mesh;
  shadow: Mesh;
  material: TintMaterial;
}

/** The things of a simulated world, with shadows, the place of contact, and a highlight on what is held. Robot axes. */
export class Things {
  readonly root = new Group();
  readonly #palette: Palette;
  readonly #shapes: Shapes;
  readonly #inside = new Group();
  readonly #mark: Mesh;
  readonly #flatten = new Matrix4();
  readonly #matrix = new Matrix4();
  readonly #casts: { from: Mesh; shadow: Mesh }[] = [];
  readonly #toTable = new Matrix4();
  readonly #shade: MeshBasicMaterial;
  #task = '';
  #drawn: (Drawn | null)[] = [];
  #track = new PoseTrack(0);
  #held = -1;
  #round = -1;

  constructor(palette: Palette, shapes: Shapes) {
    this.#palette = palette;
    this.#shapes = shapes;
    const [x, y, z] = LIGHT;
    // Projects along the light onto the table.
    this.#flatten.set(1, 0, -x / z, 0, 0, 1, -y / z, 0, 0, 0, 0, SHADOW_M, 0, 0, 0, 1);
    this.#shade = new MeshBasicMaterial({ color: palette.shadow, transparent: true, opacity: 0.6 });
    this.#mark = new Mesh(
      new SphereGeometry(MARK_M, 12, 8),
      new MeshBasicMaterial({ color: palette.touching, depthTest: false, transparent: true, opacity: 0.85 }),
    );
    this.#mark.renderOrder = 5;
    this.#mark.visible = false;
    this.root.add(this.#inside, this.#mark);
  }

  /** Lets a part of the robot cast a shadow, so that people see what it is above. Its meshes must be final. */
  cast(part: Object3D): void {
    part.traverse((node) => {
      if (!(node instanceof Mesh) || node.parent instanceof Mesh) return;
      const shadow = this.#shadowOf(node.geometry);
      this.root.add(shadow);
      this.#casts.push({ from: node, shadow });
    });
  }

  /** After the robot's matrices were updated. */
  castShadows(): void {
    this.root.updateWorldMatrix(true, false);
    this.#toTable.copy(this.root.matrixWorld).invert();
    for (const { from, shadow } of this.#casts) {
      this.#matrix.multiplyMatrices(this.#toTable, from.matrixWorld);
      shadow.matrix.multiplyMatrices(this.#flatten, this.#matrix);
      shadow.matrixWorldNeedsUpdate = true;
    }
  }

  #shadowOf(geometry: BufferGeometry): Mesh {
    const shadow = new Mesh(geometry, this.#shade);
    shadow.matrixAutoUpdate = false;
    shadow.frustumCulled = false;
    return shadow;
  }

  /** `baseM`: where the scene has the arm that reports this world. */
  aim(world: WorldTelemetry, nowMs: number, baseM: readonly number[] = AT_ORIGIN): void {
    if (world.task !== this.#task) this.#build(world.task);
    const [x, y, z] = world.baseM.map((m, k) => baseM[k]! - m) as [number, number, number];
    this.root.position.set(x, y, z);
    if (world.round !== this.#round) this.#track = new PoseTrack(world.poses.length);
    this.#round = world.round;
    this.#track.aim(world.poses, nowMs);
    this.#hold(world.held);
    this.#mark.visible = world.contact !== null && world.held < 0;
    if (world.contact === null) return;
    this.#mark.position.set(...(world.contact.atM as [number, number, number]));
    this.#mark.scale.setScalar(0.6 + Math.min(2, world.contact.forceN / FULL_MARK_N));
  }

  /** True while something moves. */
  advance(nowMs: number): boolean {
    const moving = this.#track.advance(nowMs);
    const pose = this.#track.shown;
    this.#drawn.forEach((drawn, i) => {
      if (drawn === null) return;
      const { mesh, shadow } = drawn;
      const at = i * POSE_SIZE;
      mesh.position.set(pose[at]!, pose[at + 1]!, pose[at + 2]!);
      mesh.quaternion.set(pose[at + 4]!, pose[at + 5]!, pose[at + 6]!, pose[at + 3]!).normalize();
      mesh.updateMatrix();
      shadow.matrix.copy(this.#matrix.multiplyMatrices(this.#flatten, mesh.matrix));
    });
    return moving;
  }

  #hold(index: number): void {
    if (index === this.#held) return;
    this.#held = index;
    this.#drawn.forEach((drawn, i) => {
      if (drawn !== null) drawn.material.uniforms['shading']!.value = i === index ? 0.45 : 1;
    });
  }

  #build(task: string): void {
    this.#task = task;
    this.#held = -1;
    this.#inside.clear();
    const bodies = TASKS.find(({ name }) => name === task)?.bodies() ?? [];
    // What has no shape is drawn as a part of its arm.
    this.#drawn = bodies.map((body) => (body.shapes.length === 0 ? null : this.#draw(body)));
    this.#track = new PoseTrack(bodies.length * POSE_SIZE);
  }

  #draw(body: WorldBody): Drawn {
    const parts = body.shapes.map((shape) => ({
      geometry: geometryOf(shape, this.#shapes),
      colour: Number.parseInt(shape.colour.slice(1), 16),
    }));
    const geometry = mergeParts(parts);
    const material = litMaterial(this.#palette, 0xffffff, true);
    const mesh = new Mesh(geometry, material);
    const shadow = this.#shadowOf(geometry);
    this.#inside.add(mesh, shadow);
    return { mesh, shadow, material };
  }
}

export function geometryOf({ kind, sizeM, atM, quatWxyz }: Shape, shapes: Shapes): BufferGeometry {
  const [a = 0, b = 0, c = 0] = sizeM;
  const made = {
    box: () => shapes.box([2 * a, 2 * b, 2 * c], [0, 0, 0]),
    sphere: () => new SphereGeometry(a, 20, 14),
    cylinder: () => new CylinderGeometry(a, a, 2 * b, 24).rotateX(Math.PI / 2),
    capsule: () => shapes.rod(a, [0, 0, -b], [0, 0, b]),
  }[kind]();
  if (quatWxyz !== undefined) {
    const [w, x, y, z] = quatWxyz;
    made.applyQuaternion(new Quaternion(x, y, z, w));
  }
  const at = new Vector3(...atM);
  return made.translate(at.x, at.y, at.z);
}
