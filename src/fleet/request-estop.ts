import type { FleetConnection } from './connection.ts';
import { estopReplySchema, parsed } from './messages.ts';
import { subjects } from './subjects.ts';

const ESTOP_MS = 2000;

/** Stops a robot over the broker; the state that it reports then. Rejects without an answer. */
export async function requestEstop(connection: FleetConnection, robot: string): Promise<string> {
  const subject = subjects.estop(robot, connection.user);
  const answer = await connection.request({ subject, by: 'robot', robot, head: {}, timeoutMs: ESTOP_MS });
  return parsed(estopReplySchema, answer.head)?.state ?? 'unrecognised';
}
