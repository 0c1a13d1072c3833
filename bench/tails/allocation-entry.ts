import { joinLocally } from '../../src/app/local-pair.ts';
import { ManualClock } from '../../src/core/time/clock.ts';
import { loadRig } from '../../src/rig/rig.ts';
import { loadModel } from '../../src/rig/robot-models.ts';
import { LocalNetwork } from '../../src/wire/transports/local.ts';

const WARM_UP_NS = 60e9;
const TICKS = 500;
const ROUNDS = 5;
const DELAY_NS = 50_000;

/** Bytes that both loops allocate per command, in the quietest of a few rounds without a collection. */
async function bytesPerTick(sealed: boolean): Promise<number> {
  const rig = loadRig('demo', []).config;
  const clock = new ManualClock();
  const network = new LocalNetwork(
    clock,
    (deadlineNs) => clock.advanceTo(deadlineNs),
    () => DELAY_NS,
  );
  await joinLocally({ rig, model: loadModel(rig.model), clock, network, sealed });
  network.run(clock.nowNs() + WARM_UP_NS);
  const rounds = Array.from({ length: ROUNDS }, () => {
    globalThis.gc!();
    const before = process.memoryUsage().heapUsed;
    network.run(clock.nowNs() + (TICKS / rig.operator.hz) * 1e9);
    return (process.memoryUsage().heapUsed - before) / TICKS;
  });
  return Math.min(...rounds);
}

Error.stackTraceLimit = 0;
console.log(JSON.stringify({ plain: await bytesPerTick(false), sealed: await bytesPerTick(true) }));
