import { WorldView } from '../../src/camera/render/world-view.ts';
import { expectWords, type Given, JSON_OPTION, numberOption, type Verb } from '../../src/cli/arguments.ts';
import { percentiles } from '../../src/core/statistics/percentiles.ts';
import { wilson } from '../../src/core/statistics/wilson.ts';
import { WORLD_STATE } from '../../src/messages/world-state.ts';
import { loadModel } from '../../src/rig/robot-models.ts';
import { fillWorldState } from '../../src/robot/drivers/world/fill-world-state.ts';
import { loadMujoco, type Mujoco } from '../../src/world/mujoco.ts';
import { runExpert } from '../../src/world/run-episode.ts';
import { TASKS, taskFits, taskNamed } from '../../src/world/task-list.ts';
import { WorkWorld } from '../../src/world/work-world.ts';
import { print } from '../bench.ts';
import { environment, environmentText } from '../environment.ts';
import { type Check, checkText } from '../text-table.ts';
import { dropCubes, freeMotionNm, shakenMm, swungMm } from './trials.ts';

const MODELS = ['ur3', 'piper', 'xarm6', 'openarm'];
/** Others do not reach far enough to tilt a cup. */
const TILTING = ['ur3', 'xarm6'];
const FIRST_SEED = 100_000;
/** Required success of the expert. */
const REQUIRED: Readonly<Record<string, number>> = { sort: 0.98, stack: 0.98, peg: 0.95, drawer: 0.95 };
const SEEDS = 10;
const DROPS = 1000;
const REAL_TIME = 5;
const PICTURE_MS = 5;

export const worldBench: Verb = {
  name: 'world',
  usage: '[--seeds N] [--models NAMES] [--tasks NAMES] [--json]',
  about: 'Bounds of the simulated world: the expert’s success, grasp, drops, touch, speed, pictures.',
  details: `With --seeds 200 the expert's success is the figure the requirements name; a smaller number only shows that nothing is
broken. Times are processor time, which does not depend on other load.`,
  options: {
    seeds: { type: 'string', value: 'N', about: `seeds per arm and task (default: ${SEEDS})` },
    models: { type: 'string', value: 'NAMES', about: `arms (default: ${MODELS.join(',')})` },
    tasks: {
      type: 'string',
      value: 'NAMES',
      about: 'tasks (default: all that the robot can do)',
    },
    drops: { type: 'string', value: 'N', about: `things to drop (default: ${DROPS})` },
    json: JSON_OPTION,
  },
  async run(given: Given) {
    expectWords(worldBench, given, 0, 0);
    const mujoco = await loadMujoco();
    const seeds = numberOption(given, 'seeds', 1, 10_000) ?? SEEDS;
    const models = given.values['models'] === undefined ? MODELS : String(given.values['models']).split(',');
    const checks: Check[] = [];
    const add = (check: Check) => {
      checks.push(check);
      console.error(checkText(check));
    };
    for (const check of graspChecks(mujoco)) add(check);
    add(dropCheck(mujoco, numberOption(given, 'drops', 3, 1e6) ?? DROPS));
    add(pictureCheck(mujoco));
    for (const model of models)
      for (const task of tasksOf(given, model))
        for (const check of expertChecks(mujoco, model, task, seeds)) add(check);
    const env = environment();
    print(
      given,
      { bench: 'world', environment: env, checks },
      [environmentText(env), '', ...checks.map(checkText)].join('\n'),
    );
    return checks.every(({ ok }) => ok) ? 0 : 1;
  },
};

function tasksOf(given: Given, model: string): string[] {
  if (given.values['tasks'] !== undefined) return String(given.values['tasks']).split(',');
  const fitting = TASKS.filter((task) => taskFits(task, loadModel(model))).map(({ name }) => name);
  return fitting.filter((name) => name !== 'bento-pour' || TILTING.includes(model));
}

function* graspChecks(mujoco: Mujoco): Generator<Check> {
  for (const massKg of [0.05, 0.08, 0.1]) {
    const mm = shakenMm(mujoco, massKg, 3);
    yield {
      what: `${1000 * massKg} g held through shakes of 1 g`,
      ok: mm < 0.1,
      found: `${mm.toFixed(4)} mm (below 0.1)`,
    };
  }
  const mm = swungMm(mujoco);
  yield { what: '80 g held while the arm swings', ok: mm < 1, found: `${mm.toFixed(3)} mm (below 1)` };
  for (const model of MODELS) {
    const nm = freeMotionNm(mujoco, model, 3);
    yield {
      what: `torque from outside in free motion, ${model}`,
      ok: nm === 0,
      found: `${nm} N·m (exactly 0)`,
    };
  }
}

function dropCheck(mujoco: Mujoco, count: number): Check {
  const { dropped, rested, sunk } = dropCubes(mujoco, Math.ceil(count / 3), 4);
  return {
    what: 'cubes dropped at random',
    ok: rested === dropped && sunk === 0,
    found: `${rested} of ${dropped} at rest, ${sunk} sunk`,
  };
}

function pictureCheck(mujoco: Mujoco): Check {
  const model = loadModel('ur3');
  const world = new WorkWorld(mujoco, model, taskNamed('sort'));
  const readyRad = world.reach.ready();
  world.reset(FIRST_SEED, readyRad);
  const state = WORLD_STATE.create();
  fillWorldState(world, 1, state);
  const times: number[] = [];
  for (const mount of ['front', 'wrist'] as const) {
    const view = new WorldView(model, { widthPx: 320, heightPx: 240, mount });
    for (let i = 0; i < 300; i++) {
      const before = process.cpuUsage();
      view.draw(readyRad, state, 'sort');
      times.push(process.cpuUsage(before).user / 1000);
    }
  }
  world.physics.dispose();
  const p50 = percentiles(times)!.p50;
  return {
    what: 'a picture of 320 × 240',
    ok: p50 <= PICTURE_MS,
    found: `p50 ${p50.toFixed(2)} ms (at most ${PICTURE_MS})`,
  };
}

function expertChecks(mujoco: Mujoco, model: string, task: string, seeds: number): Check[] {
  const world = new WorkWorld(mujoco, loadModel(model), taskNamed(task));
  const readyRad = world.reach.ready();
  const failed: number[] = [];
  let simulatedS = 0;
  const before = process.cpuUsage();
  for (let seed = FIRST_SEED; seed < FIRST_SEED + seeds; seed++) {
    const { success, timeS } = runExpert(world, seed, readyRad);
    if (!success) failed.push(seed);
    simulatedS += timeS;
  }
  const { user, system } = process.cpuUsage(before);
  world.physics.dispose();
  const rate = (seeds - failed.length) / seeds;
  const { low } = wilson(seeds - failed.length, seeds);
  const times = simulatedS / ((user + system) / 1e6);
  const required = REQUIRED[task] ?? 0.95;
  return [
    {
      what: `${model} ${task}`,
      ok: rate >= required,
      found: `${seeds - failed.length} of ${seeds}, at least ${(100 * low).toFixed(1)} % (required ${100 * required} %)${failed.length > 0 ? `; failed: ${failed.slice(0, 8).join(', ')}` : ''}`,
    },
    {
      what: `${model} ${task}, speed`,
      ok: times >= REAL_TIME,
      found: `${times.toFixed(1)} × real time (at least ${REAL_TIME})`,
    },
  ];
}
