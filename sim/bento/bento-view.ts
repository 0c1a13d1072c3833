/** Messages between `farhand sim bento --page` and its page. Metres, radians, kilograms. */
export type Vector = readonly [number, number, number];

/**
 * A shape in its body's frame, rotated by `eulerRad` about x, then y, then z (intrinsic). Sizes: box half
 * edges; cylinder and capsule radius and half length along z; sphere radius. A cup (radius, height, wall) is
 * only drawn; boxes collide in its place.
 */
export interface Shape {
  readonly kind: 'box' | 'cylinder' | 'capsule' | 'sphere' | 'cup';
  readonly sizeM: readonly number[];
  readonly atM: Vector;
  readonly eulerRad?: Vector;
  readonly colour: string;
  /** Drawn, colliding, or (default) both. */
  readonly only?: 'drawn' | 'felt';
  readonly massKg?: number;
  readonly label?: string;
}

/**
 * A body in its parent's frame; without a parent, in the world: origin on the table under the arm's stand, X
 * along the arm, Y left, Z up. With an axis it turns about it as the joint of that name; `free` bodies fall.
 */
export interface Body {
  readonly name: string;
  readonly parent?: string;
  readonly atM: Vector;
  readonly axis?: Vector;
  readonly free?: true;
  readonly turnRad?: number;
  readonly shapes: readonly Shape[];
}

/** Numbers per body in a binary message: position, then quaternion w, x, y, z, in the world. */
export const POSE_SIZE = 7;

/** Sent when a scene begins. Binary messages, float32, hold the poses of these bodies in this order. */
export interface BentoSceneMessage {
  kind: 'scene';
  index: number;
  task: string;
  tasks: readonly string[];
  /** Null with MuJoCo; otherwise why there is no physics. */
  noPhysics: string | null;
  bodies: readonly Body[];
  /** In wire order; the highest speed that brachIOplexus requests, in wire units. */
  joints: readonly { name: string; maxSpeed: number }[];
}

export interface BentoStatusMessage {
  kind: 'status';
  /** Per joint: counts on the wire, commanded speed in wire units. */
  counts: readonly number[];
  speeds: readonly number[];
  limits: readonly number[];
  /** Unity's frame: x, y, z in millimetres, Euler angles in degrees. */
  camera: readonly number[];
  controllerMs: number | null;
  deadManMs: number;
  deadManStops: number;
  refused: Readonly<Record<string, number>>;
}

export type BentoPageRequest =
  | { kind: 'scene'; index: number }
  | { kind: 'control'; states: readonly number[]; speeds: readonly number[] };
