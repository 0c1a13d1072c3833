import { ManualClock } from '../core/time/clock.ts';
import { LocalNetwork } from '../wire/transports/local.ts';
import { joinLocally } from './local-pair.ts';
import type { ControlStart } from './role-memory.ts';

const ROUNDS = 3;
const TICKS_PER_ROUND = 2000;
const DELAY_NS = 50_000;

/** Optimised code dies with the objects it was specialised on, so they are kept. */
const kept: unknown[] = [];

/**
 * Drives both loops against each other on a simulated clock before the first real command, so that the compiler has
 * done its work when it matters: at 100 Hz it would otherwise take the first half minute of a session.
 * Touches no device: the simulated driver and the scripted hand stand in.
 */
export async function warmUp({ rig: given, model, keys }: ControlStart): Promise<void> {
  const scripted = { fingers: model.family === 'hand' };
  const operator = { ...given.operator, autoArm: true, input: 'scripted', inputs: { scripted } };
  const rig = { ...given, operator };
  const sealed = keys.length > 0 && rig.link.transport !== 'zmq';
  for (let round = 0; round < ROUNDS; round++) {
    const clock = new ManualClock();
    const wait = (deadlineNs: number) => clock.advanceTo(deadlineNs);
    const network = new LocalNetwork(clock, wait, () => DELAY_NS);
    kept.push(await joinLocally({ rig, model, clock, network, sealed }));
    network.run(clock.nowNs() + (TICKS_PER_ROUND * 1e9) / rig.operator.hz);
  }
}
