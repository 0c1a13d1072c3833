import { setTimeout as sleep } from 'node:timers/promises';
import { TeleopError } from '../core/errors.ts';
import { monotonicClock } from '../core/time/clock.ts';
import { JointDesk } from '../desk/joint-desk.ts';
import { power } from '../desk/power.ts';
import type { Rig } from '../rig/rig.ts';
import { rigModel } from '../rig/robot-models.ts';
import {
  type FrameSource,
  heldPose,
  type ObservedState,
  observe,
  sampledState,
  stateOf,
} from './observation.ts';
import { type PolicyCounts, PolicyPlayer } from './player.ts';
import type { Policy } from './policy.ts';
import { StateHistory } from './state-history.ts';

export interface PolicyOptions {
  rig: Rig;
  policy: Policy;
  task: string;
  /** Rows per second of the policy, and rows between two requests. */
  fps: number;
  everyRows: number;
  timeoutMs: number;
  staleAfterMs: number;
  durationS: number | null;
  cameras: readonly string[];
  frames: FrameSource;
  stop: AbortSignal;
  /** Never drives: runs along while a person does. */
  isShadow: boolean;
  /** Called about once a second, and at the end; `trouble`: why the last request failed, if one did. */
  onCounts: (counts: PolicyCounts, trouble: string) => void;
}

const INPUT = 'joints';
/** States that are this much older than telemetry's are no longer passed on. */
const PASSED_ON_NS = 100e6;
const CONTACT_MS = 10_000;
/** Targets per second; the input joins them by straight lines. */
const SEND_HZ = 100;
/** The input's limit unless the rig sets another, and how much earlier a pause counts as noticed by it. */
const INPUT_STALE_MS = 250;
const MARGIN_MS = 30;
/** After this many failures without an answer the policy counts as gone … */
const MAX_FAILED = 50;
/** … and after this many unusable answers as one for another robot. */
const MAX_MALFORMED = 10;
/** Before the first receipt: link and playout of a quiet local network. */
const FIRST_LEAD_NS = 40e6;

/**
 * Lets a policy drive a running operator on this machine. Its actions are joint targets of the operator's input
 * `joints`: they start with a slow approach and pass the same link and supervisor.
 */
export async function runPolicy(options: PolicyOptions): Promise<PolicyCounts> {
  const { rig } = options;
  const past = new StateHistory();
  const desk = await JointDesk.open(rig, (sample) => {
    // Two arms have no single state: their policy reads telemetry.
    if (sample.side === undefined) past.add(sampledState(sample));
  });
  const player = createPlayer(options, desk, past);
  try {
    if (!options.isShadow) {
      await desk.take(CONTACT_MS);
      await power(desk, false);
    }
    await ticks(player, desk, options);
    options.onCounts(player.counts, player.trouble);
    return player.counts;
  } finally {
    player.stop();
    const robot = desk.newest?.robot;
    if (robot && !options.isShadow)
      for (let i = 0; i < 3; i++) desk.target(robot.measuredRad, robot.gripper, false, 'policy');
    await sleep(50);
    desk.close();
  }
}

function createPlayer(options: PolicyOptions, desk: JointDesk, past: StateHistory): PolicyPlayer {
  const { rig, policy, fps, everyRows, timeoutMs, frames } = options;
  const model = rigModel(rig);
  const joints = model.joints.map(({ name }) => name);
  const settings = { ...options, robot: model.name, joints };
  const newest = () => newestState(desk, past);
  return new PolicyPlayer({
    ...{ clock: monotonicClock, joints: joints.length, fps, everyRows, timeoutMs },
    observe: (tick) => observe(tick, newest(), frames, monotonicClock.nowNs(), settings, past),
    held: () => {
      const state = newest();
      return state && heldPose(state);
    },
    infer: (observation, signal) => policy.infer(observation, signal),
    act: (jointsRad, gripper, clutch) => desk.target(jointsRad, gripper, clutch, 'policy'),
    onTick: () => past.add(newest()),
    drives: () => !options.isShadow && desk.newest?.input.active === INPUT,
    leadNs: leadOf(desk),
    holdAfterMs: Number(rig.operator.inputs['joints']?.['staleAfterMs'] ?? INPUT_STALE_MS) - MARGIN_MS,
    isAdmitted: () => desk.isAdmitted,
    follows: () => desk.newest?.operator.mode === 'teleop' && desk.newest.robot?.state === 'engaged',
  });
}

/** As the operator passes it on; from its telemetry if it passes none on: two arms, or an older operator. */
function newestState({ newest }: JointDesk, past: StateHistory): ObservedState | null {
  const reported = stateOf(newest);
  const passedOn = past.newest;
  if (reported === null || passedOn === null) return reported;
  return passedOn.measuredNs > reported.measuredNs - PASSED_ON_NS ? passedOn : reported;
}

/** From sending a target until it is applied, by the newest receipts. */
function leadOf(desk: JointDesk): () => number {
  let leadNs = FIRST_LEAD_NS;
  let seenNs = Number.NaN;
  return () => {
    const seen = desk.newest;
    if (seen !== null && seen.operatorNs !== seenNs) {
      seenNs = seen.operatorNs;
      const filterNs = (seen.operator.filterDelayMs ?? 0) * 1e6;
      for (const { oneWayMs } of seen.closed)
        if (oneWayMs !== null) leadNs += 0.02 * (oneWayMs * 1e6 + filterNs - leadNs);
    }
    return leadNs + 1e9 / SEND_HZ;
  };
}

function stateText(desk: JointDesk): string {
  const robot = desk.newest?.robot;
  return robot ? `${robot.state} (${robot.cause})` : 'no state received';
}

async function ticks(
  player: PolicyPlayer,
  desk: JointDesk,
  { durationS, stop, onCounts }: PolicyOptions,
): Promise<void> {
  const startMs = performance.now();
  for (let tick = 0; !stop.aborted; tick++) {
    const atMs = startMs + (1000 * tick) / SEND_HZ;
    await sleep(Math.max(0, atMs - performance.now()));
    if (durationS !== null && performance.now() - startMs > 1000 * durationS) return;
    player.tick();
    if (tick % SEND_HZ === 0) onCounts(player.counts, player.trouble);
    if (player.hand.overruled)
      throw new TeleopError('policy-failed', `the robot stopped following the policy: ${stateText(desk)}`, {
        hint: 'Check the robot’s state on the page, clear what stopped it, and restart the policy.',
      });
    checkAnswers(player);
  }
}

/** Throws if none of the policy's answers could be used so far. */
function checkAnswers({ counts, trouble }: PolicyPlayer): void {
  const { failed, malformed, answered, idle } = counts;
  if (answered + idle > 0) return;
  if (malformed >= MAX_MALFORMED)
    throw new TeleopError('policy-failed', `the policy’s answers do not fit this robot: ${trouble}`, {
      hint: 'Check that it was trained on this robot, with joints in radians.',
    });
  if (failed >= MAX_FAILED)
    throw new TeleopError('policy-failed', `the policy does not answer (${failed} requests): ${trouble}`, {
      hint: 'Start the policy first, and check that its address matches the one given here.',
    });
}
