import { expectWords, type Given, JSON_OPTION, numberOption, type Verb } from '../../src/cli/arguments.ts';
import { percentiles } from '../../src/core/statistics/percentiles.ts';
import { wilson } from '../../src/core/statistics/wilson.ts';
import { PROFILES, type ProfileName } from '../../src/wire/emulator/profiles.ts';
import { loadMujoco } from '../../src/world/mujoco.ts';
import { print } from '../bench.ts';
import { environment, environmentText } from '../environment.ts';
import { runTrial, type Trial } from './trial.ts';

const TASK_NAMES = ['sort', 'stack', 'peg'];
const LINKS: readonly ProfileName[] = ['off', 'wifi', 'wifi-untuned', '5g', 'wan', 'loss2'];
const PLAYOUTS = ['none', 'fixed:60', 'adaptive'];
const FIRST_SEED = 200_000;
const SEEDS = 5;

export const tasksBench: Verb = {
  name: 'tasks',
  usage: '[--tasks sort,stack,peg] [--links NAMES] [--seeds N] [--json]',
  about: 'What playout is worth as success: a modelled person does tasks over emulated links.',
  details: `Each cell is a task, a link and a playout. The person sees the world through the camera's delay, moves in
submovements with the errors of a hand, and waits for what it did (bench/tasks/person.ts has the sources). Both roles, playout,
supervisor and physics are the real ones, on a manual clock, so the load of the machine changes nothing but the time it takes.
Use 50 seeds or more for figures: \`npm run bench -- tasks --seeds 50\` takes about an hour per core.`,
  options: {
    tasks: { type: 'string', value: 'NAMES', about: `default: ${TASK_NAMES.join(',')}` },
    links: { type: 'string', value: 'NAMES', about: `emulated links (default: ${LINKS.join(',')})` },
    playouts: { type: 'string', value: 'NAMES', about: `default: ${PLAYOUTS.join(',')}` },
    seeds: { type: 'string', value: 'N', about: `seeds per cell (default: ${SEEDS})` },
    model: { type: 'string', value: 'NAME', about: 'arm (default: ur3)' },
    json: JSON_OPTION,
  },
  async run(given: Given) {
    expectWords(tasksBench, given, 0, 0);
    const list = (name: string, fallback: readonly string[]) =>
      given.values[name] === undefined ? [...fallback] : String(given.values[name]).split(',');
    const seeds = numberOption(given, 'seeds', 1, 10_000) ?? SEEDS;
    const mujoco = await loadMujoco();
    const cells: Cell[] = [];
    const model = String(given.values['model'] ?? 'ur3');
    for (const task of list('tasks', TASK_NAMES))
      for (const link of list('links', LINKS) as ProfileName[])
        for (const playout of list('playouts', PLAYOUTS)) {
          if (PROFILES[link] === undefined) throw new Error(`there is no link ${link}`);
          const trials: Trial[] = [];
          for (let i = 0; i < seeds; i++)
            trials.push(await runTrial(mujoco, { model, task, seed: FIRST_SEED + i, link, playout }));
          const cell = cellOf(task, link, playout, trials);
          cells.push(cell);
          console.error(cellText(cell));
        }
    const env = environment();
    print(given, { bench: 'tasks', environment: env, model, cells }, text(environmentText(env), cells));
    return 0;
  },
};

interface Cell {
  task: string;
  link: string;
  playout: string;
  seeds: number;
  successes: number;
  wilson95: [number, number];
  /** Of the successes. */
  medianS: number | null;
  dropsPerTrial: number;
  collisionsPerTrial: number;
}

function cellOf(task: string, link: string, playout: string, trials: readonly Trial[]): Cell {
  const done = trials.filter(({ success }) => success);
  const { low, high } = wilson(done.length, trials.length);
  const mean = (value: (trial: Trial) => number) =>
    Number((trials.reduce((sum, trial) => sum + value(trial), 0) / trials.length).toFixed(2));
  return {
    ...{ task, link, playout, seeds: trials.length, successes: done.length },
    wilson95: [Number(low.toFixed(3)), Number(high.toFixed(3))],
    medianS: percentiles(done.map(({ timeS }) => timeS))?.p50 ?? null,
    dropsPerTrial: mean(({ drops }) => drops),
    collisionsPerTrial: mean(({ collisions }) => collisions),
  };
}

const HEAD =
  'task    link          playout     success        95 % interval    median s   drops   collisions';

function cellText(cell: Cell): string {
  const [low, high] = cell.wilson95.map((rate) => `${(100 * rate).toFixed(0)} %`);
  return [
    cell.task.padEnd(8),
    cell.link.padEnd(14),
    cell.playout.padEnd(12),
    `${cell.successes} of ${cell.seeds}`.padEnd(15),
    `${low} to ${high}`.padEnd(17),
    (cell.medianS?.toFixed(1) ?? '–').padStart(8),
    cell.dropsPerTrial.toFixed(2).padStart(8),
    cell.collisionsPerTrial.toFixed(2).padStart(13),
  ].join('');
}

const text = (env: string, cells: readonly Cell[]): string =>
  [env, '', HEAD, ...cells.map(cellText)].join('\n');
