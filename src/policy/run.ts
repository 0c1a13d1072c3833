import { setTimeout as sleep } from 'node:timers/promises';
import { TeleopError } from '../core/errors.ts';
import { monotonicClock } from '../core/time/clock.ts';
import { JointDesk } from '../desk/joint-desk.ts';
import { power } from '../desk/power.ts';
import type { Rig } from '../rig/rig.ts';
import { loadModel } from '../rig/robot-models.ts';
import { type FrameSource, observe } from './observation.ts';
import { type PolicyCounts, PolicyRunner } from './runner.ts';
import { openPolicy } from './transports.ts';

export interface PolicyOptions {
  rig: Rig;
  address: string;
  task: string;
  hz: number;
  timeoutMs: number;
  staleAfterMs: number;
  durationS: number | null;
  cameras: readonly string[];
  frames: FrameSource;
  stop: AbortSignal;
  /** Called about once a second. */
  onCounts: (counts: PolicyCounts) => void;
}

const CONTACT_MS = 10_000;
/** The input's limit unless the rig sets another, and how much earlier a pause counts as noticed by it. */
const INPUT_STALE_MS = 250;
const MARGIN_MS = 30;
/** After this many consecutive failures the policy counts as gone. */
const MAX_FAILED = 50;

/**
 * Lets a policy drive a running operator on this machine. Its actions are joint targets of the operator's input
 * `joints`: they start with a slow approach and pass the same link and supervisor.
 */
export async function runPolicy(options: PolicyOptions): Promise<PolicyCounts> {
  const { rig, timeoutMs } = options;
  const model = loadModel(rig.model);
  const joints = model.joints.map(({ name }) => name);
  const channel = await openPolicy(options.address);
  const desk = await JointDesk.open(rig);
  const settings = { ...options, robot: model.name, joints };
  const runner = new PolicyRunner({
    clock: monotonicClock,
    joints: joints.length,
    observe: (tick) => observe(tick, desk.newest, options.frames, monotonicClock.nowNs(), settings),
    ask: (observation, signal) => channel.ask(observation, signal),
    act: (jointsRad, gripper, clutch) => desk.target(jointsRad, gripper, clutch),
    timeoutMs,
    holdAfterMs: Number(rig.operator.inputs['joints']?.['staleAfterMs'] ?? INPUT_STALE_MS) - MARGIN_MS,
    isAdmitted: () => desk.isAdmitted,
    follows: () => desk.newest?.operator.mode === 'teleop' && desk.newest.robot?.state === 'engaged',
  });
  try {
    await desk.take(CONTACT_MS);
    await power(desk, false);
    await ticks(runner, desk, options);
    return runner.counts;
  } finally {
    runner.stop();
    const robot = desk.newest?.robot;
    if (robot) for (let i = 0; i < 3; i++) desk.target(robot.measuredRad, robot.gripper, false);
    await sleep(50);
    desk.close();
    channel.close();
  }
}

function stateOf(desk: JointDesk): string {
  const robot = desk.newest?.robot;
  return robot ? `${robot.state} (${robot.cause})` : 'no state received';
}

async function ticks(
  runner: PolicyRunner,
  desk: JointDesk,
  { hz, durationS, stop, onCounts }: PolicyOptions,
): Promise<void> {
  const startMs = performance.now();
  for (let tick = 0; !stop.aborted; tick++) {
    const atMs = startMs + (1000 * tick) / hz;
    await sleep(Math.max(0, atMs - performance.now()));
    if (durationS !== null && performance.now() - startMs > 1000 * durationS) return;
    runner.tick();
    if (tick % Math.ceil(hz) === 0) onCounts(runner.counts);
    if (runner.overruled)
      throw new TeleopError('policy-failed', `the robot stopped following the policy: ${stateOf(desk)}`, {
        hint: 'Check the robot’s state on the page, clear what stopped it, and restart the policy.',
      });
    const { failed, acted, idle } = runner.counts;
    if (failed >= MAX_FAILED && acted + idle === 0)
      throw new TeleopError('policy-failed', `the policy does not answer (${failed} requests)`, {
        hint: 'Start the policy first, and check that its address matches the one given here.',
      });
  }
}
