import { hostname } from 'node:os';
import { Counters } from '../../core/counters.ts';
import { RecordRing } from '../../core/memory/ring.ts';
import { NS_PER_S } from '../../core/time/clock.ts';
import { packageVersion } from '../../files/package-root.ts';
import type { EpisodeInfo } from '../../messages/recording.ts';
import { emptyRow } from '../../messages/ring-row.ts';
import { recorderFlag } from '../../messages/role-flags.ts';
import { TRACE } from '../../messages/trace-record.ts';
import { RowFeed } from '../../operator/row-feed.ts';
import { EpisodeRecorder } from '../../record/recorder.ts';
import { cameraNames } from '../../rig/camera-channel.ts';
import type { Rig } from '../../rig/rig.ts';
import { rigModel } from '../../rig/robot-models.ts';
import { recordedRobot } from '../recorded-robot.ts';
import type { RoleMemory } from '../role-memory.ts';
import { createRoleMemory } from '../role-memory.ts';
import { type StageOptions, WorldStage } from './stage.ts';

const STEP_NS = 10e6;
/** After success, which includes a second of rest. */
const REST_NS = 0.1e9;
/** Before the expert has engaged. */
const PRELUDE_S = 10;

export interface Demonstration {
  seed: number;
  success: boolean;
  timeS: number;
  rows: number;
  /** Null: nothing was saved. */
  file: string | null;
}

/** Lets the rig's automatic input do a seed and records it, through both roles, their link and the cameras. */
export async function demonstrate(
  { rig, ...options }: Omit<StageOptions, 'rows' | 'onClosed'>,
  dir: string,
): Promise<Demonstration> {
  const tape = new StageTape(rig);
  const stage = await WorldStage.open({
    ...options,
    rig,
    rows: tape.feed,
    onClosed: (record) => tape.feed.onClosed(record),
  });
  try {
    tape.begin(stage, dir);
    const { seed, limitS } = stage.world;
    const endNs = stage.clock.nowNs() + (limitS + PRELUDE_S) * NS_PER_S;
    let overNs = Number.POSITIVE_INFINITY;
    while (stage.clock.nowNs() < Math.min(endNs, overNs + REST_NS)) {
      stage.run(stage.clock.nowNs() + STEP_NS);
      tape.drain();
      if (overNs === Number.POSITIVE_INFINITY && stage.world.outcome !== 'running')
        overNs = stage.clock.nowNs();
    }
    const { outcome, elapsedS } = stage.world;
    const success = outcome === 'done';
    return { seed, success, timeS: elapsedS, ...tape.end(success) };
  } finally {
    stage.close();
  }
}

/** Records what happens on a stage. */
export class StageTape {
  readonly feed: RowFeed;
  readonly #rig: Rig;
  readonly #memory: RoleMemory;
  #recorder: EpisodeRecorder | null = null;
  #drain: () => void = () => {};
  #rows = 0;
  #file: string | null = null;

  constructor(rig: Rig) {
    const joints = rigModel(rig).joints.length;
    this.#rig = rig;
    this.#memory = createRoleMemory('operator', joints);
    Atomics.store(recorderFlag(this.#memory), 0, 1);
    this.feed = new RowFeed(this.#memory, joints, new Counters());
  }

  begin(stage: WorldStage, dir: string): void {
    this.#recorder = openRecorder(stage, this.#rig, dir, (info, file) => {
      this.#rows = info.rows;
      this.#file = file;
    });
    this.#drain = drainer(this.#memory, rigModel(this.#rig).joints.length, this.#recorder);
  }

  /** At least ten times a second: the rings are short. */
  drain(): void {
    this.#drain();
  }

  end(success: boolean): { rows: number; file: string | null } {
    this.#recorder?.request({ kind: 'record', action: 'stop', label: success ? 'success' : 'failure' });
    return { rows: this.#rows, file: this.#file };
  }
}

function openRecorder(
  stage: WorldStage,
  rig: Rig,
  dir: string,
  onSaved: (info: EpisodeInfo, file: string) => void,
): EpisodeRecorder {
  const model = rigModel(rig);
  const { staleMs, missingMs, task } = rig.record;
  const startedNs = BigInt(Date.now()) * 1_000_000n - BigInt(Math.round(stage.clock.nowNs()));
  return new EpisodeRecorder({
    ...{ dir, task, startsAtEngagement: true, rig, version: packageVersion() },
    ...recordedRobot([{ model, side: null }]),
    cameras: cameraNames(rig),
    rateHz: rig.operator.hz,
    owner: { pid: process.pid, host: hostname() },
    join: { staleNs: staleMs * 1e6, missingNs: missingMs * 1e6 },
    limits: {},
    minFreeBytes: 0,
    newestAt: (camera, sampledNs) => stage.cameras.newestAt(camera, sampledNs),
    clock: stage.clock,
    wallNs: () => startedNs + BigInt(Math.round(stage.clock.nowNs())),
    onSkipped: () => {},
    onSaved,
  });
}

function drainer(memory: RoleMemory, joints: number, recorder: EpisodeRecorder): () => void {
  const rows = RecordRing.attach(memory.rowRing);
  const traces = RecordRing.attach(memory.rowTraceRing);
  const row = emptyRow(joints);
  const trace = TRACE.create();
  return () => {
    while (rows.shift(row.packed)) recorder.row(row);
    while (traces.shift(trace.packed)) recorder.trace(trace);
    recorder.tick();
  };
}
