import { recordingPermissions } from './recordings.ts';
import { siteLeaseReads, siteLeaseWrites, sitePermissions } from './site-permissions.ts';

/** Names on the fleet's broker. A robot's name is one token of a subject. */

export const ROBOT_NAME = /^[a-z0-9][a-z0-9_-]{0,62}$/;

export const LEASE_BUCKET = 'leases';
/** After which the store forgets a lease that was not renewed. */
export const LEASE_TTL_MS = 3000;
/** How often its holder renews it. */
export const LEASE_RENEW_MS = 500;
/** How often the robot asks for it. */
export const LEASE_POLL_MS = 400;
/**
 * How long the robot goes on without an answer: a broker that is restarted does not stop it. Not longer than the store
 * keeps a silent holder's entry.
 */
export const LEASE_GRACE_MS = LEASE_TTL_MS;
export const AUDIT_STREAM = 'AUDIT';
/** What of that is about one robot, for its operators. */
export const robotAuditStream = (robot: string): string => `${AUDIT_STREAM}_${robot}`;

export const subjects = {
  presence: (robot: string): string => `farhand.presence.${robot}`,
  telemetry: (robot: string): string => `farhand.telemetry.${robot}`,
  event: (robot: string): string => `farhand.event.${robot}`,
  /** Requests to a robot, answered by it; the broker vouches for `user`. The robot listens to `*`. */
  signal: (robot: string, user: string): string => `farhand.signal.${robot}.${user}`,
  estop: (robot: string, user: string): string => `farhand.estop.${robot}.${user}`,
  /** Operators among themselves: who would like to have a robot; `user` is who speaks. */
  ask: (robot: string, user: string): string => `farhand.ask.${robot}.${user}`,
  /** Who did what; `user` is the name in the credentials. */
  audit: (robot: string, user: string): string => `farhand.audit.${robot}.${user}`,
  lease: (robot: string): string => `$KV.${LEASE_BUCKET}.${robot}`,
  leaseGet: (robot: string): string => `$JS.API.DIRECT.GET.KV_${LEASE_BUCKET}.$KV.${LEASE_BUCKET}.${robot}`,
} as const;

export const inboxOf = (user: string): string => `_INBOX.${user}`;

/**
 * Whether a request on a subject that names `user` is that user's. Who asks the server something chooses where its answer
 * goes, and nobody checks that: such an answer can appear on any subject, but it never asks for one itself. And an answer of
 * ours goes to nobody but the asker.
 */
export const isAskedBy = (user: string, reply: string | undefined): boolean =>
  reply?.startsWith(`${inboxOf(user)}.`) === true;

/** Whether bytes that came without a place for an answer look like such an answer: it has headers, or is JSON. */
export const isServersAnswer = (data: Uint8Array, hasHeaders: boolean): boolean =>
  hasHeaders || data[0] === '{'.charCodeAt(0);

export const FLEET_ROLES = ['robot', 'operator', 'viewer', 'admin', 'site'] as const;
export type FleetRole = (typeof FLEET_ROLES)[number];

export interface Permissions {
  pub: string[];
  sub: string[];
}

/** What somebody may do, by subject; everything else is refused by the broker. `robots`: names, or `*` for all. */
export function permissionsOf(role: FleetRole, user: string, robots: readonly string[]): Permissions {
  if (role === 'admin') return { pub: ['>'], sub: ['>'] };
  if (role === 'site') return sitePermissions(user, robots);
  const core = corePermissionsOf(role, user, robots);
  const recordings = recordingPermissions(role, robots);
  return { pub: [...core.pub, ...recordings.pub], sub: [...core.sub, ...recordings.sub] };
}

/** Who may see all robots may read every stream anyway. */
const auditReads = (robot: string): string[] => [
  `$JS.API.STREAM.INFO.${robotAuditStream(robot)}`,
  `$JS.API.DIRECT.GET.${robotAuditStream(robot)}`,
];

function corePermissionsOf(role: FleetRole, user: string, robots: readonly string[]): Permissions {
  const each = (make: (robot: string) => string) => robots.map(make);
  const inbox = `${inboxOf(user)}.>`;
  const leases = each(subjects.leaseGet);
  if (role === 'robot')
    return {
      pub: [
        ...each(subjects.presence),
        ...each(subjects.telemetry),
        ...each(subjects.event),
        ...each((robot) => subjects.audit(robot, user)),
        ...leases,
      ],
      sub: [
        ...each((robot) => subjects.signal(robot, '*')),
        ...each((robot) => subjects.estop(robot, '*')),
        ...each(subjects.lease),
        inbox,
      ],
    };
  const seen = [...each(subjects.presence), ...each(subjects.telemetry), ...each(subjects.event)];
  const watched = [...seen, ...each(subjects.lease), inbox];
  // Whoever may see a robot may stop it.
  const stops = [...each((robot) => subjects.estop(robot, user)), ...leases, ...siteLeaseReads(robots)];
  if (role === 'viewer') return { pub: stops, sub: watched };
  const own = [
    ...each((robot) => subjects.signal(robot, user)),
    ...each((robot) => subjects.audit(robot, user)),
    ...robots.filter((robot) => robot !== '*').flatMap(auditReads),
    ...each((robot) => subjects.ask(robot, user)),
  ];
  const asked = each((robot) => subjects.ask(robot, '*'));
  const held = [...each(subjects.lease), ...siteLeaseWrites(robots)];
  return { pub: [...stops, ...own, ...held], sub: [...watched, ...asked] };
}
