/** Names on the fleet's broker. A robot's name is one token of a subject. */

export const ROBOT_NAME = /^[a-z0-9][a-z0-9_-]{0,62}$/;

export const LEASE_BUCKET = 'leases';
/** When the store drops a lease that was not renewed. */
export const LEASE_TTL_MS = 3000;
/** How often its holder renews it. */
export const LEASE_RENEW_MS = 500;
/** How often the robot reads it. */
export const LEASE_POLL_MS = 400;
/**
 * How long the robot continues without an answer: a restart of the broker does not stop it. Not longer than
 * the store keeps a silent holder's entry.
 */
export const LEASE_GRACE_MS = LEASE_TTL_MS;
export const AUDIT_STREAM = 'AUDIT';
/** The part about one robot, for its operators. */
export const robotAuditStream = (robot: string): string => `${AUDIT_STREAM}_${robot}`;

export const subjects = {
  presence: (robot: string): string => `farhand.presence.${robot}`,
  telemetry: (robot: string): string => `farhand.telemetry.${robot}`,
  event: (robot: string): string => `farhand.event.${robot}`,
  /** Requests to a robot, answered by it; the broker guarantees `user`. The robot subscribes to `*`. */
  signal: (robot: string, user: string): string => `farhand.signal.${robot}.${user}`,
  estop: (robot: string, user: string): string => `farhand.estop.${robot}.${user}`,
  /** Between operators: requests to hand a robot over; `user` is the sender. */
  ask: (robot: string, user: string): string => `farhand.ask.${robot}.${user}`,
  /** Who did what; `user` is the name in the credentials. */
  audit: (robot: string, user: string): string => `farhand.audit.${robot}.${user}`,
  lease: (robot: string): string => `$KV.${LEASE_BUCKET}.${robot}`,
  leaseGet: (robot: string): string => `$JS.API.DIRECT.GET.KV_${LEASE_BUCKET}.$KV.${LEASE_BUCKET}.${robot}`,
} as const;

export const inboxOf = (user: string): string => `_INBOX.${user}`;

/**
 * Whether a request on a subject that names `user` is really from that user. A client chooses where the
 * server's answer to it goes, and the server does not check that: such an answer can appear on any subject,
 * but it has no reply subject itself. This also makes sure that our answer goes only to the user who sent the
 * request.
 */
export const isAskedBy = (user: string, reply: string | undefined): boolean =>
  reply?.startsWith(`${inboxOf(user)}.`) === true;

/** Whether a message without a reply subject looks like such an answer: it has headers, or is JSON. */
export const isServersAnswer = (data: Uint8Array, hasHeaders: boolean): boolean =>
  hasHeaders || data[0] === '{'.charCodeAt(0);
