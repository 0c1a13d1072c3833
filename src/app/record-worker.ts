import { hostname } from 'node:os';
import { parentPort, workerData } from 'node:worker_threads';
import { FrameCache } from '../camera/cache.ts';
import type { FrameReceiverConfig } from '../camera/channel/frame-receiver.ts';
import { openFrameReceiver, projectedBy } from '../camera/receiver.ts';
import { H264Encoder } from '../camera/video/h264-encoder.ts';
import { arrivalEvent, VideoSampler } from '../camera/video-sampling.ts';
import { Counters } from '../core/counters.ts';
import { TeleopError } from '../core/errors.ts';
import { RecordRing } from '../core/memory/ring.ts';
import { monotonicClock } from '../core/time/clock.ts';
import type { MotorReport } from '../messages/motor-health.ts';
import type { EpisodeInfo, ReceivedFrame, RecorderStatus, RecordRequest } from '../messages/recording.ts';
import { emptyRow } from '../messages/ring-row.ts';
import type { WorldTelemetry } from '../messages/telemetry.ts';
import { TRACE } from '../messages/trace-record.ts';
import type { VideoEvent } from '../messages/video-event.ts';
import { lowerPriority } from '../native/thread-priority.ts';
import { episodeFile, labelEpisode } from '../record/episodes.ts';
import { openSound } from '../record/media/sound-source.ts';
import { EpisodeRecorder, type RecorderParts } from '../record/recorder.ts';

/** What cannot cross from another thread. */
type Made =
  | ('newestAt' | 'clock' | 'wallNs' | 'owner' | 'openEncoder' | 'openSound')
  | ('onSkipped' | 'onSaved' | 'onDropped' | 'onTrouble');

export interface RecordWorkerStart {
  rows: SharedArrayBuffer;
  traces: SharedArrayBuffer;
  counters: SharedArrayBuffer;
  receiver: FrameReceiverConfig | null;
  parts: Omit<RecorderParts, Made>;
  /** Null: pictures stay JPEG. */
  video: { fpsHz: Record<string, number>; crf: number } | null;
  sound: { device: string; rateHz: number } | null;
}

export type RecordWorkerRequest =
  | RecordRequest
  | { kind: 'toggle' }
  | { kind: 'close' }
  | { kind: 'motors'; operatorNs: number; motors: MotorReport }
  | { kind: 'world'; operatorNs: number; world: WorldTelemetry };

export type RecordWorkerMessage =
  | { kind: 'status'; status: RecorderStatus }
  | { kind: 'saved'; info: EpisodeInfo; file: string }
  | { kind: 'video'; event: VideoEvent }
  | { kind: 'trouble'; text: string }
  | { kind: 'closed' };

/** The recorder thread: receives frames, joins rows with them, writes files. No deadline. */
const start = workerData as RecordWorkerStart;
const DRAIN_MS = 10;
const STATUS_MS = 100;
/** Half a second at 30 Hz: how long a slow disk may delay the join. */
const FRAMES_KEPT = 16;

const post = (message: RecordWorkerMessage) => parentPort?.postMessage(message);
const counters = new Counters(start.counters);
const cache = new FrameCache(FRAMES_KEPT);
const sampler = new VideoSampler();
const rows = RecordRing.attach(start.rows);
const traces = RecordRing.attach(start.traces);
const joints = start.parts.joints.length;
const row = emptyRow(joints);
const record = TRACE.create();
let trouble = '';
/** One a second at 30 Hz: what a damaged part of a file costs, and how far a reader decodes to show a row. */
const KEY_EVERY = 30;
const RECORDED_VIDEO = { views: 1, kbitS: 0, mostInside: 8, otherwise: 'record.video=jpeg' } as const;

function mediaOf({ video, sound }: RecordWorkerStart): Pick<RecorderParts, 'openEncoder' | 'openSound'> {
  return {
    ...(video !== null && {
      openEncoder: (camera, handlers) => {
        const constantQuality = { crf: video.crf, keyEvery: KEY_EVERY };
        const fpsHz = video.fpsHz[camera] ?? 30;
        return new H264Encoder({ ...RECORDED_VIDEO, fpsHz, constantQuality }, handlers);
      },
    }),
    ...(sound !== null && {
      openSound: (take, failed) => openSound(sound.device, sound.rateHz, take, failed),
    }),
  };
}

const recorder = new EpisodeRecorder({
  ...start.parts,
  owner: { pid: process.pid, host: hostname() },
  newestAt: (camera, sampledNs) => cache.newestAt(camera, sampledNs),
  clock: monotonicClock,
  wallNs: () => BigInt(Date.now()) * 1_000_000n,
  onSkipped: (count) => counters.add('row-skipped', count),
  onSaved: (info, file) => post({ kind: 'saved', info, file }),
  onDropped: () => counters.add('frame-dropped'),
  onTrouble: (text) => post({ kind: 'trouble', text }),
  ...mediaOf(start),
});

function onFrame(frame: ReceivedFrame): void {
  cache.put(frame);
  recorder.frame(frame);
  if (sampler.due(frame.camera, frame.arrivedNs)) post({ kind: 'video', event: arrivalEvent(frame) });
}

function drain(): void {
  while (rows.shift(row.packed)) recorder.row(row);
  while (traces.shift(record.packed)) recorder.trace(record);
  recorder.tick();
}

function postStatus(): void {
  const { status } = recorder;
  post({ kind: 'status', status: { ...status, message: status.message || trouble } });
}

async function label(episode: string, text: string): Promise<void> {
  try {
    await labelEpisode(episodeFile(start.parts.dir, episode), { label: text });
    trouble = '';
  } catch (error) {
    if (!(error instanceof TeleopError)) throw error;
    trouble = `${error.message}. ${error.hint}`;
  }
  postStatus();
}

async function main(): Promise<void> {
  const project = (captureNs: number) => projectedBy(captureNs, row.offsetNs, row.offsetUncertaintyNs);
  const receiver =
    start.receiver === null
      ? null
      : await openFrameReceiver(start.receiver, onFrame, {
          project,
          remark: (reason) => counters.add(reason),
        }).catch((error: unknown) => {
          if (!(error instanceof TeleopError)) throw error;
          trouble = `No camera can be recorded: ${error.message}. ${error.hint}`;
          return null;
        });
  // Not earlier: ZeroMQ's single thread inherits the priority, and an input may need that thread too.
  lowerPriority();
  const timers = [setInterval(drain, DRAIN_MS), setInterval(postStatus, STATUS_MS)];
  parentPort?.on('message', (request: RecordWorkerRequest) => {
    drain();
    if (request.kind === 'motors') return recorder.motors(request.operatorNs, request.motors);
    if (request.kind === 'world') return recorder.world(request.operatorNs, request.world);
    if (request.kind === 'toggle') recorder.toggle();
    else if (request.kind === 'close') {
      for (const timer of timers) clearInterval(timer);
      recorder.close();
      receiver?.close();
      postStatus();
      post({ kind: 'closed' });
      parentPort?.close();
      return;
    } else if (request.action === 'label') void label(request.episode, request.label);
    else recorder.request(request);
    postStatus();
  });
}

await main();
