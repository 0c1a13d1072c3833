import { recordingNames } from './recordings.ts';
import type { Permissions } from './roles.ts';
import { subjects } from './subjects.ts';

/**
 * A site is a separate server near some robots, a leaf node of the fleet's servers. It has its own stores,
 * which others reach as a domain of that name: `$JS.<site>.API…`.
 */
const ofAnySite = (subject: string): string => `$JS.*.API.${subject}`;

/** To read the leases of robots at any site. */
export const siteLeaseReads = (robots: readonly string[]): string[] =>
  robots.map((robot) => ofAnySite(subjects.leaseGet(robot).slice('$JS.API.'.length)));

/** To hold the leases of robots at any site. */
export const siteLeaseWrites = (robots: readonly string[]): string[] =>
  robots.map((robot) => ofAnySite(subjects.lease(robot)));

/**
 * What passes between a site and the fleet. `site` is the name of the credentials and of the server. Its
 * robots' reports go out, requests to them come in; stores stay separate.
 */
export function sitePermissions(site: string, robots: readonly string[]): Permissions {
  const reported = [subjects.presence, subjects.telemetry, subjects.event];
  return {
    pub: [
      ...reported.flatMap((subject) => robots.map(subject)),
      ...robots.map((robot) => subjects.audit(robot, '*')),
      ...robots.map((robot) => subjects.ask(robot, '*')),
      ...robots.map((robot) => recordingNames.entry(robot, '*')),
      // Answers to requests.
      '_INBOX.>',
    ],
    sub: [
      ...robots.map((robot) => subjects.signal(robot, '*')),
      ...robots.map((robot) => subjects.estop(robot, '*')),
      ...robots.map((robot) => subjects.ask(robot, '*')),
      `$JS.${site}.API.>`,
    ],
  };
}
