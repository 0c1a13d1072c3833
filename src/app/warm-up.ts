import { ManualClock } from '../core/time/clock.ts';
import { ClockSync } from '../wire/clock-sync.ts';
import { LocalNetwork } from '../wire/transports/local.ts';
import { joinLocally } from './local-pair.ts';
import type { ControlStart } from './role-memory.ts';

const ROUNDS = 3;
const TICKS_PER_ROUND = 2000;
/** Fewer rounds and ticks, for tests that start many processes and assert nothing about latency: a number of ticks. */
const ONLY_TICKS = 'FARHAND_WARM_UP_TICKS';
const DELAY_NS = 50_000;
const EXCHANGES = 3000;

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
  warmClockSync();
  const only = Number(process.env[ONLY_TICKS]);
  const [rounds, ticks] = only > 0 ? [1, Math.min(only, TICKS_PER_ROUND)] : [ROUNDS, TICKS_PER_ROUND];
  for (let round = 0; round < rounds; round++) {
    const clock = new ManualClock();
    const wait = (deadlineNs: number) => clock.advanceTo(deadlineNs);
    const network = new LocalNetwork(clock, wait, () => DELAY_NS);
    kept.push(await joinLocally({ rig, model, clock, network, sealed }));
    network.run(clock.nowNs() + (ticks * 1e9) / rig.operator.hz);
  }
}

/** The clock exchange runs once a second: left alone, it runs uncompiled for an hour, and allocates. */
export function warmClockSync(): void {
  const sync = new ClockSync();
  for (let i = 1; i <= EXCHANGES; i++) {
    const sentNs = i * 1e9;
    const [thereNs, backNs] = [DELAY_NS * (1 + (i % 7) / 3), DELAY_NS * (1 + (i % 5) / 2)];
    sync.add(sentNs, sentNs + thereNs, sentNs + thereNs + 1000, sentNs + thereNs + 1000 + backNs);
  }
  kept.push(sync);
}
