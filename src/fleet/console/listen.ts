import type { Msg } from '@nats-io/transport-node';
import { EntryBoundary } from '../../core/entry-boundary.ts';
import type { FleetConnection } from '../connection.ts';
import type { LeaseStore } from '../lease-store.ts';
import { parsed, presenceSchema } from '../messages.ts';
import { subjects } from '../subjects.ts';
import type { FleetBoard } from './fleet-board.ts';

/** Puts robots' presence and changes of their leases on the board. `onHolder`: a robot's holder changed. */
export function listenToFleet(
  connection: FleetConnection,
  store: LeaseStore,
  board: FleetBoard,
  nowMs: () => number,
  onHolder: () => void,
): void {
  const { nats, robots } = connection;
  const boundary = new EntryBoundary('message from the fleet');
  const learn = async (robot: string, holder: string) => {
    const entry = await store.get(robot).catch(() => null);
    if (entry?.holder === holder) board.tokenIs(robot, holder, entry.revision);
    onHolder();
  };
  const onPresence = (message: Msg) => {
    const presence = parsed(presenceSchema, message.string());
    // A robot may only report about itself.
    if (presence !== null && subjects.presence(presence.robot) === message.subject)
      board.received(presence, nowMs());
  };
  const onLease = (message: Msg) => {
    const robot = message.subject.split('.').at(-1)!;
    const isOver = message.headers?.has('KV-Operation') === true;
    const holder = isOver ? null : message.string();
    if (!board.leaseReceived(robot, holder, nowMs())) return;
    if (holder === null) onHolder();
    else void learn(robot, holder);
  };
  for (const name of robots) {
    nats.subscribe(subjects.presence(name), {
      callback: (error, message) => {
        if (error === null) boundary.run(() => onPresence(message));
      },
    });
    nats.subscribe(subjects.lease(name), {
      callback: (error, message) => {
        if (error === null) boundary.run(() => onLease(message));
      },
    });
  }
}
