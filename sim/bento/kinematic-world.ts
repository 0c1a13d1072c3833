import { type Body, POSE_SIZE, type Vector } from './bento-view.ts';
import { ARM_JOINTS } from './bodies.ts';
import type { World } from './world.ts';

const STEP_S = 0.002;

/** The arm without physics: joints follow their targets exactly, objects do not move. */
export function createKinematicWorld(bodies: readonly Body[]): World {
  const jointsRad = new Float64Array(ARM_JOINTS.length);
  const poses = new Float32Array(bodies.length * POSE_SIZE);
  const joints: readonly string[] = ARM_JOINTS;
  const placed = new Map<string, Pose>();
  return {
    physics: false,
    stepS: STEP_S,
    jointsRad,
    poses,
    step: (targetRad) => jointsRad.set(targetRad),
    look() {
      bodies.forEach((body, i) => {
        const joint = joints.indexOf(body.name);
        const own: Pose = {
          at: body.atM,
          turn: body.axis ? turnAbout(body.axis, jointsRad[joint]!) : turnAbout([0, 0, 1], body.turnRad ?? 0),
        };
        const parent = body.parent === undefined ? undefined : placed.get(body.parent);
        const pose = parent === undefined ? own : joined(parent, own);
        placed.set(body.name, pose);
        poses.set([...pose.at, ...pose.turn], i * POSE_SIZE);
      });
    },
    dispose() {},
  };
}

/** Quaternions are w, x, y, z. */
type Quat = readonly [number, number, number, number];
interface Pose {
  at: Vector;
  turn: Quat;
}

function turnAbout(axis: Vector, rad: number): Quat {
  const sin = Math.sin(rad / 2);
  return [Math.cos(rad / 2), axis[0] * sin, axis[1] * sin, axis[2] * sin];
}

function joined(parent: Pose, own: Pose): Pose {
  const [x, y, z] = rotated(parent.turn, own.at);
  return {
    at: [parent.at[0] + x, parent.at[1] + y, parent.at[2] + z],
    turn: product(parent.turn, own.turn),
  };
}

const product = ([a, b, c, d]: Quat, [e, f, g, h]: Quat): Quat => [
  a * e - b * f - c * g - d * h,
  a * f + b * e + c * h - d * g,
  a * g - b * h + c * e + d * f,
  a * h + b * g - c * f + d * e,
];

function rotated(turn: Quat, [x, y, z]: Vector): Vector {
  const [w, a, b, c] = turn;
  const [, rx, ry, rz] = product(product(turn, [0, x, y, z]), [w, -a, -b, -c]);
  return [rx, ry, rz];
}
