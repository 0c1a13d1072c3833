import { setImmediate as turn } from 'node:timers/promises';
import { percentiles } from '../../core/statistics/percentiles.ts';
import { NS_PER_S } from '../../core/time/clock.ts';
import { OPERATOR_SOCKETS } from '../../operator/loop.ts';
import {
  heldPose,
  type Observation,
  type ObservedState,
  observe,
  type Unobserved,
} from '../../policy/observation.ts';
import { type PolicyCounts, PolicyPlayer } from '../../policy/player.ts';
import type { Chunk, Policy } from '../../policy/policy.ts';
import { largestStep } from '../../policy/slew-limit.ts';
import { StateHistory } from '../../policy/state-history.ts';
import { rigModel } from '../../rig/robot-models.ts';
import { oneWayNs } from '../../trace/segments.ts';
import { peerOf } from '../../wire/reactor.ts';
import { taskNamed } from '../../world/task-list.ts';
import { type StageOptions, WorldStage } from './stage.ts';

export interface PolicySeedOptions extends Omit<StageOptions, 'inputs' | 'rows' | 'onClosed'> {
  policy: Policy;
  fps: number;
  everyRows: number;
  /** How long an answer takes on the simulated clock; the policy itself computes while the clock stands still. */
  inferenceMs: number;
  rowZero?: 'request' | 'arrival';
  /** Ends after this long; by default with the task's own limit. */
  limitS?: number;
}

/** Somebody beside the policy, who is called every 10 ms with what was last sent to the robot. */
export interface Onlooker {
  tick(sentRad: Float64Array, sentGripper: number): void;
  /** Whether the policy drives. */
  readonly drives: boolean;
}

export interface PolicySeed {
  seed: number;
  success: boolean;
  score: number;
  timeS: number;
  counts: PolicyCounts;
  /** Why the last request failed, or its answer could not be used. */
  trouble?: string;
  /** Largest joint's step in one row's time, 99th percentile: where a chunk was added, and inside chunks. */
  switchStepRad: number;
  insideStepRad: number;
}

/** Targets are sent at this rate; the input joins them by straight lines, which takes one period. */
const SEND_NS = 10e6;
const PROGRAM = peerOf('127.0.0.1', 4999);
const PRELUDE_S = 10;
const STALE_MS = 1000;
/** States in which closing a clutch begins an engagement, or has begun one. */
const READY: readonly string[] = ['armed', 'engaged', 'hold'];
const encoder = new TextEncoder();

interface Answer {
  dueNs: number;
  give: () => void;
}

/** Lets a policy do a seed through the operator, the link, playout and supervisor, on a simulated clock. */
export async function runPolicySeed(options: PolicySeedOptions): Promise<PolicySeed> {
  const lead = new Lead();
  const stage = await WorldStage.open({ ...options, onClosed: (record) => lead.learn(record) });
  try {
    return await play(stage, lead, options);
  } finally {
    stage.close();
  }
}

/** `lead` learns from the stage's closed records. */
export async function play(
  stage: WorldStage,
  lead: Lead,
  options: PolicySeedOptions,
  onlooker?: Onlooker,
): Promise<PolicySeed> {
  const { policy, fps, everyRows, inferenceMs, rowZero } = options;
  const model = rigModel(options.rig);
  const joints = model.joints.length;
  const asked: { observation: Observation; give: (chunk: Chunk) => void; fail: (error: Error) => void }[] =
    [];
  const answers: Answer[] = [];
  const steps = new StepMeter(joints, fps);
  const past = new StateHistory();
  const sent = { rad: new Float64Array(joints), gripper: 0 };
  const player = new PolicyPlayer({
    ...{ clock: stage.clock, joints, fps, everyRows, holdAfterMs: 220, timeoutMs: 5000 },
    ...(rowZero === undefined ? {} : { rowZero }),
    observe: (tick) =>
      observeStage(
        stage,
        tick,
        model.name,
        model.joints.map(({ name }) => name),
        past,
      ),
    onTick: () => past.add(stageState(stage)),
    held: () => {
      const state = stageState(stage);
      return state && heldPose(state);
    },
    infer: (observation) => new Promise((give, fail) => asked.push({ observation, give, fail })),
    ...(onlooker && { drives: () => onlooker.drives }),
    act: (jointsRad, gripper, clutch) => {
      sent.rad.set(jointsRad);
      sent.gripper = gripper;
      steps.note(stage.clock.nowNs(), jointsRad);
      send(stage, jointsRad, gripper, clutch);
    },
    leadNs: () => lead.ns,
    // A clutch that was closed before the robot was armed does not count.
    isAdmitted: () => READY.includes(stage.pair.operator.robot.state.state),
    follows: () =>
      stage.pair.operator.mode === 'teleop' && stage.pair.operator.robot.state.state === 'engaged',
    onChunk: (chunk) => steps.learn(chunk, stage.clock.nowNs()),
  });
  const { seed } = stage.world;
  const endNs = stage.clock.nowNs() + (options.limitS ?? stage.world.limitS + PRELUDE_S) * NS_PER_S;
  while (stage.world.outcome === 'running' && stage.clock.nowNs() < endNs) {
    stage.run(stage.clock.nowNs() + SEND_NS);
    const nowNs = stage.clock.nowNs();
    const due = answers.filter(({ dueNs }) => dueNs <= nowNs);
    for (const answer of due) {
      answers.splice(answers.indexOf(answer), 1);
      answer.give();
    }
    if (due.length > 0) await turn();
    player.tick();
    onlooker?.tick(sent.rad, sent.gripper);
    for (const { observation, give, fail } of asked.splice(0)) {
      const chunk = await policy
        .infer(observation, AbortSignal.timeout(60_000))
        .catch((error: Error) => error);
      const dueNs = nowNs + inferenceMs * 1e6;
      answers.push({ dueNs, give: () => (chunk instanceof Error ? fail(chunk) : give(chunk)) });
    }
  }
  const { outcome, score, elapsedS } = stage.world;
  const { counts, trouble } = player;
  const done = { seed, success: outcome === 'done', score, timeS: elapsedS, counts, ...steps.result() };
  return trouble === '' ? done : { ...done, trouble };
}

function observeStage(
  stage: WorldStage,
  tick: number,
  robot: string,
  joints: readonly string[],
  past: StateHistory,
): Observation | Unobserved {
  const nowNs = stage.clock.nowNs();
  const seen = stageState(stage);
  const newest = (camera: string) => stage.cameras.newestAt(camera, nowNs);
  const { names } = stage.cameras;
  const task = taskNamed(stage.driver.world.read(stage.world)).instruction;
  const settings = { task, robot, joints, cameras: names, staleAfterMs: STALE_MS };
  return observe(tick, seen, { newest }, nowNs, settings, past);
}

/** The newest state that the operator has received; null while it has none. */
function stageState({ clock, pair }: WorldStage): ObservedState | null {
  const { robot } = pair.operator;
  if (!robot.isFresh(clock.nowNs()) || !robot.hasPose) return null;
  const { positionsRad, gripper, externalNm, gripperN, state, robotNs } = robot.state;
  return {
    ...{ positionsRad: [...positionsRad], gripper, supervisor: state },
    // Both roles share the simulated clock.
    measuredNs: Math.min(robotNs, robot.receivedNs),
    effort: Number.isFinite(externalNm[0]) ? [...externalNm, gripperN] : null,
  };
}

/** As a program on the operator's machine sends them to its input `joints`. */
function send(stage: WorldStage, jointsRad: Float64Array, gripper: number, clutch: boolean): void {
  const bytes = encoder.encode(
    JSON.stringify({ jointsRad: [...jointsRad], gripper, clutch, source: 'policy' }),
  );
  const nowNs = stage.clock.nowNs();
  const socket = OPERATOR_SOCKETS.firstInput;
  stage.pair.operator.onDatagram(socket, bytes, bytes.length, PROGRAM, nowNs, Number.NaN);
}

/** How long before it is applied a target must be sent, from the receipts so far. */
export class Lead {
  #ns = 30e6;

  learn(record: Parameters<typeof oneWayNs>[0]): void {
    const filterNs = Number.isFinite(record.filterDelayNs) ? record.filterDelayNs : 0;
    const ns = oneWayNs(record) + filterNs;
    if (Number.isFinite(ns)) this.#ns += 0.02 * (ns - this.#ns);
  }

  get ns(): number {
    return this.#ns + SEND_NS;
  }
}

/** Steps of what is sent, per row of the policy: at the switch to a new chunk, against those inside chunks. */
class StepMeter {
  readonly #joints: number;
  readonly #periodNs: number;
  readonly #inside: number[] = [];
  readonly #switches: number[] = [];
  readonly #sent: { atNs: number; rad: Float64Array }[] = [];
  #addedNs = Number.NEGATIVE_INFINITY;

  constructor(joints: number, fps: number) {
    this.#joints = joints;
    this.#periodNs = 1e9 / fps;
  }

  learn(chunk: Chunk, nowNs: number): void {
    for (let row = 1; row < chunk.rows; row++) this.#inside.push(largestStep(chunk, row, this.#joints));
    this.#addedNs = nowNs;
  }

  note(nowNs: number, rad: Float64Array): void {
    this.#sent.push({ atNs: nowNs, rad: rad.slice() });
    while (this.#sent.length > 0 && this.#sent[0]!.atNs < nowNs - this.#periodNs) this.#sent.shift();
    const isSwitch = nowNs - this.#addedNs < this.#periodNs;
    const [before] = this.#sent;
    if (!isSwitch || before === undefined || this.#switches.length > 20_000) return;
    this.#switches.push(Math.max(...rad.map((each, i) => Math.abs(each - before.rad[i]!))));
  }

  result(): { switchStepRad: number; insideStepRad: number } {
    return {
      switchStepRad: percentiles(this.#switches)?.p99 ?? 0,
      insideStepRad: percentiles(this.#inside)?.p99 ?? 0,
    };
  }
}
