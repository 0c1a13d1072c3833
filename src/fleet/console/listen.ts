import type { Msg } from '@nats-io/transport-node';
import { z } from 'zod';
import { EntryBoundary } from '../../core/entry-boundary.ts';
import type { FleetConnection } from '../connection.ts';
import { signedSchema } from '../leases/grant.ts';
import { parsed, presenceSchema } from '../messages.ts';
import { rosterToken } from '../roster/roster-messages.ts';
import { robotIn, subjects } from '../subjects.ts';
import type { FleetBoard } from './fleet-board.ts';
import { RosterFollower } from './roster-follower.ts';

/** The broker accepts these only from the lease service; the robot checks their signature. */
const announcementSchema = z.object({ user: z.string().max(64), token: z.number() });

/**
 * Puts robots' presence and changes of their leases on the board. `onLease`: a lease was announced. Returns
 * how to stop.
 */
export function listenToFleet(
  connection: FleetConnection,
  board: FleetBoard,
  nowMs: () => number,
  onLease: (robot: string, token: number, isNewHolder: boolean) => void,
): () => void {
  const { nats, robots } = connection;
  const boundary = new EntryBoundary('message from the fleet');
  const onPresence = (message: Msg) => {
    const presence = parsed(presenceSchema, message.string());
    // A robot may only report about itself.
    if (presence !== null && subjects.presence(presence.robot) === message.subject)
      board.received(presence, nowMs());
  };
  const onChange = (message: Msg) => {
    const signed = parsed(signedSchema, message.string());
    const change = signed && parsed(announcementSchema, signed.body);
    if (!change) return;
    const robot = robotIn(message.subject);
    onLease(robot, change.token, board.leaseReceived(robot, change.user, change.token, nowMs()));
  };
  const listen = (subject: string, take: (message: Msg) => void) =>
    nats.subscribe(subject, {
      callback: (error, message) => {
        if (error === null) boundary.run(() => take(message));
      },
    });
  const followers = robots.flatMap((name) => {
    listen(subjects.leased(name), onChange);
    const token = rosterToken(name);
    if (token === null) listen(subjects.presence(name), onPresence);
    return token === null
      ? []
      : [new RosterFollower({ connection, token, robots: name, board, nowMs, onPresence })];
  });
  return () => {
    for (const follower of followers) follower.close();
  };
}
