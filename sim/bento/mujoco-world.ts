import { type Body, POSE_SIZE } from './bento-view.ts';
import { ARM_JOINTS } from './bodies.ts';
import { lagS, sceneXml } from './mjcf.ts';
import type { MakeWorld, World } from './world.ts';

/** The parts of MuJoCo's WebAssembly build that we use. */
interface Mujoco {
  MjModel: { from_xml_string(xml: string): MjModel };
  MjData: new (model: MjModel) => MjData;
  mj_step(model: MjModel, data: MjData): void;
  mj_forward(model: MjModel, data: MjData): void;
}
interface MjModel {
  opt: { timestep: number };
  delete(): void;
}
interface MjData {
  readonly qpos: Float64Array;
  readonly ctrl: Float64Array;
  readonly xpos: Float64Array;
  readonly xquat: Float64Array;
  delete(): void;
}

/** Loads MuJoCo, an optional package; rejects if it is not installed. */
export async function loadMujoco(): Promise<MakeWorld> {
  const { default: load } = (await import('@mujoco/mujoco')) as unknown as {
    default: () => Promise<Mujoco>;
  };
  const mujoco = await load();
  return (bodies) => createMujocoWorld(mujoco, bodies);
}

function createMujocoWorld(mujoco: Mujoco, bodies: readonly Body[]): World {
  const model = mujoco.MjModel.from_xml_string(sceneXml(bodies));
  const data = new mujoco.MjData(model);
  const jointsRad = new Float64Array(ARM_JOINTS.length);
  const poses = new Float32Array(bodies.length * POSE_SIZE);
  // MuJoCo numbers bodies depth first, with the world as 0; the arm's joints come before all free joints.
  const order = depthFirst(bodies);
  const ids = bodies.map((body) => order.indexOf(body) + 1);
  const stepS = model.opt.timestep;
  const leadS = ARM_JOINTS.map(lagS);
  const lastRad = new Float64Array(ARM_JOINTS.length);
  mujoco.mj_forward(model, data);
  return {
    physics: true,
    stepS,
    jointsRad,
    poses,
    step(targetRad) {
      const { ctrl } = data;
      // With the target's speed as feed-forward, a drive does not lag and stops at once.
      for (let i = 0; i < lastRad.length; i++) {
        ctrl[i] = targetRad[i]! + (leadS[i]! / stepS) * (targetRad[i]! - lastRad[i]!);
        lastRad[i] = targetRad[i]!;
      }
      mujoco.mj_step(model, data);
      const { qpos } = data;
      for (let i = 0; i < jointsRad.length; i++) jointsRad[i] = qpos[i]!;
    },
    look() {
      const { xpos, xquat } = data;
      for (let i = 0; i < bodies.length; i++) {
        const id = ids[i]!;
        for (let k = 0; k < 3; k++) poses[i * POSE_SIZE + k] = xpos[3 * id + k]!;
        for (let k = 0; k < 4; k++) poses[i * POSE_SIZE + 3 + k] = xquat[4 * id + k]!;
      }
    },
    dispose() {
      data.delete();
      model.delete();
    },
  };
}

function depthFirst(bodies: readonly Body[]): Body[] {
  const below = (parent: string | undefined): Body[] =>
    bodies.filter((body) => body.parent === parent).flatMap((body) => [body, ...below(body.name)]);
  return below(undefined);
}
