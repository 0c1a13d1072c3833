import type { CameraEvent } from '../camera/station.ts';
import { deferred } from '../core/deferred.ts';
import { TeleopError } from '../core/errors.ts';
import type { RobotModel } from '../geometry/robot-model.ts';
import type { CameraReport } from '../messages/role-report.ts';
import { cameraNames, frameSenderConfig } from '../rig/camera-channel.ts';
import type { Rig } from '../rig/rig.ts';
import type { CameraMessage, CameraOrder, CameraRobot, CameraStart } from './camera-worker.ts';
import { READY_MS, WorkerHost } from './worker-host.ts';

export interface CameraThread {
  /** Where the pictures are served, as text for people. */
  where: string;
  /** Resolves when the thread has ended, for any reason. */
  ended: Promise<void>;
  report(): Promise<CameraReport[]>;
  /** Stops the sources and the thread; returns the last report. */
  close(): Promise<CameraReport[]>;
}

export interface CameraThreadOptions {
  /** The arms of this process, for views of them; none without a robot. */
  robots: readonly CameraRobot[];
  counters: SharedArrayBuffer;
  onEvent: (event: CameraEvent) => void;
  /** Keys of a link that are not stored in a file. */
  keys?: Uint8Array[] | undefined;
}

const CLOSE_MS = 2000;
const RETRY_MS = 5000;

/** Runs the rig's cameras in a separate thread. Rejects when its sockets cannot be opened. */
export async function startCameraThread(
  rig: Rig,
  model: RobotModel,
  options: CameraThreadOptions,
): Promise<CameraThread> {
  const start: CameraStart = {
    cameras: rig.cameras.list,
    sender: frameSenderConfig(rig, options.keys),
    model,
    robots: options.robots,
    counters: options.counters,
    linkUsesZmq: rig.link.transport === 'zmq',
  };
  let nextReport = deferred<CameraReport[]>();
  let last: CameraReport[] = [];
  const host = new WorkerHost<CameraMessage>(new URL('./camera-worker.js', import.meta.url), {
    name: 'the camera thread',
    start,
    readyMs: READY_MS,
    onMessage: (message) => {
      if (message.kind === 'event') return options.onEvent(message.event);
      last = message.reports;
      nextReport.resolve(last);
      nextReport = deferred();
    },
    onGone: (error, code) => {
      if (code === null) options.onEvent(bugEvent(error));
    },
  });
  void host.exited.then(() => nextReport.resolve(last));
  const { where } = await host.ready;
  return {
    where,
    ended: host.exited,
    report() {
      host.post('report' satisfies CameraOrder);
      return nextReport.promise;
    },
    async close() {
      await host.close('close' satisfies CameraOrder, CLOSE_MS);
      return last;
    },
  };
}

const bugEvent = (error: unknown): CameraEvent => ({
  camera: 'all',
  kind: 'trouble',
  message: `the camera thread ended: ${String(error)}`,
  hint: 'This is a bug in Farhand; the robot continues without cameras.',
  retryMs: 0,
});

/**
 * The cameras beside a robot. Camera failures are reported and retried; they never keep the robot from
 * starting, running or ending. Null for a rig without cameras.
 */
export function startRobotCameras(
  rig: Rig,
  robots: readonly [CameraRobot, ...CameraRobot[]],
  counters: SharedArrayBuffer,
  print: (text: string) => void,
  keys?: Uint8Array[],
): { close(): Promise<CameraReport[]> } | null {
  if (cameraNames(rig).length === 0) return null;
  let closed = false;
  let retry: NodeJS.Timeout | undefined;
  let reported = '';
  const options: CameraThreadOptions = {
    robots,
    counters,
    keys,
    onEvent: (event) => print(eventText(event)),
  };
  const again = () => {
    if (closed) return;
    retry = setTimeout(() => {
      opening = open();
    }, RETRY_MS);
  };
  const open = async (): Promise<CameraThread | null> => {
    try {
      const thread = await startCameraThread(rig, robots[0].model, options);
      print(`cameras ${cameraNames(rig).join(', ')} on ${thread.where}`);
      void thread.ended.then(again);
      return thread;
    } catch (error) {
      const text = error instanceof TeleopError ? `${error.message}\n  → ${error.hint}` : String(error);
      if (text !== reported) print(`no cameras: ${text}`);
      reported = text;
      again();
      return null;
    }
  };
  let opening = open();
  return {
    async close() {
      closed = true;
      clearTimeout(retry);
      return (await (await opening)?.close()) ?? [];
    },
  };
}

export function eventText({ camera, kind, message, hint, retryMs }: CameraEvent): string {
  if (kind === 'up') return `camera ${camera}: ${message}`;
  const retry = retryMs > 0 ? ` (retrying in ${retryMs / 1000} s)` : '';
  return `camera ${camera}: ${message}${retry}\n  → ${hint}`;
}
