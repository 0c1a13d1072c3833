import type { RobotModel } from '../geometry/robot-model.ts';
import type { ConsoleArm, ConsoleHello, ConsoleMesh } from '../messages/console.ts';
import { type ArmRig, basePlacement } from '../rig/arms.ts';
import type { Rig } from '../rig/rig.ts';

/** The first message to every page. Of two arms, the right one is the robot of pages that know only one. */
export function helloOf(
  rig: Rig,
  arms: readonly (ArmRig & { model: RobotModel })[],
  cameras: string[],
  meshes: ConsoleMesh[] = [],
): ConsoleHello {
  const main = arms.at(-1)!;
  const { groundZM, obstacles, slowdownM, stopM } = main.rig.robot;
  const scene = { groundZM, obstacles, slowdownM, stopM };
  return {
    kind: 'hello',
    model: main.model,
    token: null,
    rig: rig.name,
    scene,
    cameras,
    stereo: [...rig.cameras.stereo],
    ...(meshes.length > 0 && { meshes }),
    ...(rig.arms && { arms: arms.map(({ side, model }) => consoleArm(rig, side!, model)) }),
  };
}

const consoleArm = ({ arms }: Rig, side: ConsoleArm['side'], model: RobotModel): ConsoleArm => ({
  side,
  model,
  base: basePlacement(arms![side]),
});
