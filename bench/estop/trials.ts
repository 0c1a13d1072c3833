import { setTimeout as sleep } from 'node:timers/promises';
import type { ArmRig } from './arm-rig.ts';
import type { RctpHand } from './rctp-hand.ts';

/** The packet may come at any point of an operator's tick and of a robot's cycle. */
const PHASE_MS = 33;
const FOLLOW_MS = 60;
/** A reset that comes before the operator has seen the stop confirmed is ignored. */
const REST_MS = 150;
const TRIES = 5;

/** A stall of a shared machine may void what was armed, or stop the arm, before a trial begins: then it is armed anew. */
async function follow(arm: ArmRig): Promise<void> {
  for (let i = 1; ; i++) {
    const fromNs = arm.nowNs();
    try {
      await arm.rearm();
      await arm.waitFor('engaged', 5000, fromNs);
      return;
    } catch (error) {
      if (i === TRIES) throw error;
    }
  }
}

/**
 * Armed and following, then one packet with the e-stop flag: how long from handing it to the kernel until `stop` is seen
 * by the arm, in nanoseconds. Each trial resets and arms again.
 */
export async function estopTrials(
  arm: ArmRig,
  hand: RctpHand,
  stop: RegExp,
  trials: number,
  onTrial: (done: number) => void = () => {},
): Promise<Float64Array> {
  const tookNs = new Float64Array(trials);
  for (let i = 0; i < trials; i++) {
    await follow(arm);
    await sleep(FOLLOW_MS + Math.random() * PHASE_MS);
    const sentNs = hand.estop();
    const stopped = await arm.event(stop, sentNs);
    tookNs[i] = stopped.atNs - sentNs;
    await arm.waitFor('stopped', 10_000, sentNs);
    onTrial(i + 1);
    await sleep(REST_MS);
  }
  return tookNs;
}
