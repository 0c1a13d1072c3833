import type { FleetRole, Permissions } from './roles.ts';
import { rosterToken } from './roster/roster-messages.ts';
import { LEASE_VERBS, RECORDING_VERBS, ROBOT_LEASE_VERBS, subjects } from './subjects.ts';

/**
 * What a user may do, by subject; the broker rejects everything else. `robots`: names, `GROUP/*`, or `*`.
 *
 * Nobody in the account of robots and people may publish `>` or a subject that begins with `$`, and nobody
 * has a permission to reply: the sender of a request chooses the reply subject, and the broker does not check
 * it. Answers go to fixed subjects instead.
 */
export function permissionsOf(role: FleetRole, user: string, robots: readonly string[]): Permissions {
  switch (role) {
    case 'admin':
      return { pub: ['>'], sub: ['>'] };
    case 'service':
      return servicePermissions(user);
    case 'site':
      return sitePermissions(robots);
    case 'roster':
      return rosterPermissions();
    case 'robot':
      return robotPermissions(user, robots);
    default:
      return peoplePermissions(role, user, robots);
  }
}

/** Whether a role belongs to the account with the stores; people and robots have the other one. */
export const isStoreRole = (role: FleetRole): boolean => role === 'admin' || role === 'service';

function robotPermissions(user: string, robots: readonly string[]): Permissions {
  const each = (make: (robot: string) => string) => robots.map(make);
  return {
    pub: [
      ...each(subjects.presence),
      ...each(subjects.telemetry),
      ...each(subjects.event),
      ...each((robot) => subjects.audit(robot, user)),
      ...each((robot) => subjects.answer('*', 'robot', robot, '*')),
      ...ROBOT_LEASE_VERBS.flatMap((verb) => each((robot) => subjects.lease(verb, robot, user))),
      ...RECORDING_VERBS.flatMap((verb) => each((robot) => subjects.recording(verb, robot, user))),
    ],
    sub: [
      ...each((robot) => subjects.signal(robot, '*')),
      ...each((robot) => subjects.estop(robot, '*')),
      ...each(subjects.leased),
      subjects.answers(user),
    ],
  };
}

function peoplePermissions(
  role: 'operator' | 'viewer',
  user: string,
  robots: readonly string[],
): Permissions {
  const each = (make: (robot: string) => string) => robots.map(make);
  const { presence, telemetry, event, leased, recorded } = subjects;
  const seen = [presence, telemetry, event, leased, recorded].flatMap(each);
  const sub = [...seen, subjects.answers(user)];
  // Every user who may see a robot may stop it.
  const pub = [
    ...robots.flatMap((robot) => rosterToken(robot) ?? []).map((token) => subjects.roster(token, user)),
    ...each((robot) => subjects.estop(robot, user)),
    ...each((robot) => subjects.lease('look', robot, user)),
    ...each((robot) => subjects.recording('get', robot, user)),
    ...each((robot) => subjects.recording('list', robot, user)),
  ];
  if (role === 'viewer') return { pub, sub };
  const further = LEASE_VERBS.filter((verb) => verb !== 'look');
  return {
    pub: [
      ...pub,
      ...each((robot) => subjects.signal(robot, user)),
      ...each((robot) => subjects.ask(robot, user)),
      ...each((robot) => subjects.audit(robot, user)),
      ...each((robot) => subjects.log(robot, user)),
      ...further.flatMap((verb) => each((robot) => subjects.lease(verb, robot, user))),
      ...each((robot) => subjects.recording('put', robot, user)),
    ],
    sub: [...sub, ...each((robot) => subjects.ask(robot, '*'))],
  };
}

/** The service that knows which robots are there. It belongs to the account of robots and people. */
const rosterPermissions = (): Permissions => ({
  pub: [subjects.answer('*', 'roster', '*', '*')],
  sub: [subjects.presence('*'), subjects.roster('*', '*')],
});

/** The services of the store: leases, recordings, log. */
function servicePermissions(user: string): Permissions {
  return {
    pub: [
      '$KV.grants.>',
      '$JS.API.DIRECT.GET.>',
      '$JS.API.STREAM.INFO.*',
      '$JS.API.STREAM.MSG.GET.*',
      '$O.*.C.>',
      '$O.*.M.>',
      'farhand.recording.*.*',
      subjects.answer('*', 'store', '*', '*'),
      subjects.leased('*'),
      subjects.recorded('*'),
      subjects.audit('*', '*'),
    ],
    sub: [
      subjects.lease('*', '*', '*'),
      subjects.recording('*', '*', '*'),
      subjects.log('*', '*'),
      `${inboxOf(user)}.>`,
    ],
  };
}

/**
 * What passes between a site and the fleet. A site is a separate server near some robots, a leaf node of the
 * fleet's servers, with a store and services of its own. Its robots' reports and answers go out, requests to
 * them come in; its store stays separate.
 */
function sitePermissions(robots: readonly string[]): Permissions {
  const { presence, telemetry, event, leased, recorded } = subjects;
  const each = (make: (robot: string) => string) => robots.map(make);
  return {
    pub: [
      ...[presence, telemetry, event, leased, recorded].flatMap(each),
      ...each((robot) => subjects.audit(robot, '*')),
      ...each((robot) => subjects.ask(robot, '*')),
      ...each((robot) => subjects.answer('*', '*', robot, '*')),
    ],
    sub: [
      ...each((robot) => subjects.signal(robot, '*')),
      ...each((robot) => subjects.estop(robot, '*')),
      ...each((robot) => subjects.ask(robot, '*')),
      ...each((robot) => subjects.lease('*', robot, '*')),
      ...each((robot) => subjects.recording('*', robot, '*')),
      ...each((robot) => subjects.log(robot, '*')),
    ],
  };
}

/** Answers of the store itself to one of its services. */
export const inboxOf = (user: string): string => `_INBOX.${user}`;
