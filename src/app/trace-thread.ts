import { Worker } from 'node:worker_threads';
import { deferred } from '../core/deferred.ts';
import { type ErrorCode, TeleopError } from '../core/errors.ts';
import type { VideoEvent } from '../messages/video-event.ts';
import type { Rig } from '../rig/rig.ts';
import type { RoleMemory } from './role-memory.ts';
import type { TraceMessage, TraceOrder, TraceStart } from './trace-worker.ts';

export interface ClosedTrace {
  path: string;
  dropped: number;
  /** What the file lacks because of the disk, and why; empty: nothing. */
  loss: string;
}

/** The trace as the operator's main thread sees it. */
export interface TraceThread {
  path: string;
  video(event: VideoEvent): void;
  close(): Promise<ClosedTrace>;
}

/** `onTrouble` is told why the trace cannot be written, and with an empty text when it can again. */
export function startTraceThread(
  rig: Rig,
  session: number,
  stampSource: 'kernel' | 'userspace',
  memory: RoleMemory,
  onTrouble: (text: string) => void,
): Promise<TraceThread> {
  const workerData: TraceStart = {
    ring: memory.traceRing,
    joints: memory.traceJoints,
    camerasOnRobot: ['', rig.link.robotHost].includes(rig.cameras.host),
    dir: rig.trace.dir,
    maxPartBytes: rig.trace.rotateBytes,
    session: {
      startedAt: new Date(),
      session,
      role: 'operator',
      stampSource,
      playout: rig.robot.playout,
      rig,
    },
  };
  const worker = new Worker(new URL('./trace-worker.js', import.meta.url), { workerData });
  return new Promise((resolve, reject) => {
    const closed = deferred<ClosedTrace>();
    const order = (what: TraceOrder) => worker.postMessage(what);
    let path = '';
    // A thread that is gone answers nothing any more.
    const onGone = (error: unknown) => {
      const loss = `The trace ${path} lacks its end: ${String(error)}`;
      reject(error);
      onTrouble(loss);
      closed.resolve({ path, dropped: 0, loss });
    };
    const close = () => {
      order('close');
      return closed.promise;
    };
    worker.on('error', onGone);
    worker.on('message', (message: TraceMessage) => {
      if (message.kind === 'opened') {
        path = message.path;
        resolve({ path, video: order, close });
      } else if (message.kind === 'failed')
        reject(new TeleopError(message.code as ErrorCode, message.message, { hint: message.hint }));
      else if (message.kind === 'trouble') onTrouble(message.message);
      else closed.resolve(message);
    });
  });
}
