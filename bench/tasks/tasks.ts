import { expectWords, type Given, JSON_OPTION, numberOption, type Verb } from '../../src/cli/arguments.ts';
import { loadMujoco } from '../../src/world/mujoco.ts';
import { print } from '../bench.ts';
import { environment, environmentText } from '../environment.ts';
import { beaten, type Cell, type CellSettings, cellOf, cellText, HEAD } from './cell.ts';
import { linkNamed, SAME_MEAN_NAMES } from './links.ts';
import { type Paired, pairedText, pairedTimes } from './paired.ts';
import { runTrial, type Trial } from './trial.ts';
import { TrialsFile } from './trials-file.ts';

const TASK_NAMES = ['peg', 'stack', 'sort'];
const LINKS: readonly string[] = ['off', 'wifi', 'wifi-untuned', '5g', 'wan', 'loss2'];
const PLAYOUTS = ['none', 'fixed:60', 'adaptive'];
const FIRST_SEED = 200_000;
const SEEDS = 5;
/** Seeds per cell for a figure. */
const ENOUGH = 50;
/** A run that is cut short has about as many seeds in every cell. */
const BLOCK = 10;

export const tasksBench: Verb = {
  name: 'tasks',
  usage: '[--tasks sort,stack,peg] [--links NAMES] [--seeds N] [--trials FILE] [--minutes N] [--json]',
  about: 'What playout is worth as success: a modelled person does tasks over emulated links.',
  details: `Each cell is a task, a link and a playout. The person sees the world through the camera's delay, moves in
submovements with the errors of a hand, and waits for what it did (bench/tasks/person.ts has the sources). Both roles, playout,
supervisor and physics are the real ones, on a manual clock, so the load of the machine changes nothing but the time it takes.
Use 50 seeds or more for figures: about two hours of one core. In pieces: \`--trials trials.jsonl --minutes 5\` keeps every trial in
that file, ends in time, and goes on from there when it is called again. The links ${SAME_MEAN_NAMES.join(', ')} have the same mean
delay and show whether the person suffers from its variation.`,
  options: {
    tasks: { type: 'string', value: 'NAMES', about: `default: ${TASK_NAMES.join(',')}` },
    links: { type: 'string', value: 'NAMES', about: `emulated links (default: ${LINKS.join(',')})` },
    playouts: { type: 'string', value: 'NAMES', about: `default: ${PLAYOUTS.join(',')}` },
    seeds: { type: 'string', value: 'N', about: `seeds per cell (default: ${SEEDS})` },
    model: { type: 'string', value: 'NAME', about: 'arm (default: ur3)' },
    trials: { type: 'string', value: 'FILE', about: 'keeps the trials here and skips those it holds' },
    minutes: { type: 'string', value: 'N', about: 'begins no trial after this long' },
    json: JSON_OPTION,
  },
  async run(given: Given) {
    expectWords(tasksBench, given, 0, 0);
    const seeds = numberOption(given, 'seeds', 1, 10_000) ?? SEEDS;
    const minutes = numberOption(given, 'minutes', 0, 100_000) ?? Number.POSITIVE_INFINITY;
    const path = given.values['trials'];
    const file = new TrialsFile(path === undefined ? null : String(path));
    const settings = cellsOf(given);
    await runMissing(settings, seeds, file, minutes);
    const cells = settings.flatMap((cell) => {
      const trials = trialsOf(cell, seeds, file);
      return trials.length === 0 ? [] : [cellOf(cell, trials)];
    });
    const pairs = pairedTimes(settings, 'adaptive', seeds, (cell, i) =>
      file.find({ ...cell, seed: FIRST_SEED + i }),
    );
    const env = environment();
    print(
      given,
      { bench: 'tasks', environment: env, cells, pairs },
      text(environmentText(env), cells, pairs),
    );
    return 0;
  },
};

function cellsOf(given: Given): CellSettings[] {
  const list = (name: string, fallback: readonly string[]) =>
    given.values[name] === undefined ? [...fallback] : String(given.values[name]).split(',');
  const model = String(given.values['model'] ?? 'ur3');
  const cells: CellSettings[] = [];
  for (const task of list('tasks', TASK_NAMES))
    for (const link of list('links', LINKS))
      for (const playout of list('playouts', PLAYOUTS)) {
        linkNamed(link);
        cells.push({ model, task, link, playout });
      }
  return cells;
}

/** A task after the other; within it a block of seeds for every cell, then the next block. */
async function runMissing(cells: readonly CellSettings[], seeds: number, file: TrialsFile, minutes: number) {
  const mujoco = await loadMujoco();
  const endMs = performance.now() + minutes * 60_000;
  for (const task of new Set(cells.map((cell) => cell.task)))
    for (let from = 0; from < seeds; from += BLOCK)
      for (const cell of cells.filter((each) => each.task === task)) {
        for (let i = from; i < Math.min(seeds, from + BLOCK); i++) {
          const settings = { ...cell, seed: FIRST_SEED + i };
          if (file.find(settings) !== undefined) continue;
          if (performance.now() > endMs) return;
          file.add(settings, await runTrial(mujoco, settings));
        }
        console.error(cellText(cellOf(cell, trialsOf(cell, from + BLOCK, file))));
      }
}

function trialsOf(cell: CellSettings, seeds: number, file: TrialsFile): Trial[] {
  return Array.from({ length: seeds }, (_, i) => file.find({ ...cell, seed: FIRST_SEED + i })).filter(
    (trial) => trial !== undefined,
  );
}

function text(env: string, cells: readonly Cell[], pairs: readonly Paired[]): string {
  const worse = beaten(cells, 'adaptive').map(
    ({ cell, by }) => `adaptive is worse than ${by.playout}: ${cell.task} over ${cell.link}`,
  );
  const verdict = worse.length > 0 ? worse : ['adaptive is best or tied in every cell (95 % intervals)'];
  const few = cells.some(({ seeds }) => seeds < ENOUGH)
    ? [`Some cells have fewer than ${ENOUGH} seeds: too few to tell playouts apart.`]
    : [];
  const times = [
    'Time at the same seeds, where both succeeded (median of the differences):',
    ...pairs.map(pairedText),
  ];
  return [env, '', HEAD, ...cells.map(cellText), '', ...times, '', ...verdict, ...few].join('\n');
}
