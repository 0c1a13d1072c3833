import type { Given, OptionSpec } from '../../src/cli/arguments.ts';
import { loadModel } from '../../src/rig/robot-models.ts';
import { JSON_OPTION, Narrator } from '../narrator.ts';
import { runSteps } from '../stepper.ts';
import { Listener, onCommands, portOption } from '../tcp.ts';
import { WORLD_OPTIONS, WorldPlant } from '../world-plant.ts';
import { commandServer } from './command-server.ts';
import { ControlBox, ERROR, STEP_S } from './control-box.ts';
import { normalReport, ReportServer, realReport } from './report.ts';

export const about = 'an xArm6 control box: commands in servo mode, reports, and a gripper on its tool line';
export const details = `Commands on standard input: estop, release, collision, warning, silence, speak, nan,
freeze, sense (encoders), hold, free (the gripper), cut (all connections). SIGUSR1 presses the e-stop.`;

const port = (what: string): OptionSpec => ({
  type: 'string',
  value: 'PORT',
  about: `${what}; 0 picks a free one`,
});

export const examples = ['farhand sim xarm6', 'farhand sim xarm6 --command 0 --json'];

export const options: Record<string, OptionSpec> = {
  host: { type: 'string', value: 'ADDRESS', about: 'address to listen on (default: 127.0.0.1)' },
  command: port('port of commands (default: 502)'),
  report: port('port of the real-time report, 100 Hz (default: 30003)'),
  normal: port('port of the normal report, 5 Hz (default: 30001)'),
  ...WORLD_OPTIONS,
  json: JSON_OPTION,
};

export async function run(given: Given, stop: AbortSignal): Promise<number> {
  const { values } = given;
  const host = typeof values['host'] === 'string' ? values['host'] : '127.0.0.1';
  const plant = await WorldPlant.chosen(given, loadModel('xarm6'));
  if (plant !== null) plant.onProgress = (what) => console.log(`sim xarm6: ${what}`);
  const box = new ControlBox(plant);
  const narrator = new Narrator(values['json'] === true);
  box.onStop = (why) => narrator.event(why);
  const real = new ReportServer(realReport);
  const normal = new ReportServer(normalReport);
  const listeners = {
    command: new Listener(commandServer(box)),
    report: new Listener(real.server),
    normal: new Listener(normal.server),
  };
  const ports = {
    command: await listeners.command.listen(host, portOption(values['command'], 502)),
    report: await listeners.report.listen(host, portOption(values['report'], 30003)),
    normal: await listeners.normal.listen(host, portOption(values['normal'], 30001)),
  };
  const all = Object.values(listeners);
  const endSteps = runSteps(STEP_S, (made) => {
    box.step();
    narrator.arm(
      box.actualRad,
      plant?.velocitiesRadS ?? box.velocitiesRadS,
      plant?.gripper ?? box.tool.fingers.position,
    );
    // 100 Hz from 250 Hz: alternately after two and three steps.
    if (made % 5 === 0 || made % 5 === 2) real.send(box);
    if (made % 50 === 0) normal.send(box);
  });
  const act = actions(box, real, all);
  onCommands((word) => act[word]?.(), stop);
  process.on('SIGUSR1', act['estop']!);
  console.log(
    `sim xarm6: ready on ${host}: command ${ports.command}, report ${ports.report}, normal ${ports.normal}`,
  );
  await new Promise<void>((resolve) => stop.addEventListener('abort', () => resolve()));
  endSteps();
  for (const listener of all) listener.close();
  return 0;
}

function actions(
  box: ControlBox,
  real: ReportServer,
  listeners: readonly Listener[],
): Record<string, () => void> {
  return {
    estop: () => box.estop(true),
    release: () => box.estop(false),
    collision: () => box.fail(ERROR.collision),
    warning: () => {
      box.warningCode = 11;
    },
    silence: () => {
      real.silent = true;
    },
    speak: () => {
      real.silent = false;
    },
    nan: () => {
      box.encodersRad = box.actualRad.map(() => Number.NaN);
    },
    freeze: () => {
      box.encodersRad = [...box.actualRad];
    },
    sense: () => {
      box.encodersRad = null;
    },
    hold: () => {
      box.tool.fingers.heldAt = 0.5;
    },
    free: () => {
      box.tool.fingers.heldAt = 1;
    },
    cut: () => {
      for (const listener of listeners) listener.cut();
    },
  };
}
