import type { FleetConnection } from '../connection.ts';
import { type Presence, parsed, presenceSchema } from '../messages.ts';
import { subjects } from '../subjects.ts';
import { RosterClient } from './roster-client.ts';
import { rosterToken } from './roster-messages.ts';

/** An idle robot announces itself every five seconds. */
const LISTEN_MS = 5500;

/**
 * The online robots that these credentials may see, by name. `only`: returns as soon as that one is received.
 */
export async function roster(connection: FleetConnection, only?: string): Promise<Presence[]> {
  const seen = new Map<string, Presence>();
  const names = only === undefined ? await notListed(connection, seen) : [only];
  if (names.length > 0) await listenTo(connection, names, only !== undefined, seen);
  return [...seen.values()]
    .filter(({ state }) => state !== 'ended')
    .sort((a, b) => a.robot.localeCompare(b.robot));
}

/** Asks the roster for whole groups; returns what it does not know. */
async function notListed(connection: FleetConnection, seen: Map<string, Presence>): Promise<string[]> {
  const left: string[] = [];
  for (const name of connection.robots) {
    const token = rosterToken(name);
    const listed =
      token === null ? null : await new RosterClient(connection, token).changes().catch(() => null);
    if (listed === null) left.push(name);
    else
      for (const { presence, goneForMs } of listed.rows)
        if (goneForMs === null) seen.set(presence.robot, presence);
  }
  return left;
}

async function listenTo(
  connection: FleetConnection,
  names: readonly string[],
  isOne: boolean,
  seen: Map<string, Presence>,
): Promise<void> {
  await new Promise<void>((resolve) => {
    const timer = setTimeout(resolve, LISTEN_MS);
    for (const name of names)
      connection.nats.subscribe(subjects.presence(name), {
        callback: (error, message) => {
          const presence = error === null ? parsed(presenceSchema, message.string()) : null;
          // A robot may only report about itself.
          if (presence === null || subjects.presence(presence.robot) !== message.subject) return;
          seen.set(presence.robot, presence);
          if (!isOne) return;
          clearTimeout(timer);
          resolve();
        },
      });
  });
}
