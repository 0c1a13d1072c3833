import type { FleetConnection } from './connection.ts';
import { type Presence, parsed, presenceSchema } from './messages.ts';
import { subjects } from './subjects.ts';

/** An idle robot announces itself every five seconds. */
const LISTEN_MS = 5500;

/**
 * The online robots that these credentials may see, by name. `only`: returns as soon as that one is received.
 */
export async function roster(connection: FleetConnection, only?: string): Promise<Presence[]> {
  const seen = new Map<string, Presence>();
  const names = only === undefined ? connection.robots : [only];
  await new Promise<void>((resolve) => {
    const timer = setTimeout(resolve, LISTEN_MS);
    for (const name of names)
      connection.nats.subscribe(subjects.presence(name), {
        callback: (error, message) => {
          const presence = error === null ? parsed(presenceSchema, message.string()) : null;
          // A robot may only report about itself.
          if (presence === null || subjects.presence(presence.robot) !== message.subject) return;
          seen.set(presence.robot, presence);
          if (only === undefined) return;
          clearTimeout(timer);
          resolve();
        },
      });
  });
  return [...seen.values()]
    .filter(({ state }) => state !== 'ended')
    .sort((a, b) => a.robot.localeCompare(b.robot));
}
