import { WorkerHost } from '../worker-host.ts';
import type { AnnounceMessage, AnnounceStart } from './announce-worker.ts';
import type { Companion, FleetAccess } from './companion.ts';

/** Time limit for announcing the last episode; the next session announces the rest. */
const CLOSE_MS = 5000;

/** Announces the recordings of a fleet role to the fleet, and stores them there if the rig says so. */
export function announced(companion: Companion, access: FleetAccess, robot: string): Companion {
  const { fleet, record } = companion.rig;
  if (fleet.recordings === 'off') return companion;
  const start: AnnounceStart = {
    ...access,
    plainBeyondLoopback: fleet.plainBeyondLoopback,
    ...{ robot, dir: record.dir, push: fleet.recordings === 'push', deleteAfter: fleet.deleteAfterPush },
    bytesPerS: (fleet.pushMbitS * 1e6) / 8,
  };
  let thread: WorkerHost<AnnounceMessage> | null = null;
  return {
    ...companion,
    rig: { ...companion.rig, fleet: { ...fleet, robot: robot || fleet.robot } },
    async started(handle, info) {
      const text = await companion.started(handle, info);
      thread = announceThread(start);
      return text;
    },
    async close() {
      await Promise.all([thread?.close('close', CLOSE_MS), companion.close()]);
    },
  };
}

function announceThread(start: AnnounceStart): WorkerHost<AnnounceMessage> {
  return new WorkerHost<AnnounceMessage>(new URL('./announce-worker.js', import.meta.url), {
    name: 'the thread that announces recordings',
    start,
    onMessage: (message) => {
      if (message.kind === 'said') console.error(`farhand: ${message.text}`);
    },
    // Does not end the session: the next one announces what is missing.
    onGone: (error, code) => {
      if (code === null) console.error(`farhand: recordings are not announced: ${error.message}`);
    },
  });
}
