import { unlinkSync } from 'node:fs';
import { type Given, numberOption, type OptionSpec } from '../../src/cli/arguments.ts';
import { TeleopError } from '../../src/core/errors.ts';
import { loadModel } from '../../src/rig/robot-models.ts';
import { frameText } from '../../src/robot/buses/can-frame.ts';
import type { ArmFacts } from '../../src/robot/buses/damiao/arm-config.ts';
import { PARAMETER_ID } from '../../src/robot/buses/damiao/frames.ts';
import { openPty, type Pty } from '../../src/robot/buses/pty.ts';
import { JSON_OPTION, Narrator } from '../narrator.ts';
import { replaceLink } from '../pty-link.ts';
import { onCommands } from '../tcp.ts';
import { WORLD_OPTIONS, WorldPlant } from '../world-plant.ts';
import type { SimArm, SimArmOptions } from './arm.ts';
import { DamiaoSimulation } from './simulation.ts';

export interface ArmKind {
  name: string;
  facts: ArmFacts;
  /** By `--side`; the first is the default. */
  models: Readonly<Record<string, string>>;
  adapter: 'slcan' | 'damiao';
  sags: SimArmOptions['sags'];
  /** The same arm is also used as a leader. */
  leads?: true;
}

const LEADER_OPTIONS: Record<string, OptionSpec> = {
  held: {
    type: 'boolean',
    about: 'a leader in a person’s hand: with torque, a soft spring to where it is moved',
  },
  sway: {
    type: 'string',
    value: 'DEG',
    about: 'how far a held joint 1 is moved to either side (default: 0)',
  },
};
const SWAY_MS = 4000;

export const damiaoOptions = (
  kind: Pick<ArmKind, 'adapter' | 'models' | 'leads'>,
): Record<string, OptionSpec> => ({
  [kind.adapter === 'slcan' ? 'slcan' : 'serial']: {
    type: 'string',
    value: 'PATH',
    about: 'where to put the link to the pseudo-terminal',
  },
  side: { type: 'string', value: Object.keys(kind.models).join('|'), about: 'which arm to simulate' },
  start: { type: 'string', value: 'DEG,…', about: 'joint angles at the start (default: the model’s home)' },
  ...(kind.leads && LEADER_OPTIONS),
  ...WORLD_OPTIONS,
  json: JSON_OPTION,
  seconds: { type: 'string', value: 'S', about: 'end after S seconds (default: at Ctrl-C)' },
});

export const damiaoDetails = `Commands on standard input: "fail N CODE" makes motor N (from 1) fail with an error
(hex, 8 to E), "mute N" silences it, "speak N" ends that. Without power the heavy joints sag; this is printed.`;

export async function runDamiao(kind: ArmKind, given: Given, stop: AbortSignal): Promise<number> {
  const option = kind.adapter === 'slcan' ? 'slcan' : 'serial';
  const link = given.values[option];
  if (typeof link !== 'string')
    throw new TeleopError('bad-option', `sim ${kind.name} needs --${option} PATH`, {
      hint: `Give a path for the link, for example --${option} /tmp/${kind.name}.`,
    });
  const model = loadModel(modelOf(kind, given));
  const startRad = startOf(given, model.joints.length);
  const seconds = numberOption(given, 'seconds', 0.1, 86_400);
  const plant = await WorldPlant.chosen(given, model);
  if (plant !== null) plant.onProgress = (what) => console.log(`sim ${kind.name}: ${what}`);
  const pty = await openPty();
  const simulation = new DamiaoSimulation(pty, {
    facts: kind.facts,
    model,
    adapter: kind.adapter,
    sags: kind.sags,
    plant,
    ...(startRad && plant === null && { startRad }),
    onEvent: (what) => console.error(`sim ${kind.name}: ${what}`),
  });
  const narrator = new Narrator(given.values['json'] === true);
  simulation.onCommand = (frame) => {
    if (frame.id < PARAMETER_ID && frame.data[0] === 0xff && frame.data[6] === 0xff)
      narrator.event(frameText(frame));
  };
  replaceLink(pty.path, link, `--${option}`);
  console.log(`sim ${kind.name} ready: ${link} → ${pty.path}`);
  onCommands((word) => obey(simulation.arm, word), stop);
  const swayRad = ((numberOption(given, 'sway', 0, 90) ?? 0) * Math.PI) / 180;
  if (given.values['held'] === true || swayRad > 0) simulation.arm.hold();
  await ticking(simulation, narrator, seconds, swayRad, stop);
  end(link, pty);
  return 0;
}

function ticking(
  simulation: DamiaoSimulation,
  narrator: Narrator,
  seconds: number | null,
  swayRad: number,
  stop: AbortSignal,
): Promise<void> {
  const [restRad = 0, ...othersRad] = simulation.arm.positionsRad;
  return new Promise((resolve) => {
    const ticker = setInterval(() => {
      const nowMs = performance.now();
      if (swayRad > 0)
        simulation.arm.lead([restRad + swayRad * Math.sin((2 * Math.PI * nowMs) / SWAY_MS), ...othersRad]);
      simulation.tick(nowMs);
      const { positionsRad, velocitiesRadS, gripper } = simulation.arm;
      narrator.arm(positionsRad, velocitiesRadS, gripper);
    }, 1);
    const finish = () => {
      clearInterval(ticker);
      clearTimeout(timer);
      resolve();
    };
    const timer = seconds === null ? undefined : setTimeout(finish, seconds * 1000);
    stop.addEventListener('abort', finish);
    if (stop.aborted) finish();
  });
}

function end(link: string, pty: Pty): void {
  unlinkSync(link);
  pty.close();
  process.stdin.destroy();
}

function obey(arm: SimArm, words: string): void {
  const [what, which = '', code = ''] = words.split(' ');
  const motor = arm.motors[Number(which) - 1];
  if (motor === undefined) return;
  if (what === 'fail') motor.fail(Number.parseInt(code, 16) & 15);
  else if (what === 'mute') motor.mute = true;
  else if (what === 'speak') motor.mute = false;
}

function modelOf({ models }: ArmKind, given: Given): string {
  const sides = Object.keys(models);
  const side = given.values['side'] ?? sides[0]!;
  const model = typeof side === 'string' ? models[side] : undefined;
  if (model !== undefined) return model;
  throw new TeleopError('bad-option', `--side ${String(side)} is not known`, {
    hint: `Choose ${sides.join(' or ')}.`,
  });
}

function startOf(given: Given, joints: number): number[] | null {
  const text = given.values['start'];
  if (typeof text !== 'string') return null;
  const angles = text.split(',').map((part) => (Number(part) * Math.PI) / 180);
  if (angles.length === joints && angles.every(Number.isFinite)) return angles;
  throw new TeleopError('bad-option', `--start ${text} is not ${joints} angles`, {
    hint: `Give ${joints} angles in degrees, separated by commas.`,
  });
}
