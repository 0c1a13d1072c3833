import type { Given, OptionSpec } from '../../src/cli/arguments.ts';
import { TeleopError } from '../../src/core/errors.ts';
import { loadModel } from '../../src/rig/robot-models.ts';
import { JSON_OPTION, Narrator } from '../narrator.ts';
import { RobotiqGripper } from '../robotiq-2f/gripper.ts';
import { urcapServer } from '../robotiq-2f/urcap-server.ts';
import { runSteps } from '../stepper.ts';
import { Listener, onCommands, portOption } from '../tcp.ts';
import { WORLD_OPTIONS, WorldPlant } from '../world-plant.ts';
import { SAFETY, UrController } from './controller.ts';
import { dashboardServer } from './dashboard-server.ts';
import { RtdeServer } from './rtde-server.ts';
import { scriptServer } from './script-server.ts';

export const about =
  'a UR3 controller, CB3 or e-Series: RTDE, dashboard, and the control program of driver "ur"';
export const details = `Commands on standard input: estop, system-estop, safeguard, release, protective, local, remote (control),
silence, speak, nan, freeze, sense (encoders), cut (all connections), power-off. SIGUSR1 presses the e-stop.`;

const port = (what: string): OptionSpec => ({
  type: 'string',
  value: 'PORT',
  about: `${what}; 0 picks a free one`,
});

export const examples = ['farhand sim ur', 'farhand sim ur --series e'];

export const options: Record<string, OptionSpec> = {
  host: { type: 'string', value: 'ADDRESS', about: 'address to listen on (default: 127.0.0.1)' },
  series: { type: 'string', value: 'cb3|e', about: 'cb3: 125 Hz (default); e: 500 Hz' },
  rtde: port('port of RTDE (default: 30004)'),
  dashboard: port('port of the dashboard (default: 29999)'),
  script: port('port that accepts programs (default: 30002)'),
  gripper: port('a Robotiq 2F with its URCap on this port; without: no gripper'),
  ...WORLD_OPTIONS,
  json: JSON_OPTION,
};

export async function run(given: Given, stop: AbortSignal): Promise<number> {
  const { values } = given;
  const host = typeof values['host'] === 'string' ? values['host'] : '127.0.0.1';
  const series = values['series'] ?? 'cb3';
  if (series !== 'cb3' && series !== 'e')
    throw new TeleopError('bad-option', `unknown series "${series}"`, { hint: 'Choose cb3 or e.' });
  const plant = await WorldPlant.chosen(given, loadModel(series === 'e' ? 'ur3e' : 'ur3'));
  const controller = new UrController(series, plant);
  const rtde = new RtdeServer(controller);
  const narrator = new Narrator(values['json'] === true);
  controller.onStop = (why) => narrator.event(why);
  const log = (text: string) => console.log(`sim ur: ${text}`);
  if (plant !== null) plant.onProgress = log;
  const listeners = {
    rtde: new Listener(rtde.server),
    dashboard: new Listener(dashboardServer(controller)),
    script: new Listener(scriptServer(controller, log)),
  };
  const ports = {
    rtde: await listeners.rtde.listen(host, portOption(values['rtde'], 30004)),
    dashboard: await listeners.dashboard.listen(host, portOption(values['dashboard'], 29999)),
    script: await listeners.script.listen(host, portOption(values['script'], 30002)),
  };
  const all = Object.values(listeners);
  let gripperPort = '';
  if (values['gripper'] !== undefined) {
    controller.gripper = new RobotiqGripper(true);
    const listener = new Listener(urcapServer(controller.gripper, { split: false, silent: false }));
    gripperPort = `, gripper ${await listener.listen(host, portOption(values['gripper'], 63352))}`;
    all.push(listener);
  }
  const endSteps = runSteps(controller.stepS, (made, stalled) => {
    controller.step(stalled);
    rtde.step(made);
    narrator.arm(controller.positionsRad, controller.velocitiesRadS, controller.gripperPosition);
  });
  const act = actions(controller, rtde, all);
  onCommands((word) => act[word]?.(), stop);
  process.on('SIGUSR1', act['estop']!);
  log(
    `ready on ${host}: rtde ${ports.rtde}, dashboard ${ports.dashboard}, script ${ports.script}${gripperPort}`,
  );
  await new Promise<void>((resolve) => stop.addEventListener('abort', () => resolve()));
  endSteps();
  controller.endProgram();
  for (const listener of all) listener.close();
  return 0;
}

function actions(
  controller: UrController,
  rtde: RtdeServer,
  listeners: readonly Listener[],
): Record<string, () => void> {
  return {
    estop: () => controller.safetyStop(SAFETY.robotEstop),
    'system-estop': () => controller.safetyStop(SAFETY.systemEstop),
    safeguard: () => controller.safetyStop(SAFETY.safeguardStop),
    release: () => controller.release(),
    protective: () => controller.protectiveStop(),
    'power-off': () => controller.powerOff(),
    local: () => {
      controller.remoteControl = false;
    },
    remote: () => {
      controller.remoteControl = true;
    },
    silence: () => {
      rtde.silent = true;
    },
    speak: () => {
      rtde.silent = false;
    },
    nan: () => {
      controller.encodersRad = Array.from(controller.positionsRad, () => Number.NaN);
    },
    freeze: () => {
      controller.encodersRad = [...controller.positionsRad];
    },
    sense: () => {
      controller.encodersRad = null;
    },
    cut: () => {
      for (const listener of listeners) listener.cut();
    },
  };
}
