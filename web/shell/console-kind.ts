import type { FleetAccessState } from '../../src/messages/fleet-console.ts';
import { FleetLink } from '../link/fleet-link.ts';
import { socketUrl } from '../link/reconnecting-socket.ts';

export interface ConsoleKind {
  /** Null unless a fleet console serves this page. */
  fleet: FleetLink | null;
  /** The robot named in the address. */
  robot: string | null;
}

async function detect(): Promise<ConsoleKind> {
  const robot = new URLSearchParams(location.search).get('robot');
  try {
    const access = (await (await fetch('./api/access')).json()) as { fleet?: FleetAccessState };
    if (access.fleet !== undefined) return { fleet: new FleetLink(socketUrl(location, 'fleet')), robot };
  } catch {
    // The console does not respond: the banner shows it, and the link retries.
  }
  return { fleet: null, robot: null };
}

/** Resolved before the rest of the page runs. */
export const consoleKind: ConsoleKind = await detect();
