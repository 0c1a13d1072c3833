import { parentPort, workerData } from 'node:worker_threads';
import { loadPlugin, pluginConfig } from '../../src/app/registry.ts';
import { monotonicClock } from '../../src/core/time/clock.ts';
import { Arm } from '../../src/testing/driver-bench.ts';
import { model } from './piper-rig.ts';

const plugin = await loadPlugin('driver', 'piper');
const config = pluginConfig('driver', 'piper', plugin, { bus: workerData as string });
const arm = new Arm(await plugin.open(config, model, monotonicClock), model, true);
await arm.settle();
const enabled = await arm.enable();
const positionsRad = await arm.run(200, arm.read());
arm.driver.dispose();
parentPort!.postMessage({ enabled, positionsRad, answers: [...arm.answers] });
