import { z } from 'zod';
import { type SimulatedCycle, Simulation } from '../app/simulation.ts';
import { TeleopError } from '../core/errors.ts';
import { loadRig } from '../rig/rig.ts';
import { loadModel } from '../rig/robot-models.ts';
import { expectWords, type Given, RIG_OPTION, type Verb } from './arguments.ts';
import { linesOf } from './lines.ts';

const BATCH = 200;

const triple = z.array(z.number()).length(3);
const handSchema = z.object({
  tS: z.number().min(0).max(86_400),
  positionM: triple,
  quatXyzw: z.array(z.number()).length(4),
  gripper: z.number().min(0).max(1).default(0),
  clutch: z.boolean().default(true),
  tracking: z.boolean().default(true),
});

export const simulateVerb: Verb = {
  name: 'simulate',
  usage: '[--rig NAME|FILE] [--summary] [key=value …] < hand.jsonl',
  about: 'Runs a rig’s operator and robot loops on recorded or made-up hand samples, faster than real time.',
  details: `In, one line per hand sample, in order of time (operator frame: x right, y up, z toward the operator, metres):
  {"tS":0,"positionM":[x,y,z],"quatXyzw":[x,y,z,w],"gripper":0,"clutch":true,"tracking":true}
Out, one line per control cycle (base frame of the robot):
  {"tS":…,"state":"engaged","limitedBy":[…],"targetRad":[…],"wantedM":[…],"wantedQuatXyzw":[…],"toolM":[…],"toolQuatXyzw":[…]}
wanted: where the hand asks the guided point to be, without the filter; tool: where the joint targets put it.
The robot is simulated and armed at its home pose, so a rig can be tuned without it:
  farhand simulate --rig piper robot.speedPercent=50 --summary < hand.jsonl`,
  options: {
    rig: RIG_OPTION,
    summary: {
      type: 'boolean',
      about: 'print deviation, lag, overshoot, noise and what limited the arm instead of the cycles',
    },
  },
  async run(given: Given) {
    expectWords(simulateVerb, given, 0, 0);
    const { config } = loadRig(String(given.values['rig'] ?? 'demo'), given.overrides);
    const model = loadModel(config.model);
    if (model.family === 'hand')
      throw new TeleopError('bad-option', `${model.name} is a hand; simulate needs an arm`, {
        hint: 'Use `farhand retarget` for hands.',
      });
    const batch: string[] = [];
    const flush = () => {
      if (batch.length > 0) process.stdout.write(`${batch.splice(0).join('\n')}\n`);
    };
    const onCycle = (cycle: SimulatedCycle) => {
      batch.push(JSON.stringify(cycle));
      if (batch.length >= BATCH) flush();
    };
    const simulation = await Simulation.open(config, model, onCycle);
    simulation.finish(await feedAll(simulation));
    flush();
    return 0;
  },
};

/** Feeds standard input; returns the time of the last sample. */
async function feedAll(simulation: Simulation): Promise<number> {
  let lastS = -1;
  let line = 0;
  for await (const text of linesOf('-')) {
    line++;
    const hand = handSchema.safeParse(parsed(text, line));
    if (!hand.success)
      throw badLine(line, `${hand.error.issues[0]!.path.join('.')}: ${hand.error.issues[0]!.message}`);
    if (hand.data.tS <= lastS) throw badLine(line, 'tS must increase from line to line');
    lastS = hand.data.tS;
    simulation.feed(hand.data);
  }
  return lastS;
}

function parsed(text: string, line: number): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw badLine(line, 'it is not JSON');
  }
}

const badLine = (line: number, problem: string): TeleopError =>
  new TeleopError('file-unreadable', `line ${line} is not a hand sample: ${problem}`, {
    hint: '`farhand simulate --help` shows the format.',
  });
