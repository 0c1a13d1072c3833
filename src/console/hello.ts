import type { RobotModel } from '../geometry/robot-model.ts';
import type { ConsoleHello } from '../messages/console.ts';
import type { Rig } from '../rig/rig.ts';

/** The first message to every page. */
export function helloOf(rig: Rig, model: RobotModel, cameras: string[]): ConsoleHello {
  const { groundZM, obstacles, slowdownM, stopM } = rig.robot;
  const scene = { groundZM, obstacles, slowdownM, stopM };
  return {
    kind: 'hello',
    model,
    token: null,
    rig: rig.name,
    scene,
    cameras,
    stereo: [...rig.cameras.stereo],
  };
}
