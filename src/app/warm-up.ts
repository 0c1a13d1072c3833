import { ManualClock } from '../core/time/clock.ts';
import { LocalNetwork } from '../wire/transports/local.ts';
import { joinLocally } from './local-pair.ts';
import type { ControlStart } from './role-memory.ts';

const ROUNDS = 3;
const TICKS_PER_ROUND = 2000;
const DELAY_NS = 50_000;

/** V8 discards optimised code with the objects it was specialised on, so keep them. */
const kept: unknown[] = [];

/**
 * Runs both loops against each other on a simulated clock before the first real command, so that they are
 * already compiled: at 100 Hz this would otherwise take the first half minute of a session. Touches no
 * device: it uses the simulated driver and the scripted hand.
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
