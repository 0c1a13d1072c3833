import {
  BufferAttribute,
  BufferGeometry,
  Color,
  DoubleSide,
  DynamicDrawUsage,
  Mesh,
  MeshBasicMaterial,
  Vector3,
} from 'three';

const LENGTH = 96;
const LIFE_MS = 2600;
const STEP_M = 0.003;
/** A larger jump is a gap in telemetry: no line across it. */
const JUMP_M = 0.12;
const WIDTH_M = 0.0055;

interface Crumb {
  at: Vector3;
  bornMs: number;
}

/** The path of the tool tip: a ribbon that faces the camera and fades with age. */
export class Trail {
  readonly mesh: Mesh;
  readonly #crumbs: Crumb[] = [];
  readonly #positions = new BufferAttribute(new Float32Array(LENGTH * 6), 3).setUsage(DynamicDrawUsage);
  readonly #colours = new BufferAttribute(new Float32Array(LENGTH * 8), 4).setUsage(DynamicDrawUsage);
  readonly #geometry = new BufferGeometry();
  readonly #colour: Color;
  readonly #along = new Vector3();
  readonly #side = new Vector3();

  constructor(colour: number) {
    this.#colour = new Color(colour);
    const index: number[] = [];
    for (let i = 0; i + 1 < LENGTH; i++) {
      const a = i * 2;
      index.push(a, a + 1, a + 2, a + 1, a + 3, a + 2);
    }
    this.#geometry.setIndex(index);
    this.#geometry.setAttribute('position', this.#positions);
    this.#geometry.setAttribute('color', this.#colours);
    const material = new MeshBasicMaterial({
      vertexColors: true,
      transparent: true,
      depthWrite: false,
      side: DoubleSide,
    });
    this.mesh = new Mesh(this.#geometry, material);
    this.mesh.frustumCulled = false;
    this.mesh.renderOrder = 4;
  }

  /** True while part of the ribbon is still fading. */
  update(tip: Vector3, camera: Vector3, nowMs: number): boolean {
    const last = this.#crumbs.at(-1);
    if (last && last.at.distanceTo(tip) > JUMP_M) this.#crumbs.length = 0;
    if (last === undefined || last.at.distanceTo(tip) > STEP_M)
      this.#crumbs.push({ at: tip.clone(), bornMs: nowMs });
    while (this.#crumbs.length > LENGTH - 1) this.#crumbs.shift();
    while (this.#crumbs.length > 1 && nowMs - this.#crumbs[0]!.bornMs > LIFE_MS) this.#crumbs.shift();
    const points = [...this.#crumbs, { at: tip, bornMs: nowMs }];
    for (const [i, crumb] of points.entries()) this.#lay(points, i, crumb, camera, nowMs);
    this.#geometry.setDrawRange(0, Math.max(0, points.length - 1) * 6);
    this.#positions.needsUpdate = true;
    this.#colours.needsUpdate = true;
    return this.#crumbs.length > 1;
  }

  #lay(points: Crumb[], i: number, crumb: Crumb, camera: Vector3, nowMs: number): void {
    const before = points[Math.max(0, i - 1)]!.at;
    const after = points[Math.min(points.length - 1, i + 1)]!.at;
    const life = Math.max(0, 1 - (nowMs - crumb.bornMs) / LIFE_MS);
    this.#along.subVectors(after, before);
    this.#side.subVectors(camera, crumb.at).cross(this.#along).normalize();
    this.#side.multiplyScalar((WIDTH_M * (0.3 + 0.7 * life)) / 2);
    const { x, y, z } = crumb.at;
    this.#positions.setXYZ(i * 2, x + this.#side.x, y + this.#side.y, z + this.#side.z);
    this.#positions.setXYZ(i * 2 + 1, x - this.#side.x, y - this.#side.y, z - this.#side.z);
    const { r, g, b } = this.#colour;
    this.#colours.setXYZW(i * 2, r, g, b, life * 0.85);
    this.#colours.setXYZW(i * 2 + 1, r, g, b, life * 0.85);
  }
}
