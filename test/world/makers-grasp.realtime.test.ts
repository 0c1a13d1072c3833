import assert from 'node:assert/strict';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { before, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { type OpenDriver, openDriver } from '../../src/app/open-driver.ts';
import { monotonicClock } from '../../src/core/time/clock.ts';
import { loadModel } from '../../src/rig/robot-models.ts';
import { emptyReading } from '../../src/robot/driver.ts';
import { loadMujoco, type Mujoco } from '../../src/world/mujoco.ts';
import { runExpert } from '../../src/world/run-episode.ts';
import { taskNamed } from '../../src/world/task-list.ts';
import { WorkWorld } from '../../src/world/work-world.ts';
import { urOptions } from '../contract/driver-fixtures/ur.ts';
import { xarmOptions } from '../contract/driver-fixtures/xarm6.ts';
import { startSimProcess } from '../contract/sim-process.ts';
import { Lifetime } from '../lifetime.ts';
import { needs, needsPackage } from '../needs.ts';
import { temporaryFolder } from '../temporary-folder.ts';

const missing = needs('Linux') || (await needsPackage('@mujoco/mujoco'));
const TASK = 'cube';
const SEED = 3;
/** The expert's is 5 ms: the makers' servos lag behind its own. */
const CYCLE_MS = 8;

interface Maker {
  model: string;
  driver: string;
  /** The simulator's arguments, and the driver's options from the line that it prints. */
  args(folder: string): string[];
  options(folder: string, ready: string): Record<string, unknown>;
  gripper?: { name: string; options(ready: string): Record<string, unknown> };
}

const tty = (folder: string): string => path.join(folder, 'tty');
const numberAfter = (ready: string, word: string): number =>
  Number(new RegExp(`${word} (\\d+)`).exec(ready)?.[1]);

/** The hand's protocol: sim-plants.test.ts. A push of its fingers does not bear the stalls of a busy machine. */
const MAKERS: readonly Maker[] = [
  {
    ...{ model: 'piper', driver: 'piper' },
    args: (folder) => ['piper', '--slcan', tty(folder)],
    options: (folder) => ({ bus: `slcan:${tty(folder)}`, feedbackTimeoutMs: 1000, speedPercent: 100 }),
  },
  {
    ...{ model: 'ur3', driver: 'ur' },
    args: () => [...['ur', '--rtde', '0', '--dashboard', '0', '--script', '0'], '--gripper', '0'],
    options: (_, ready) => urOptions(ready, 'cb3'),
    gripper: {
      name: 'robotiq-2f',
      options: (ready) => ({ socketPort: numberAfter(ready, 'gripper'), activate: true }),
    },
  },
  {
    ...{ model: 'xarm6', driver: 'xarm6' },
    args: () => ['xarm6', '--command', '0', '--report', '0', '--normal', '0'],
    options: (_, ready) => xarmOptions(ready),
    gripper: { name: 'xarm-gripper', options: (ready) => ({ commandPort: numberAfter(ready, 'command') }) },
  },
  {
    ...{ model: 'openarm', driver: 'openarm' },
    args: (folder) => ['openarm', '--slcan', tty(folder)],
    options: (folder) => ({ bus: `slcan:${tty(folder)}`, fd: true, feedbackTimeoutMs: 1000 }),
  },
  {
    ...{ model: 'dk1', driver: 'dk1' },
    args: (folder) => ['dk1', '--serial', tty(folder)],
    options: (folder) => ({ bus: `damiao:${tty(folder)}`, feedbackTimeoutMs: 1000 }),
  },
];

interface Target {
  jointsRad: Float64Array;
  gripper: number;
}

/** What the expert sends to the servos, every 5 ms. */
function targetsOf(mujoco: Mujoco, { model }: Maker): Target[] {
  const world = new WorkWorld(mujoco, loadModel(model), taskNamed(TASK));
  const targets: Target[] = [];
  const { servo } = world;
  const send = servo.target.bind(servo);
  servo.target = (jointsRad, gripper, steps) => {
    targets.push({ jointsRad: jointsRad.slice(), gripper });
    send(jointsRad, gripper, steps);
  };
  const done = runExpert(world, SEED, world.reach.ready());
  world.physics.dispose();
  assert.ok(done.success, `the expert itself: ${JSON.stringify(done)}`);
  return targets;
}

/** Sends them to the driver in real time, a little slower. */
async function play(
  { driver }: OpenDriver,
  targets: readonly Target[],
  isDone: () => boolean,
): Promise<void> {
  const reading = emptyReading(targets[0]!.jointsRad.length);
  const until = async (reached: () => boolean, ms: number, what: string): Promise<void> => {
    const endNs = monotonicClock.nowNs() + ms * 1e6;
    while (!reached()) {
      assert.ok(monotonicClock.nowNs() < endNs, `${what}; fault: "${driver.fault}"`);
      await sleep(CYCLE_MS);
      driver.read(monotonicClock.nowNs(), reading);
    }
  };
  await until(() => driver.read(monotonicClock.nowNs(), reading) === 'ok', 20_000, 'a reading');
  await until(() => driver.enable(monotonicClock.nowNs()) === 'ok', 60_000, 'power');
  // One target per cycle: a stall of the machine pauses the motion and skips nothing.
  let at = 0;
  const isOver = () => {
    const { jointsRad, gripper } = targets[at]!;
    at = Math.min(targets.length - 1, at + 1);
    driver.write(monotonicClock.nowNs(), jointsRad, gripper);
    return isDone();
  };
  await until(isOver, 4 * targets.length * CYCLE_MS + 20_000, 'success');
}

describe('a maker’s simulator in the world, over its real protocol', {
  skip: missing,
  timeout: 120_000,
  concurrency: 2,
}, () => {
  let mujoco: Mujoco;
  before(async () => {
    mujoco = await loadMujoco();
  });

  for (const maker of MAKERS)
    it(`${maker.driver}: puts the cube into the tray`, async () => {
      const life = new Lifetime();
      try {
        await doTask(maker, targetsOf(mujoco, maker), life);
      } finally {
        await life.end();
      }
    });
});

async function doTask(maker: Maker, targets: readonly Target[], life: Lifetime): Promise<void> {
  const folder = temporaryFolder('maker');
  const sim = await startSimProcess([...maker.args(folder), ...['--world', TASK, '--seed', String(SEED)]]);
  life.own(sim, (each) => each.stop());
  let said = '';
  createInterface({ input: sim.child.stdout! }).on('line', (line) => {
    if (line.includes(': task ')) said = line;
  });
  const options = maker.options(folder, sim.ready);
  const gripper = maker.gripper && {
    ...{ name: maker.gripper.name, armHost: '127.0.0.1' },
    options: maker.gripper.options(sim.ready),
  };
  const opened = await openDriver(maker.driver, options, loadModel(maker.model), monotonicClock, {
    // A busy machine stalls: this is about the grasp, not the watchdogs.
    ...{ controlSilenceMs: 5000, feedbackTimeoutMs: 5000 },
    ...(gripper && { gripper }),
  });
  life.own(opened, (each) => each.close());
  await play(opened, targets, () => said.includes(': done')).catch((error: Error) =>
    assert.fail(`${error.message}; ${said}`),
  );
}
