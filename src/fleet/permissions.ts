import { recordingPermissions } from './recordings.ts';
import type { FleetRole, Permissions } from './roles.ts';
import { siteLeaseReads, siteLeaseWrites, sitePermissions } from './site-permissions.ts';
import { inboxOf, robotAuditStream, subjects } from './subjects.ts';

/** What a user may do, by subject; the broker rejects everything else. `robots`: names, or `*` for all. */
export function permissionsOf(role: FleetRole, user: string, robots: readonly string[]): Permissions {
  if (role === 'admin') return { pub: ['>'], sub: ['>'] };
  if (role === 'site') return sitePermissions(user, robots);
  const core = corePermissionsOf(role, user, robots);
  const recordings = recordingPermissions(role, robots);
  return { pub: [...core.pub, ...recordings.pub], sub: [...core.sub, ...recordings.sub] };
}

/** Not needed for `*`: a user who may see all robots may read every stream. */
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
  // Every user who may see a robot may stop it.
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
