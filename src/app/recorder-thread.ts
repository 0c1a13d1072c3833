import path from 'node:path';
import { TeleopError } from '../core/errors.ts';
import { packageVersion } from '../files/package-root.ts';
import { readYaml } from '../files/yaml-files.ts';
import type { MotorReport } from '../messages/motor-health.ts';
import type { EpisodeInfo, RecorderStatus, RecordRequest } from '../messages/recording.ts';
import { recorderFlag } from '../messages/role-flags.ts';
import type { WorldTelemetry } from '../messages/telemetry.ts';
import type { VideoEvent } from '../messages/video-event.ts';
import { limitsSchema, type QualityLimits } from '../record/limits.ts';
import { PART_ENDING } from '../record/writer.ts';
import { cameraNames, frameReceiverConfig } from '../rig/camera-channel.ts';
import type { Rig } from '../rig/rig.ts';
import { recoverLeftovers } from './leftovers.ts';
import type { RecordWorkerMessage, RecordWorkerRequest, RecordWorkerStart } from './record-worker.ts';
import type { RecordedRobot } from './recorded-robot.ts';
import type { RoleMemory } from './role-memory.ts';
import { WorkerHost } from './worker-host.ts';

export interface RecorderHooks {
  onSaved: (info: EpisodeInfo, file: string) => void;
  say: (text: string) => void;
  /** Called for a sample of the pictures that the recorder received. */
  onVideo: (event: VideoEvent) => void;
}

const MB = 2 ** 20;
const MOTORS_NS = 1e9;

/** The main thread's handle on the recorder, whose thread starts with the first recording. */
export class RecorderThread {
  readonly #start: RecordWorkerStart;
  readonly #wanted: Int32Array;
  readonly #hooks: RecorderHooks;
  #worker: WorkerHost<RecordWorkerMessage> | null = null;
  #closed: Promise<void> = Promise.resolve();
  #status: RecorderStatus;
  #presses = Number.NaN;
  #loss = '';
  #motorsNs = Number.NEGATIVE_INFINITY;

  /** `keys`: keys of a link that are not stored in a file. */
  constructor(rig: Rig, robot: RecordedRobot, memory: RoleMemory, hooks: RecorderHooks, keys?: Uint8Array[]) {
    this.#hooks = hooks;
    this.#wanted = recorderFlag(memory);
    this.#start = workerStart(rig, robot, memory, keys);
    this.#status = idle(rig.record.task);
    if (rig.record.start === 'engage') this.#open();
    recoverLeftovers(rig.record.dir, hooks.say).catch((error: unknown) => hooks.say(String(error)));
  }

  get status(): RecorderStatus {
    return this.#status;
  }

  request(request: RecordRequest | { kind: 'toggle' }): void {
    this.#open();
    this.#post(request);
  }

  /** How often the record button of the active input has been pressed. */
  onPresses(presses: number): void {
    if (presses > this.#presses) this.request({ kind: 'toggle' });
    this.#presses = presses;
  }

  /** Once a second while recording. */
  onMotors(operatorNs: number, motors: MotorReport): void {
    if (this.#status.state !== 'recording' || operatorNs - this.#motorsNs < MOTORS_NS) return;
    this.#motorsNs = operatorNs;
    this.#post({ kind: 'motors', operatorNs, motors });
  }

  /** With every telemetry message while recording. */
  onWorld(operatorNs: number, world: WorldTelemetry): void {
    if (this.#status.state === 'recording') this.#post({ kind: 'world', operatorNs, world });
  }

  #open(): void {
    if (this.#worker !== null) return;
    Atomics.store(this.#wanted, 0, 1);
    this.#worker = new WorkerHost<RecordWorkerMessage>(new URL('./record-worker.js', import.meta.url), {
      name: 'the recorder thread',
      start: this.#start,
      onMessage: (message) => {
        if (message.kind === 'status') this.#onStatus(message.status);
        else if (message.kind === 'saved') this.#hooks.onSaved(message.info, message.file);
        else if (message.kind === 'video') this.#hooks.onVideo(message.event);
        else if (message.kind === 'trouble') this.#hooks.say(message.text);
      },
      onGone: (error, code) => {
        if (code === null) this.#onEnd(error);
      },
    });
    this.#closed = this.#worker.exited;
  }

  /** Trouble is also printed in the operator's terminal: there may be no page open. */
  #onStatus(status: RecorderStatus): void {
    const before = this.trouble;
    this.#status = status;
    if (status.state === 'failed') this.#loss = status.message;
    if (this.trouble !== '' && this.trouble !== before) this.#hooks.say(this.trouble);
  }

  /**
   * Why recording fails or failed; empty if it does not. A rejected episode is saved and reported with its
   * reason.
   */
  get trouble(): string {
    const { state, episode, message } = this.#status;
    return state === 'failed' || episode === null ? message : '';
  }

  /** Why a recording of this run is incomplete, even if a later one succeeded. */
  get loss(): string {
    return this.#loss;
  }

  /** The file being written; empty if none. */
  get file(): string {
    const { state, episode } = this.#status;
    return state === 'recording' && episode !== null
      ? path.join(this.#start.parts.dir, `${episode}${PART_ENDING}`)
      : '';
  }

  #post(message: RecordWorkerRequest): void {
    this.#worker?.post(message);
  }

  /** Whatever ends the recorder ends the recording, not the control. */
  #onEnd(error: Error): void {
    Atomics.store(this.#wanted, 0, 0);
    this.#worker = null;
    const message = `${endText(error)} What was written is kept.`;
    this.#status = { ...this.#status, state: 'failed', message };
    this.#loss = message;
    this.#hooks.say(message);
  }

  /** Saves the current recording. */
  async close(): Promise<void> {
    Atomics.store(this.#wanted, 0, 0);
    this.#post({ kind: 'close' });
    await this.#closed;
  }
}

/** Too few file descriptors, as when the thread starts, are not a bug. */
export const endText = (error: Error): string =>
  /\bE[MN]FILE\b/.test(`${(error as NodeJS.ErrnoException).code} ${error.message}`)
    ? 'Recording stopped: too many open files. Raise the limit with `ulimit -n 4096` and restart the operator.'
    : `Recording stopped by a bug in Farhand: ${error.message}.`;

const idle = (task: string): RecorderStatus => ({
  state: 'idle',
  episode: null,
  task,
  rows: 0,
  skippedRows: 0,
  durationS: 0,
  message: '',
});

const ratesOf = (rig: Rig): Record<string, number> =>
  Object.fromEntries(Object.entries(rig.cameras.list).map(([name, { fpsHz }]) => [name, fpsHz]));

function workerStart(
  rig: Rig,
  robot: RecordedRobot,
  memory: RoleMemory,
  keys?: Uint8Array[],
): RecordWorkerStart {
  const { dir, task, start, staleMs, missingMs, minFreeMb, limits } = rig.record;
  const { video, videoCrf, sound, soundHz } = rig.record;
  const cameras = cameraNames(rig);
  return {
    rows: memory.rowRing,
    traces: memory.rowTraceRing,
    counters: memory.counters,
    video: video === 'jpeg' ? null : { fpsHz: ratesOf(rig), crf: videoCrf },
    sound: sound === '' ? null : { device: sound, rateHz: soundHz },
    receiver: cameras.length === 0 ? null : frameReceiverConfig(rig, keys),
    parts: {
      dir,
      task,
      startsAtEngagement: start === 'engage',
      ...robot,
      cameras,
      rateHz: rig.operator.hz,
      rig,
      version: packageVersion(),
      join: { staleNs: staleMs * 1e6, missingNs: missingMs * 1e6 },
      limits: readLimits(limits),
      minFreeBytes: minFreeMb * MB,
    },
  };
}

export function readLimits(file: string): QualityLimits {
  if (file === '') return {};
  const parsed = limitsSchema.safeParse(readYaml(file));
  if (parsed.success) return parsed.data;
  const { path, message } = parsed.error.issues[0]!;
  throw new TeleopError(
    'bad-config',
    `${file} is not valid: ${[path.join('.'), message].filter(Boolean).join(': ')}`,
    {
      hint: `Valid limits: ${Object.keys(limitsSchema.shape).join(', ')}.`,
    },
  );
}
