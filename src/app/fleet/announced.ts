import { WorkerHost } from '../worker-host.ts';
import type { AnnounceMessage, AnnounceStart } from './announce-worker.ts';
import type { Companion, FleetAccess } from './companion.ts';

/** How long the last episode may take to be announced; the next session does what was not. */
const CLOSE_MS = 5000;

/** What is recorded beside a role of a fleet is told to the fleet, and stored there where that is wanted. */
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
    // It ends no session: what is not announced now is announced later.
    onGone: (error, code) => {
      if (code === null) console.error(`farhand: recordings are not announced: ${error.message}`);
    },
  });
}
