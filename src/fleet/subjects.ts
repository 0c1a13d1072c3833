/**
 * Names on the fleet's broker. A robot is `NAME` or `GROUP/NAME`; in a subject it takes two tokens, so that
 * one permission or subscription can cover a group. A user's name is one token.
 */

export const USER_NAME = /^[a-z0-9][a-z0-9_-]{0,62}$/;
export const ROBOT_NAME = /^(?:[a-z0-9][a-z0-9_-]{0,30}\/)?[a-z0-9][a-z0-9_-]{0,62}$/;
/** In credentials: a robot, a whole group as `GROUP/*`, or `*` for all. */
export const ROBOT_PATTERN = /^(?:\*|(?:[a-z0-9][a-z0-9_-]{0,30}\/)?(?:\*|[a-z0-9][a-z0-9_-]{0,62}))$/;

/** The group token of a robot without a group. No group can have this name. */
const NO_GROUP = '_';

/** A robot, `GROUP/*` or `*` as two tokens of a subject. */
export function addressOf(robot: string): string {
  if (robot === '*') return '*.*';
  const [group, name] = robot.includes('/') ? robot.split('/') : [NO_GROUP, robot];
  return `${group}.${name}`;
}

export const robotAt = (group: string, name: string): string =>
  group === NO_GROUP ? name : group === '*' ? '*' : `${group}/${name}`;

/** Whether a robot is one of these: names, `GROUP/*` or `*`. */
export const covers = (patterns: readonly string[], robot: string): boolean =>
  patterns.some(
    (each) => each === robot || each === '*' || (each.endsWith('/*') && robot.startsWith(each.slice(0, -1))),
  );

/** For a robot's files and buckets. Names have no capital letters, so two robots never share one. */
export const flatName = (robot: string): string => robot.replace('/', '_G_');

/** Requests of people to the lease service, and those of the robot itself. */
export const LEASE_VERBS = ['take', 'renew', 'release', 'away', 'look'] as const;
export const ROBOT_LEASE_VERBS = ['keep', 'drop'] as const;
export type LeaseVerb = (typeof LEASE_VERBS)[number] | (typeof ROBOT_LEASE_VERBS)[number];
export const RECORDING_VERBS = ['put', 'get', 'list'] as const;
export type RecordingVerb = (typeof RECORDING_VERBS)[number];

/** Who answers: a service of the store, the robot, or the roster. */
export type Responder = 'store' | 'robot' | 'roster';

export const subjects = {
  presence: (robot: string): string => `farhand.presence.${addressOf(robot)}`,
  telemetry: (robot: string): string => `farhand.telemetry.${addressOf(robot)}`,
  event: (robot: string): string => `farhand.event.${addressOf(robot)}`,
  /** Requests to a robot, answered by it; the broker guarantees `user`. The robot subscribes to `*`. */
  signal: (robot: string, user: string): string => `farhand.signal.${addressOf(robot)}.${user}`,
  estop: (robot: string, user: string): string => `farhand.estop.${addressOf(robot)}.${user}`,
  /** Between operators: requests to hand a robot over; `user` is the sender. */
  ask: (robot: string, user: string): string => `farhand.ask.${addressOf(robot)}.${user}`,
  /** Who did what; `user` is the name in the credentials. */
  audit: (robot: string, user: string): string => `farhand.audit.${addressOf(robot)}.${user}`,
  /** To the lease service. */
  lease: (verb: LeaseVerb | '*', robot: string, user: string): string =>
    `farhand.lease.${verb}.${addressOf(robot)}.${user}`,
  /** Signed changes of a robot's lease, from the lease service. */
  leased: (robot: string): string => `farhand.leased.${addressOf(robot)}`,
  /** To the service that stores recordings. */
  recording: (verb: RecordingVerb | '*', robot: string, user: string): string =>
    `farhand.rec.${verb}.${addressOf(robot)}.${user}`,
  /** A new or changed entry of the index of recordings, from that service. */
  recorded: (robot: string): string => `farhand.recorded.${addressOf(robot)}`,
  /** To the service that reads the log. */
  log: (robot: string, user: string): string => `farhand.log.${addressOf(robot)}.${user}`,
  /** To the roster; `group`: `-` for all robots. */
  roster: (group: string, user: string): string => `farhand.roster.${group}.${user}`,
  /** Every answer: never to a reply subject, which the requester could choose. */
  answer: (user: string, by: Responder | '*', robot: string, id: string): string =>
    `farhand.answer.${user}.${by}.${addressOf(robot)}.${id}`,
  /** All answers to a user. */
  answers: (user: string): string => `farhand.answer.${user}.>`,
} as const;

/** The robot and the user in a subject that ends with both. */
export function sentBy(subject: string): { robot: string; user: string } {
  const [group = '', name = '', user = ''] = subject.split('.').slice(-3);
  return { robot: robotAt(group, name), user };
}

/** The robot in a subject that ends with it. */
export function robotIn(subject: string): string {
  const [group = '', name = ''] = subject.split('.').slice(-2);
  return robotAt(group, name);
}
