import type { FleetAccessNews } from '../../src/messages/fleet-console.ts';
import { FleetLink } from '../link/fleet-link.ts';
import { socketUrl } from '../link/returning-socket.ts';

export interface ConsoleKind {
  /** Of a fleet's console; null: a console beside one operator. */
  fleet: FleetLink | null;
  /** The robot of the fleet that the address asks for. */
  robot: string | null;
}

async function ask(): Promise<ConsoleKind> {
  const robot = new URLSearchParams(location.search).get('robot');
  try {
    const news = (await (await fetch('./api/access')).json()) as { fleet?: FleetAccessNews };
    if (news.fleet !== undefined) return { fleet: new FleetLink(socketUrl(location, 'fleet')), robot };
  } catch {
    // A console that does not answer is waited for: the banner says so.
  }
  return { fleet: null, robot: null };
}

/** Known before anything else of the page runs. */
export const consoleKind: ConsoleKind = await ask();
