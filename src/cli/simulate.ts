import { z } from 'zod';
import { type SimulatedCycle, Simulation } from '../app/simulation.ts';
import { TeleopError } from '../core/errors.ts';
import type { RobotModel } from '../geometry/robot-model.ts';
import { type MotionSummary, summarise } from '../mapping/motion-summary.ts';
import { loadRig, type Rig } from '../rig/rig.ts';
import { loadModel } from '../rig/robot-models.ts';
import { expectWords, type Given, JSON_OPTION, RIG_OPTION, type Verb } from './arguments.ts';
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
The robot is simulated and armed at its home pose, so a rig can be tuned without it.`,
  examples: ['farhand simulate --rig piper robot.speedPercent=50 --summary < hand.jsonl'],
  options: {
    rig: RIG_OPTION,
    json: JSON_OPTION,
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
    if (given.values['summary'] === true) {
      const cycles: SimulatedCycle[] = [];
      await simulate(config, model, (cycle) => cycles.push(cycle));
      printSummary(summarise(cycles), given.values['json'] === true);
    } else await printCycles(config, model);
    return 0;
  },
};

async function simulate(
  rig: Rig,
  model: RobotModel,
  onCycle: (cycle: SimulatedCycle) => void,
): Promise<void> {
  const simulation = await Simulation.open(rig, model, onCycle);
  simulation.finish(await feedAll(simulation));
}

async function printCycles(rig: Rig, model: RobotModel): Promise<void> {
  const batch: string[] = [];
  const flush = () => {
    if (batch.length > 0) process.stdout.write(`${batch.splice(0).join('\n')}\n`);
  };
  await simulate(rig, model, (cycle) => {
    batch.push(JSON.stringify(cycle));
    if (batch.length >= BATCH) flush();
  });
  flush();
}

function printSummary(summary: MotionSummary, asJson: boolean): void {
  if (asJson) {
    console.log(JSON.stringify(summary));
    return;
  }
  const { engagedS, deviationMm, lagMs, overshootMm, noiseGain, limited, holds } = summary;
  const mm = (value: number) => `${value.toFixed(2)} mm`;
  const limits = Object.entries(limited).map(([by, share]) => `${by} ${Math.round(100 * share)} %`);
  const rows = [
    ['engaged', `${engagedS.toFixed(1)} s, ${holds} ${holds === 1 ? 'hold' : 'holds'}`],
    ['off the path', `p50 ${mm(deviationMm.p50)}, p95 ${mm(deviationMm.p95)}, max ${mm(deviationMm.max)}`],
    ['lag', lagMs === null ? 'too short to tell' : `${Math.round(lagMs)} ms`],
    ['overshoot', mm(overshootMm)],
    ['noise gain', noiseGain === null ? 'the hand was never still' : noiseGain.toFixed(2)],
    ['limited by', limits.length === 0 ? 'nothing' : limits.join(', ')],
  ];
  for (const [name, value] of rows) console.log(`${name!.padEnd(14)}${value}`);
}

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
