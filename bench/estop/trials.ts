import { setTimeout as sleep } from 'node:timers/promises';
import type { ArmRig } from './arm-rig.ts';
import type { RctpHand } from './rctp-hand.ts';

/** So that the packet arrives at any point of the operator's tick and the robot's cycle. */
const PHASE_MS = 33;
const FOLLOW_MS = 60;
/** A reset before the operator has seen the confirmation of the stop is ignored. */
const REST_MS = 150;
const TRIES = 5;

/** A stall of a shared machine may disarm or stop the arm before a trial starts: then it is armed again. */
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
 * Time from passing a packet with the e-stop flag to the kernel until the following arm sees `stop`, in nanoseconds.
 * Each trial resets and arms again.
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
