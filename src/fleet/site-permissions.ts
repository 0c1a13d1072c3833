import { recordingNames } from './recordings.ts';
import type { Permissions } from './roles.ts';
import { subjects } from './subjects.ts';

/**
 * A site is a server of its own near some robots, a leaf node of the fleet's. It has stores of its own, which others reach
 * as a domain of that name: `$JS.<site>.API…`.
 */
const ofAnySite = (subject: string): string => `$JS.*.API.${subject}`;

/** To read the leases of robots at any site. */
export const siteLeaseReads = (robots: readonly string[]): string[] =>
  robots.map((robot) => ofAnySite(subjects.leaseGet(robot).slice('$JS.API.'.length)));

/** To hold the leases of robots at any site. */
export const siteLeaseWrites = (robots: readonly string[]): string[] =>
  robots.map((robot) => ofAnySite(subjects.lease(robot)));

/**
 * What passes between a site and the fleet. `site` is the name of the credentials and of the server. What its robots tell
 * goes out, requests to them come in; stores stay apart.
 */
export function sitePermissions(site: string, robots: readonly string[]): Permissions {
  const reported = [subjects.presence, subjects.telemetry, subjects.event];
  return {
    pub: [
      ...reported.flatMap((subject) => robots.map(subject)),
      ...robots.map((robot) => subjects.audit(robot, '*')),
      ...robots.map((robot) => subjects.ask(robot, '*')),
      ...robots.map((robot) => recordingNames.entry(robot, '*')),
      // Answers to whoever asked.
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
