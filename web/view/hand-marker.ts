import {
  BufferAttribute,
  BufferGeometry,
  Group,
  Line,
  LineBasicMaterial,
  Mesh,
  MeshBasicMaterial,
  Quaternion,
  Vector3,
} from 'three';
import { HandSkeleton } from './hand-skeleton.ts';
import { litMaterial, type TintMaterial } from './materials.ts';
import type { Palette } from './palette.ts';
import { mergeParts, type Part, type Shapes } from './shapes.ts';

/** Input frame (Y up, −Z forward) to scene axes, where robot forward is +X. */
export const SCENE_FROM_INPUT = new Quaternion().setFromAxisAngle(new Vector3(0, 1, 0), -Math.PI / 2);
/** Offset from the tool, so that neither hides the other. */
const LIFT = new Vector3(0.2, 0.05, 0.03);
const SETTLE = 0.18;
/** A hand that is not engaged is drawn at most this far away: inputs have different origins. */
const MOST_AWAY_M = 0.5;

/**
 * The operator's hand. Its position is relative: the clutch anchors the hand to the robot's wrist at the start of an
 * engagement.
 */
export class HandMarker {
  readonly root = new Group();
  readonly #glyph = new Group();
  /** The tracked points of the hand; without them a generic hand is drawn. */
  readonly #skeleton: HandSkeleton;
  readonly #model: Mesh;
  readonly #tether: Line;
  readonly #tetherEnds = new BufferAttribute(new Float32Array(6), 3);
  readonly #skin: TintMaterial;
  readonly #at = new Vector3();
  readonly #shift = new Vector3();
  readonly #wantedShift = new Vector3();
  #engaged = false;
  #placed = false;

  constructor(palette: Palette, shapes: Shapes, scale: number) {
    this.#skin = litMaterial(palette, palette.hand, true);
    this.#skin.transparent = true;
    this.#skeleton = new HandSkeleton(palette);
    this.#skeleton.lines.quaternion.copy(SCENE_FROM_INPUT);
    this.#model = new Mesh(handGeometry(shapes), this.#skin);
    this.#glyph.add(this.#model, createTriad(shapes));
    this.#glyph.scale.setScalar(scale);
    const line = new BufferGeometry().setAttribute('position', this.#tetherEnds);
    this.#tether = new Line(
      line,
      new LineBasicMaterial({ color: palette.hand, transparent: true, opacity: 0.5 }),
    );
    this.#tether.frustumCulled = false;
    this.root.add(this.#glyph, this.#tether, this.#skeleton.lines);
    this.root.visible = false;
  }

  /** Position of the drawn hand; null while hidden. */
  get place(): Vector3 | null {
    return this.root.visible ? this.#glyph.position : null;
  }

  /** Points in the input frame; null when not tracked. */
  setPoints(pointsM: readonly number[] | null): void {
    this.#skeleton.show(pointsM);
    this.#model.visible = pointsM === null;
  }

  /** Pose in the input frame; `wrist` in scene axes. True while the marker still moves. */
  update(
    positionM: ArrayLike<number>,
    quatXyzw: ArrayLike<number>,
    engaged: boolean,
    wrist: Vector3,
  ): boolean {
    this.#at.set(positionM[0] ?? 0, positionM[1] ?? 0, positionM[2] ?? 0).applyQuaternion(SCENE_FROM_INPUT);
    const strayed = !engaged && this.#at.clone().add(this.#wantedShift).distanceTo(wrist) > MOST_AWAY_M;
    if (!this.#placed || (engaged && !this.#engaged) || strayed)
      this.#wantedShift.subVectors(wrist, this.#at);
    if (!this.#placed) this.#shift.copy(this.#wantedShift);
    this.#placed = true;
    this.#engaged = engaged;
    const settling = this.#shift.distanceTo(this.#wantedShift) > 1e-4;
    this.#shift.lerp(this.#wantedShift, settling ? SETTLE : 1);
    this.#glyph.position.copy(this.#at).add(this.#shift).add(LIFT);
    this.#skeleton.lines.position.copy(this.#shift).add(LIFT);
    this.#glyph.quaternion.set(quatXyzw[0] ?? 0, quatXyzw[1] ?? 0, quatXyzw[2] ?? 0, quatXyzw[3] ?? 1);
    this.#glyph.quaternion.normalize().premultiply(SCENE_FROM_INPUT);
    this.#tetherEnds.setXYZ(0, ...this.#glyph.position.toArray());
    this.#tetherEnds.setXYZ(1, ...wrist.toArray());
    this.#tetherEnds.needsUpdate = true;
    this.#tether.visible = engaged;
    this.#skin.uniforms.opacity.value = engaged ? 1 : 0.45;
    this.root.visible = true;
    return settling;
  }

  hide(): void {
    this.root.visible = false;
    this.#placed = false;
  }
}

/** Fingers along −Z, back of the hand up. */
function handGeometry(shapes: Shapes): BufferGeometry {
  const parts: Part[] = [];
  const add = (radius: number, length: number, at: [number, number, number], yawRad: number) => {
    const geometry = shapes
      .capsule(radius, length)
      .rotateX(Math.PI / 2)
      .rotateY(yawRad)
      .translate(...at);
    parts.push({ geometry, colour: 0xffffff });
  };
  const lengths = [0.026, 0.034, 0.037, 0.032];
  lengths.forEach((length, i) => {
    const x = (1.5 - i) * 0.0155;
    add(0.0068, length, [x * 1.08, 0, -0.034 - length / 2], -x * 4);
    add(0.0095, 0.036, [x, 0, -0.012], 0);
  });
  add(0.0078, 0.026, [-0.036, -0.004, -0.012], 0.75);
  add(0.015, 0.012, [0, 0, 0.022], 0);
  return mergeParts(parts);
}

/** X red, Y green, Z blue. */
function createTriad(shapes: Shapes): Mesh {
  const length = 0.065;
  const thick = 0.0034;
  const half = length / 2;
  const axes: Part[] = [
    { geometry: shapes.box([length, thick, thick], [half, 0, 0]), colour: 0xf2555a },
    { geometry: shapes.box([thick, length, thick], [0, half, 0]), colour: 0x4cc267 },
    { geometry: shapes.box([thick, thick, length], [0, 0, half]), colour: 0x4c8dff },
  ];
  return new Mesh(mergeParts(axes), new MeshBasicMaterial({ vertexColors: true }));
}
