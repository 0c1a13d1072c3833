import { setTimeout as sleep } from 'node:timers/promises';
import {
  expectWords,
  type Given,
  JSON_OPTION,
  numberOption,
  type OptionSpec,
  type Verb,
} from '../../src/cli/arguments.ts';
import { TeleopError } from '../../src/core/errors.ts';
import { percentiles } from '../../src/core/statistics/percentiles.ts';
import { percentilesMs } from '../../src/trace/milliseconds.ts';
import { print } from '../bench.ts';
import { environment, environmentText, loadText, meterLoad } from '../environment.ts';
import { interruption } from '../interrupt.ts';
import { type Check, checkText, percentileTable } from '../text-table.ts';
import { type ArmName, ArmRig } from './arm-rig.ts';
import { RctpHand } from './rctp-hand.ts';
import { estopTrials } from './trials.ts';

/** The event by which the arm sees a stop, and the operator's rate. */
const ARMS: Record<ArmName, { stop: RegExp; cycleMs: number }> = {
  piper: { stop: /^150#01/, cycleMs: 1000 / 30 },
  ur3: { stop: /^stopj$/, cycleMs: 1000 / 30 },
  xarm6: { stop: /^state 4$/, cycleMs: 1000 / 30 },
};
const TRIALS = 200;
const PRIORITY: OptionSpec = {
  type: 'string',
  value: 'N',
  about: 'SCHED_FIFO priority of both control threads (default: 0, normal scheduling)',
};

export const estopBench: Verb = {
  name: 'estop',
  usage: '[piper|ur3|xarm6] [--trials N] [--json]',
  about:
    'Time from a packet with the e-stop flag to the stop at the arm: RCTP, operator, robot, driver, simulator.',
  details: `Four processes over real sockets and a pseudo-terminal: this one sends RCTP at 50 Hz, then one packet with the
flag at a random time; the simulated arm stamps the stop when it reads it (piper: 150#01… on the bus, polled every
millisecond; ur3: stopj, in its period of 8 ms; xarm6: state 4). Each trial resets and arms again.
Requirement: the 99th percentile is within one cycle of 30 Hz, 33 ms.`,
  options: {
    trials: { type: 'string', value: 'N', about: `number of trials (default: ${TRIALS})` },
    priority: PRIORITY,
    json: JSON_OPTION,
  },
  async run(given: Given) {
    expectWords(estopBench, given, 0, 1);
    const name = armNamed(given.words[0] ?? 'piper');
    const trials = numberOption(given, 'trials', 1, 10_000) ?? TRIALS;
    const priority = numberOption(given, 'priority', 0, 80) ?? 0;
    const env = environment();
    const meter = meterLoad();
    const tookNs = await measure(name, trials, priority);
    const load = meter();
    const tookMs = percentilesMs(percentiles(tookNs));
    const { cycleMs } = ARMS[name];
    const check: Check = {
      what: `99 of 100 stops within a cycle of 30 Hz (${cycleMs.toFixed(1)} ms)`,
      ok: (tookMs?.p99 ?? Number.POSITIVE_INFINITY) <= cycleMs,
      found: `p99 ${tookMs?.p99.toFixed(3)} ms`,
    };
    const row = { label: `${name}: e-stop packet → stop at the arm`, percentiles: tookMs, count: trials };
    const text = `${environmentText(env)}\nLoad      ${loadText(load)}\n\n${percentileTable('ms', [row])}\n\n${checkText(check)}`;
    print(given, { environment: env, load, arm: name, trials, priority, tookMs, checks: [check] }, text);
    return check.ok ? 0 : 1;
  },
};

function armNamed(word: string): ArmName {
  if (Object.hasOwn(ARMS, word)) return word as ArmName;
  throw new TeleopError('bad-option', `there is no arm "${word}"`, {
    hint: `Choose one of ${Object.keys(ARMS).join(', ')}.`,
  });
}

async function measure(name: ArmName, trials: number, priority: number): Promise<Float64Array> {
  const arm = await ArmRig.start(name, ['operator.inputs.rctp.resumeAfterMs=0'], priority);
  const end = () => void arm.close();
  interruption.addEventListener('abort', end);
  const hand = new RctpHand(arm.rctpPort);
  try {
    await sleep(500);
    return await estopTrials(arm, hand, ARMS[name].stop, trials, (done) => {
      if (done % 20 === 0) console.error(`  ${done} of ${trials}`);
    });
  } finally {
    interruption.removeEventListener('abort', end);
    hand.close();
    await arm.close();
  }
}
