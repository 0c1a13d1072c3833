import { createChain, placementMatrix, product, TRANSFORM_SIZE } from '../../geometry/chain.ts';
import { matrixFromQuat } from '../../geometry/frames.ts';
import type { RobotModel } from '../../geometry/robot-model.ts';
import { WORLD_POSE_SIZE, type WorldState } from '../../messages/world-state.ts';
import { capsulesOf } from '../../world/arm-bodies.ts';
import { armFacts } from '../../world/arm-facts.ts';
import { GRIPPER } from '../../world/gripper-body.ts';
import { handBase, handLinks } from '../../world/hand-bodies.ts';
import { COLOURS, type Shape, type Vector } from '../../world/shape.ts';
import { TASKS } from '../../world/task-list.ts';
import type { Colour } from '../drawing.ts';
import type { RgbPicture } from '../source.ts';
import { ShadowMap } from './shadow-map.ts';
import { boxMesh, capsuleMesh, cylinderMesh, type Solid, type SolidMesh, solid } from './solid.ts';
import { SolidCanvas } from './solid-canvas.ts';
import { aim, emptyView, type View } from './view.ts';

export interface WorldViewOptions {
  widthPx: number;
  heightPx: number;
  /** `front`: beside the table, facing the robot. `wrist`: at the flange, looking at the fingers. */
  mount: 'front' | 'wrist';
  /** The right arm of two in the world; its model. */
  second?: RobotModel | undefined;
  /** `wrist` is at the right arm of two. */
  isAtSecond?: boolean;
  /** Shared by cameras that draw the same instants. */
  shadows?: ShadowMap;
}

/** Horizontal fields of view. */
const FOV_RAD = { front: 1.03, wrist: 1.43 } as const;
const FRONT = { eyeM: [0.95, -0.35, 0.55], targetM: [0.28, 0.03, 0.06] } as const;
/** In the hand's frame. */
const WRIST = { eyeM: [0.085, 0, 0.055], targetM: [0.012, 0, 0.15] } as const;
/** Two arms stand further apart. */
const FRONT_OF_TWO = { eyeM: [1.25, 0, 0.8], targetM: [0.2, 0, 0.1] } as const;
const MIDDLE_M = [0.28, 0, 0.1] as const;

/** An arm's joints, and its place and gripper as its robot reports them. */
export interface DrawnArm {
  jointsRad: ArrayLike<number>;
  world: WorldState;
}

/** A part of the scene with its place in a frame that moves: a link, the hand, a finger or a body. */
interface Part {
  solid: Solid;
  /** 3×4 row-major, in that frame. */
  place: Float64Array;
}

const rgb = (hex: string): Colour => {
  const value = Number.parseInt(hex.slice(1), 16);
  return [value >> 16, (value >> 8) & 255, value & 255];
};

/** A simulated world as a camera sees it: the arm, its gripper, the table and what is on it. */
export class WorldView {
  readonly #canvas: SolidCanvas;
  readonly #view: View;
  readonly #mount: WorldViewOptions['mount'];
  readonly #robots: readonly Robot[];
  readonly #wristOf: number;
  #task = '';
  #bodies: Part[][] = [];
  #solids: Solid[] = [];

  constructor(
    model: RobotModel,
    { widthPx, heightPx, mount, shadows, second, isAtSecond = false }: WorldViewOptions,
  ) {
    this.#canvas = new SolidCanvas(widthPx, heightPx, shadows ?? worldShadows());
    this.#view = emptyView(widthPx, heightPx, FOV_RAD[mount]);
    this.#mount = mount;
    this.#robots = [model, ...(second === undefined ? [] : [second])].map((each) =>
      each.family === 'hand' ? handRobot(each) : armRobot(each),
    );
    this.#wristOf = second !== undefined && isAtSecond ? 1 : 0;
    const { eyeM, targetM } = second === undefined ? FRONT : FRONT_OF_TWO;
    if (mount === 'front') aimAt(this.#view, eyeM, targetM, [0, 0, 1]);
  }

  /**
   * Returns the same picture object each time. `hasShadows`: another camera with the same shadow map has just drawn this
   * instant. `second`: the right arm of two, as it reports itself.
   */
  draw(
    jointsRad: ArrayLike<number>,
    world: WorldState,
    task: string,
    hasShadows = false,
    second: DrawnArm | null = null,
  ): RgbPicture {
    if (task !== this.#task) this.#build(task);
    const arms = [{ jointsRad, world }, ...(second === null ? [] : [second])];
    const hands = this.#robots.map((robot, i) => {
      const arm = arms[i] ?? arms[0]!;
      return robot.put(arm.jointsRad, arm.world);
    });
    this.#putBodies(world);
    if (this.#mount === 'wrist') this.#aimFrom(hands[this.#wristOf]!);
    return this.#canvas.draw(this.#view, this.#solids, hasShadows);
  }

  /** Distances of the picture drawn last. */
  depth(outMm: Uint16Array): void {
    this.#canvas.depth(outMm);
  }

  #build(task: string): void {
    this.#task = task;
    const bodies = TASKS.find(({ name }) => name === task)?.bodies() ?? [];
    this.#bodies = bodies.map(({ shapes }) => shapes.map(shapePart));
    const parts = [...this.#robots.flatMap((robot) => robot.parts), ...this.#bodies.flat()];
    this.#solids = parts.map((part) => part.solid);
  }

  #putBodies({ poses, bodies }: WorldState): void {
    const pose = new Float64Array(TRANSFORM_SIZE);
    const rotation = new Float64Array(9);
    for (let i = 0; i < Math.min(bodies, this.#bodies.length); i++) {
      const at = i * WORLD_POSE_SIZE;
      const [w, x, y, z] = poses.subarray(at + 3, at + 7) as unknown as [number, number, number, number];
      matrixFromQuat(Float64Array.of(x, y, z, w), rotation);
      for (let row = 0; row < 3; row++) {
        for (let column = 0; column < 3; column++) pose[4 * row + column] = rotation[3 * row + column]!;
        pose[4 * row + 3] = poses[at + row]!;
      }
      for (const part of this.#bodies[i]!) putPart(part, pose);
    }
  }

  #aimFrom(hand: Float64Array): void {
    const up = [hand[0]!, hand[4]!, hand[8]!];
    aimAt(this.#view, pointIn(hand, WRIST.eyeM), pointIn(hand, WRIST.targetM), up);
  }
}

/** What is drawn of a robot. */
interface Robot {
  readonly parts: readonly Part[];
  /** Puts all parts where they are, and returns the frame of the gripper or the palm. */
  put(jointsRad: ArrayLike<number>, world: WorldState): Float64Array;
}

function armRobot(model: RobotModel): Robot {
  const chain = createChain(model);
  const frames = new Float64Array(TRANSFORM_SIZE * (chain.joints + 1));
  const mounted = placementMatrix({ xyzM: [0, 0, 0], rpyRad: [...armFacts(model).mountRpyRad] });
  const [links, palm, fingers] = [linkParts(model), handParts(), fingerParts()];
  const frameOf = (frame: number, baseM: Float64Array): Float64Array => {
    const own = frames.slice(frame * TRANSFORM_SIZE, (frame + 1) * TRANSFORM_SIZE);
    for (let k = 0; k < 3; k++) own[4 * k + 3]! += baseM[k]!;
    return own;
  };
  return {
    parts: [...links.flat(), ...palm, ...fingers.map(({ part }) => part)],
    put(jointsRad, { baseM, openingM }) {
      chain.frames(jointsRad, frames);
      links.forEach((parts, frame) => {
        for (const part of parts) putPart(part, frameOf(frame, baseM));
      });
      const hand = product(frameOf(chain.joints, baseM), mounted);
      for (const part of palm) putPart(part, hand);
      // Each side is moved along y of the hand.
      for (const { part, side } of fingers) putPart(part, shifted(hand, 0, (side * openingM) / 2, 0));
      return hand;
    },
  };
}

function handRobot(model: RobotModel): Robot {
  const links = handLinks(model).map((link) => ({ ...link, parts: link.shapes.map(shapePart) }));
  return {
    parts: links.flatMap(({ parts }) => parts),
    put(jointsRad, { baseM }) {
      const base = handBase();
      for (let k = 0; k < 3; k++) base[4 * k + 3]! += baseM[k]!;
      const frames: Float64Array[] = [];
      links.forEach(({ parent, place, sign, parts }, i) => {
        const turned = placementMatrix({ xyzM: [0, 0, 0], rpyRad: [0, 0, sign * jointsRad[i]!] });
        const frame = product(frames[parent] ?? base, place, turned);
        for (const part of parts) putPart(part, frame);
        frames.push(frame);
      });
      return frames[0]!;
    },
  };
}

/** Of the table and what is around it. */
export const worldShadows = (sizePx?: number): ShadowMap => new ShadowMap(MIDDLE_M, sizePx);

function aimAt(view: View, eyeM: readonly number[], targetM: readonly number[], up: readonly number[]): void {
  aim(
    view,
    eyeM,
    targetM.map((value, k) => value - eyeM[k]!),
    up,
  );
}

function putPart({ solid: { matrix, positionM }, place }: Part, frame: Float64Array): void {
  const t = product(frame, place);
  for (let row = 0; row < 3; row++) {
    for (let column = 0; column < 3; column++) matrix[3 * row + column] = t[4 * row + column]!;
    positionM[row] = t[4 * row + 3]!;
  }
}

const pointIn = (t: Float64Array, [x, y, z]: Vector): number[] =>
  [0, 4, 8].map((row) => t[row]! * x + t[row + 1]! * y + t[row + 2]! * z + t[row + 3]!);

function shifted(t: Float64Array, x: number, y: number, z: number): Float64Array {
  const out = t.slice();
  const at = pointIn(t, [x, y, z]);
  for (let k = 0; k < 3; k++) out[4 * k + 3] = at[k]!;
  return out;
}

const at = (x: number, y: number, z: number): Float64Array =>
  placementMatrix({ xyzM: [x, y, z], rpyRad: [0, 0, 0] });

function linkParts(model: RobotModel): Part[][] {
  const frames: Part[][] = Array.from({ length: model.joints.length + 1 }, () => []);
  for (const { frame, fromM, toM, radiusM } of capsulesOf(model)) {
    const middle = fromM.map((value, k) => (value + toM[k]!) / 2);
    const along = toM.map((value, k) => value - fromM[k]!);
    const lengthM = Math.hypot(...along);
    const colour = rgb(frame % 2 === 0 ? COLOURS.arm : '#4084d6');
    const place = alongZ(along, lengthM, middle);
    frames[frame]!.push({ solid: solid(capsuleMesh(radiusM, lengthM / 2), colour), place });
  }
  return frames;
}

/** A frame whose z points along a direction. */
function alongZ(along: readonly number[], lengthM: number, middle: readonly number[]): Float64Array {
  const [x, y, z] = lengthM < 1e-9 ? [0, 0, 1] : along.map((value) => value / lengthM);
  const pitch = Math.atan2(Math.hypot(x!, y!), z!);
  const yaw = Math.atan2(y!, x!);
  return placementMatrix({ xyzM: [middle[0]!, middle[1]!, middle[2]!], rpyRad: [0, pitch, yaw] });
}

const handParts = (): Part[] => [
  { solid: solid(boxMesh([0.02, 0.05, 0.03]), rgb(COLOURS.dark)), place: at(0, 0, 0.045) },
  { solid: solid(cylinderMesh(0.03, 0.012), rgb(COLOURS.arm)), place: at(0, 0, 0.008) },
];

const fingerParts = (): { part: Part; side: number }[] =>
  [1, -1].flatMap((side) => [
    {
      side,
      part: {
        solid: solid(boxMesh([0.009, 0.004, 0.0275]), rgb(COLOURS.dark)),
        place: at(0, side * 0.0085, GRIPPER.padM - 0.0125),
      },
    },
    {
      side,
      part: {
        solid: solid(boxMesh([0.01, 0.003, 0.015]), [250, 176, 48]),
        place: at(0, side * 0.003, GRIPPER.padM),
      },
    },
  ]);

function shapePart({ kind, sizeM, atM, quatWxyz, colour }: Shape): Part {
  const place = at(...atM);
  if (quatWxyz !== undefined) {
    const [w, x, y, z] = quatWxyz;
    const rotation = new Float64Array(9);
    matrixFromQuat(Float64Array.of(x, y, z, w), rotation);
    for (let row = 0; row < 3; row++)
      for (let column = 0; column < 3; column++) place[4 * row + column] = rotation[3 * row + column]!;
  }
  return { solid: solid(meshOf(kind, sizeM), rgb(colour)), place };
}

function meshOf(kind: Shape['kind'], [a = 0, b = 0, c = 0]: readonly number[]): SolidMesh {
  if (kind === 'box') return boxMesh([a, b, c]);
  return kind === 'cylinder' ? cylinderMesh(a, b) : capsuleMesh(a, kind === 'sphere' ? 0 : b);
}
