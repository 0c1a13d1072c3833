import { TeleopError } from '../core/errors.ts';
import type { FleetConnection } from './connection.ts';
import type { HeldLease } from './leases/held-lease.ts';
import {
  answerText,
  offerText,
  parsed,
  type SentSignal,
  type SignalReply,
  signalReplySchema,
} from './messages.ts';
import { isFromRobot } from './robot-identity.ts';
import { subjects } from './subjects.ts';

const SIGNAL_MS = 8000;

export type Offer = Extract<SignalReply, { kind: 'offer' }>;

export async function signalRobot(
  connection: FleetConnection,
  robot: string,
  head: SentSignal,
): Promise<SignalReply> {
  const subject = subjects.signal(robot, connection.user);
  const answer = await connection.request({ subject, by: 'robot', robot, head, timeoutMs: SIGNAL_MS });
  return parsed(signalReplySchema, answer.head) ?? { kind: 'refused', reason: 'malformed' };
}

/** Asks the robot for a session under this lease. Throws if it refuses, or if another than the robot answers. */
export async function requestSession(
  connection: FleetConnection,
  lease: HeldLease,
  client: 'operator' | 'page',
): Promise<Offer> {
  const { robot, key } = lease;
  const greeting = await signalRobot(connection, robot, { kind: 'greet' });
  if (greeting.kind !== 'greeting') throw refusedBy(robot, greeting);
  const grant = await lease.grantFor(greeting.nonce);
  const offer = await signalRobot(connection, robot, { kind: 'open', grant, client });
  if (offer.kind !== 'offer') throw refusedBy(robot, offer);
  const { session, sdp, token, sig } = offer;
  const text = offerText(robot, key, session, sdp);
  if (!isFromRobot({ token, sig, text }, robot, connection.identity.account, Date.now() / 1000))
    throw refusedBy(robot, { kind: 'refused', reason: 'its answer has no valid signature' });
  return offer;
}

/** Answers the robot's offer. */
export async function acceptSession(
  connection: FleetConnection,
  lease: HeldLease,
  session: number,
  sdp: string,
): Promise<void> {
  const { robot, key } = lease;
  const sig = lease.sign(answerText(robot, key, session, sdp));
  const reply = await signalRobot(connection, robot, { kind: 'answer', session, sdp, sig });
  if (reply.kind !== 'accepted') throw refusedBy(robot, reply);
}

export function refusedBy(robot: string, reply: SignalReply): TeleopError {
  const reason = reply.kind === 'refused' ? reply.reason : 'unexpected answer';
  return new TeleopError('fleet-refused', `${robot} did not open a session: ${IN_WORDS[reason] ?? reason}`, {
    hint: 'docs/fleet.md lists the reasons; `farhand fleet show` shows who drives the robot.',
  });
}

/** The robot's reasons. */
const IN_WORDS: Record<string, string> = {
  'no-lease': 'its lease service did not sign this lease (no-lease)',
  'lease-expired': 'the lease was not renewed in time (lease-expired)',
  'not-holder': 'another operator holds the lease (not-holder)',
  'old-token': 'a newer lease exists (old-token)',
  'not-saved': 'it cannot write the lease to its disk (not-saved)',
  'old-nonce': 'the lease’s signature came too late (old-nonce)',
  'peer-failed': 'the connection failed while it was opened; try again (peer-failed)',
  malformed: 'it did not understand the request; its version may differ (malformed)',
};
