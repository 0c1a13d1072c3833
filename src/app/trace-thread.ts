import { deferred } from '../core/deferred.ts';
import type { PulseEvent } from '../messages/pulse-event.ts';
import type { VideoEvent } from '../messages/video-event.ts';
import type { Rig } from '../rig/rig.ts';
import type { RoleMemory } from './role-memory.ts';
import type { TraceMessage, TraceOrder, TraceStart } from './trace-worker.ts';
import { READY_MS, WorkerHost } from './worker-host.ts';

export interface ClosedTrace {
  path: string;
  dropped: number;
  /** What the file lacks because of disk errors, and why; empty if complete. */
  loss: string;
}

/** The main thread's handle on the trace. */
export interface TraceThread {
  path: string;
  video(event: VideoEvent): void;
  pulse(event: PulseEvent): void;
  close(): Promise<ClosedTrace>;
}

/** `onTrouble` receives why the trace cannot be written, and an empty text once it can again. */
export async function startTraceThread(
  rig: Rig,
  session: number,
  { stampSource, scheduling }: { stampSource: 'kernel' | 'userspace'; scheduling: string },
  memory: RoleMemory,
  onTrouble: (text: string) => void,
): Promise<TraceThread> {
  const start: TraceStart = {
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
      scheduling,
      playout: rig.robot.playout,
      rig,
    },
  };
  const closed = deferred<ClosedTrace>();
  let path = '';
  let isClosed = false;
  const host = new WorkerHost<TraceMessage>(new URL('./trace-worker.js', import.meta.url), {
    name: 'the trace thread',
    start,
    readyMs: READY_MS,
    onMessage: (message) => {
      if (message.kind === 'trouble') return onTrouble(message.message);
      isClosed = true;
      closed.resolve(message);
    },
    // A thread that has ended no longer answers.
    onGone: (error) => {
      if (path === '' || isClosed) return;
      const loss = `The end of the trace ${path} is missing: ${String(error)}`;
      onTrouble(loss);
      closed.resolve({ path, dropped: 0, loss });
    },
  });
  const order = (what: TraceOrder) => host.post(what);
  ({ path } = await host.ready);
  return {
    path,
    video: order,
    pulse: order,
    close: () => {
      order('close');
      return closed.promise;
    },
  };
}
