import {
  CylinderGeometry,
  Group,
  InstancedMesh,
  Matrix4,
  MeshBasicMaterial,
  Quaternion,
  SphereGeometry,
  Vector3,
} from 'three';
import { XR_JOINTS, type XrPacket, type XrSide } from '../../src/input/codecs/webxr-codec.ts';

/** First joint of each finger in WebXR order; the thumb has four joints, the others five. */
const FINGERS: readonly (readonly [first: number, joints: number])[] = [
  [1, 4],
  [5, 5],
  [10, 5],
  [15, 5],
  [20, 5],
];
/** Pairs of joints that a bone connects: the wrist to each finger, and along each finger. */
const BONES = FINGERS.flatMap(([first, joints]) => [
  [0, first] as const,
  ...Array.from({ length: joints - 1 }, (_, i) => [first + i, first + i + 1] as const),
]);
const BONE_RADIUS_M = 0.0055;
const JOINT_RADIUS_M = 0.008;
const UP = new Vector3(0, 1, 0);

/** The wearer's hands as joints connected by bones. A controller is one joint. */
export class DrawnHands {
  readonly root = new Group();
  readonly #joints: InstancedMesh;
  readonly #bones: InstancedMesh;
  readonly #matrix = new Matrix4();
  readonly #turn = new Quaternion();
  readonly #size = new Vector3(1, 1, 1);
  readonly #from = new Vector3();
  readonly #to = new Vector3();
  readonly #along = new Vector3();

  constructor(colour: number | string) {
    const material = new MeshBasicMaterial({ color: colour });
    this.#joints = new InstancedMesh(new SphereGeometry(JOINT_RADIUS_M, 8, 6), material, 2 * XR_JOINTS);
    const bone = new CylinderGeometry(BONE_RADIUS_M, BONE_RADIUS_M, 1, 8, 1, true);
    this.#bones = new InstancedMesh(bone, material, 2 * BONES.length);
    this.root.add(this.#joints, this.#bones);
    for (const mesh of [this.#joints, this.#bones]) mesh.frustumCulled = false;
    this.show(null);
  }

  show(packet: XrPacket | null): void {
    this.#joints.count = this.#bones.count = 0;
    for (const side of packet ? [packet.left, packet.right] : []) this.#add(side);
    this.#joints.instanceMatrix.needsUpdate = true;
    this.#bones.instanceMatrix.needsUpdate = true;
  }

  #add(side: XrSide): void {
    const joints = side.kind === 'hand' ? XR_JOINTS : side.kind === 'controller' ? 1 : 0;
    for (let i = 0; i < joints; i++) {
      const { x, y, z } = this.#joint(side, i, this.#from);
      this.#joints.setMatrixAt(this.#joints.count++, this.#matrix.makeTranslation(x, y, z));
    }
    if (side.kind !== 'hand') return;
    for (const [a, b] of BONES) {
      this.#joint(side, a, this.#from);
      this.#joint(side, b, this.#to);
      this.#bones.setMatrixAt(this.#bones.count++, this.#bone());
    }
  }

  #joint({ jointsM }: XrSide, i: number, into: Vector3): Vector3 {
    return into.set(jointsM[3 * i]!, jointsM[3 * i + 1]!, jointsM[3 * i + 2]!);
  }

  #bone(): Matrix4 {
    const length = this.#along.subVectors(this.#to, this.#from).length();
    this.#turn.setFromUnitVectors(UP, this.#along.divideScalar(Math.max(length, 1e-6)));
    this.#size.set(1, length, 1);
    return this.#matrix.compose(this.#from.add(this.#to).multiplyScalar(0.5), this.#turn, this.#size);
  }
}
