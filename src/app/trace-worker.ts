import { parentPort, workerData } from 'node:worker_threads';
import { RecordRing } from '../core/memory/ring.ts';
import { monotonicClock } from '../core/time/clock.ts';
import type { PulseEvent } from '../messages/pulse-event.ts';
import { TRACE } from '../messages/trace-record.ts';
import type { VideoEvent } from '../messages/video-event.ts';
import { jointsCount, jointsReader } from '../operator/joints-ring.ts';
import { TraceFileWriter } from '../trace/file-writer.ts';
import { MotionMatcher } from '../trace/motion.ts';
import { MotionCorrelator } from '../trace/motion-latency.ts';
import { MotionQueue } from '../trace/motion-queue.ts';
import { motionLine, type TraceSession } from '../trace/stamps.ts';
import { type TouchRecord, touchLine } from '../trace/touch.ts';
import { type VideoRecord, videoLine } from '../trace/video.ts';
import { type FailedMessage, failedMessage } from './worker-host.ts';

export interface TraceStart {
  ring: SharedArrayBuffer;
  /** Commanded and measured joints. */
  joints: SharedArrayBuffer;
  dir: string;
  maxPartBytes: number;
  session: TraceSession;
  /** The link's clock offset also applies to the cameras. */
  camerasOnRobot: boolean;
}

export type TraceOrder = VideoEvent | PulseEvent | 'close';

export type TraceMessage =
  | { kind: 'ready'; path: string }
  | FailedMessage
  /** Empty: the trouble is over. */
  | { kind: 'trouble'; message: string }
  /** `loss`: what the file permanently lacks because of disk errors; empty if complete. */
  | { kind: 'closed'; path: string; dropped: number; loss: string };

/**
 * Drains the ring of closed commands to disk: JSON, write and fsync happen here, never in the control loop.
 */
const start = workerData as TraceStart;
const DRAIN_MS = 20;
const ring = RecordRing.attach(start.ring);
const record = TRACE.create();
const joints = jointsCount(start.joints);
const readJoints = jointsReader(start.joints);
const matcher = new MotionMatcher(joints);
const correlator = new MotionCorrelator(joints);
const waiting = new MotionQueue(matcher);
const ESTIMATE_NS = 1e9;
let offsetNs = Number.NaN;
let uncertaintyNs = Number.NaN;
let estimatedNs = 0;
let troubled = false;
const post = (message: TraceMessage) => parentPort?.postMessage(message);

function videoRecord(event: VideoEvent): VideoRecord {
  const known = (ns: number | null) => ns ?? Number.NaN;
  const [offset, linkNs] = start.camerasOnRobot ? [offsetNs, uncertaintyNs] : [Number.NaN, Number.NaN];
  return {
    camera: event.camera,
    captureNs: event.captureNs,
    encodedNs: known(event.encodedNs),
    receivedNs: event.receivedNs,
    decodedNs: known(event.decodedNs),
    displayedNs: known(event.displayedNs),
    offsetNs: offset,
    uncertaintyNs: linkNs + (event.pageUncertaintyNs ?? 0),
  };
}

function touchRecord({ device, strength, readNs, publishedNs, givenNs, ...event }: PulseEvent): TouchRecord {
  const clock = { offsetNs, uncertaintyNs: uncertaintyNs + event.pageUncertaintyNs };
  return { device, strength, readNs, publishedNs, givenNs, ...clock };
}

function takeJoints(): void {
  readJoints((kind, ns, seq, anglesRad) => {
    if (kind === 'state') {
      matcher.state(ns, anglesRad);
      correlator.state(ns - offsetNs, anglesRad);
      return;
    }
    matcher.command(seq, anglesRad, kind === 'command');
    if (kind === 'command') correlator.command(ns, anglesRad);
    else correlator.clear();
  });
}

function estimate(writer: TraceFileWriter, nowNs: number): void {
  if (nowNs - estimatedNs < ESTIMATE_NS) return;
  estimatedNs = nowNs;
  const found = correlator.estimate();
  if (found !== null) writer.note(motionLine({ atNs: nowNs, ...found }));
}

/** `patient` false: the run is over; do not wait for motion any longer. */
function drain(writer: TraceFileWriter, patient = true): void {
  const nowNs = monotonicClock.nowNs();
  while (ring.shift(record.packed)) {
    if (!Number.isNaN(record.offsetNs)) [offsetNs, uncertaintyNs] = [record.offsetNs, record.uncertaintyNs];
    waiting.push(record.packed, nowNs);
  }
  takeJoints();
  waiting.drain(patient ? nowNs : Number.POSITIVE_INFINITY, (ready) => writer.write(ready));
  estimate(writer, nowNs);
  const isFine = writer.flush(monotonicClock.nowNs()) === 'ok';
  if (isFine === !troubled) return;
  troubled = !isFine;
  const { message, hint } = writer.failure ?? { message: '', hint: '' };
  post({ kind: 'trouble', message: isFine ? '' : `${message}. ${hint}` });
}

try {
  const writer = TraceFileWriter.open(start.dir, start.session, { maxPartBytes: start.maxPartBytes });
  post({ kind: 'ready', path: writer.path });
  // Readers start with the first part and follow the rest.
  const { path } = writer;
  const timer = setInterval(() => drain(writer), DRAIN_MS);
  parentPort?.on('message', (order: TraceOrder) => {
    if (order !== 'close')
      return writer.note(
        order.kind === 'pulse' ? touchLine(touchRecord(order)) : videoLine(videoRecord(order)),
      );
    clearInterval(timer);
    drain(writer, false);
    writer.close(ring.dropped);
    post({ kind: 'closed', path, dropped: ring.dropped + writer.dropped, loss: writer.loss });
    parentPort?.close();
  });
} catch (error) {
  post(failedMessage(error));
  parentPort?.close();
}
