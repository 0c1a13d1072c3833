import { parsed, presenceSchema } from '../../../fleet/messages.ts';
import { subjects } from '../../../fleet/subjects.ts';
import type { FleetConnection } from '../connection.ts';
import type { LeaseStore } from '../lease-store.ts';
import type { FleetBoard } from './fleet-board.ts';

/** What robots tell of themselves, and the news of their leases, onto the board. `onHolder`: another one has a robot. */
export function listenToFleet(
  connection: FleetConnection,
  store: LeaseStore,
  board: FleetBoard,
  nowMs: () => number,
  onHolder: () => void,
): void {
  const { nats, robots } = connection;
  const learn = async (robot: string, holder: string) => {
    const entry = await store.get(robot).catch(() => null);
    if (entry?.holder === holder) board.tokenIs(robot, holder, entry.revision);
    onHolder();
  };
  for (const name of robots) {
    nats.subscribe(subjects.presence(name), {
      callback: (error, message) => {
        const presence = error === null ? parsed(presenceSchema, message.string()) : null;
        // A robot speaks for itself only.
        if (presence !== null && subjects.presence(presence.robot) === message.subject)
          board.heard(presence, nowMs());
      },
    });
    nats.subscribe(subjects.lease(name), {
      callback: (error, message) => {
        if (error !== null) return;
        const robot = message.subject.split('.').at(-1)!;
        const isOver = message.headers?.has('KV-Operation') === true;
        const holder = isOver ? null : message.string();
        if (!board.leaseHeard(robot, holder, nowMs())) return;
        if (holder === null) onHolder();
        else void learn(robot, holder);
      },
    });
  }
}
