import { type JpegCoder, loadJpegCoder } from '../camera/encoder.ts';
import { WorldView } from '../camera/render/world-view.ts';
import { TeleopError } from '../core/errors.ts';
import { WORLD_STATE } from '../messages/world-state.ts';
import type { Observation } from '../policy/observation.ts';
import type { PolicyChannel } from '../policy/transports.ts';
import { fillWorldState } from '../robot/drivers/world/fill-world-state.ts';
import { OPEN_M } from '../world/gripper-body.ts';
import type { Episode } from '../world/run-episode.ts';
import { STEP_S } from '../world/scene.ts';
import type { WorkWorld } from '../world/work-world.ts';

const SIZE = { widthPx: 320, heightPx: 240 };
const MOUNTS = ['front', 'wrist'] as const;
const QUALITY = 85;
const CYCLE_S = 0.005;
/** The clock stands still while a policy thinks; this only ends one that never answers. */
const ANSWER_MS = 60_000;

/** What a policy sees of a world: pictures from the front and from the wrist. */
export class PolicyEyes {
  readonly #views: readonly { mount: string; view: WorldView }[];
  readonly #coder: JpegCoder;
  readonly #state = WORLD_STATE.create();

  private constructor(world: WorkWorld, coder: JpegCoder) {
    this.#coder = coder;
    this.#views = MOUNTS.map((mount) => ({ mount, view: new WorldView(world.model, { ...SIZE, mount }) }));
  }

  static async open(world: WorkWorld): Promise<PolicyEyes> {
    return new PolicyEyes(world, await loadJpegCoder());
  }

  look(world: WorkWorld, jointsRad: Float64Array): Observation['frames'] {
    fillWorldState(world, 1, this.#state);
    const captureNs = Math.round(world.progress.elapsedS * 1e9);
    const frames = this.#views.map(({ mount, view }) => {
      const picture = view.draw(jointsRad, this.#state, world.task.name);
      const data = Buffer.from(this.#coder.encode(picture, QUALITY)).toString('base64');
      return [mount, { captureNs, ageMs: 0, encoding: 'jpeg' as const, data }] as const;
    });
    return Object.fromEntries(frames);
  }
}

/** Lets a policy do a seed: asked `hz` times per simulated second, its targets joined by straight lines. */
export async function runPolicySeed(
  world: WorkWorld,
  seed: number,
  readyRad: Float64Array,
  policy: PolicyChannel,
  eyes: PolicyEyes,
  hz: number,
): Promise<Episode> {
  world.reset(seed, readyRad);
  const { progress, model } = world;
  const target = Float64Array.from(readyRad);
  const goal = Float64Array.from(readyRad);
  let gripper = 0;
  let outOfReach = 0;
  for (let tick = 1; Number.isNaN(progress.doneS) && !progress.isLate; tick++) {
    const action = await ask(world, tick, policy, eyes);
    if (action === null) outOfReach++;
    else {
      model.joints.forEach(({ minRad, maxRad }, i) => {
        goal[i] = Math.min(maxRad, Math.max(minRad, action[i]!));
      });
      gripper = action[model.joints.length] ?? gripper;
    }
    const cycles = Math.max(1, Math.round(1 / (hz * CYCLE_S)));
    for (let cycle = cycles; cycle > 0; cycle--) {
      for (let i = 0; i < target.length; i++) target[i]! += (goal[i]! - target[i]!) / cycle;
      world.servo.target(target, gripper);
      for (let i = 0; i < CYCLE_S / STEP_S; i++) world.step();
    }
  }
  const success = !Number.isNaN(progress.doneS);
  return {
    seed,
    success,
    score: progress.score,
    timeS: success ? progress.doneS : progress.elapsedS,
    outOfReach,
  };
}

/** Joint targets and perhaps the gripper; null if the policy gave no valid action. */
async function ask(
  world: WorkWorld,
  tick: number,
  policy: PolicyChannel,
  eyes: PolicyEyes,
): Promise<readonly number[] | null> {
  const { physics, model, task } = world;
  const jointsRad = physics.qpos.slice(0, physics.joints);
  const gripper = Math.max(0, Math.min(1, 1 - physics.openingM / OPEN_M));
  const observation: Observation = {
    ...{ tick, task: task.instruction, robot: model.name, joints: model.joints.map(({ name }) => name) },
    state: { positionsRad: [...jointsRad], gripper, ageMs: 0, supervisor: 'engaged' },
    frames: eyes.look(world, jointsRad),
  };
  try {
    const { action } = await policy.ask(observation, AbortSignal.timeout(ANSWER_MS));
    const isWhole = action?.length === physics.joints || action?.length === physics.joints + 1;
    return action && isWhole && action.every(Number.isFinite) ? action : null;
  } catch (cause) {
    throw new TeleopError('policy-failed', `the policy did not answer: ${(cause as Error).message}`, {
      hint: 'Start the policy first, and check its address.',
      cause,
    });
  }
}
