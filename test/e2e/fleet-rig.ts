import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Authority, issue } from '../../src/fleet/authority.ts';
import type { FleetRole } from '../../src/fleet/roles.ts';
import type { Running } from './farhand.ts';

/** A transition of the supervisor, as a robot process prints it with `--json`. */
export interface Transition {
  kind: string;
  from: string;
  to: string;
  cause: string;
  robotNs: number;
}

/** Writes credentials for the robot `arm`, valid for an hour, to a file. */
export async function writeCredentials(
  authority: Authority,
  folder: string,
  name: string,
  role: FleetRole,
  robots: readonly string[] = ['arm'],
): Promise<string> {
  const file = path.join(folder, `${name}.creds`);
  const who = { name, role, robots, seconds: 3600 };
  writeFileSync(file, await issue(authority, who, Date.now() / 1000), { mode: 0o600 });
  return file;
}

export const transitionsOf = (robot: Running): Transition[] =>
  robot
    .stdout()
    .split('\n')
    .filter((line) => line.includes('"transition"'))
    .map((line) => JSON.parse(line) as Transition);

/** The first transition to `to` after the first `seen`; `more` adds context to the error. */
export async function nextTransition(
  robot: Running,
  seen: number,
  to: string,
  withinMs: number,
  more: () => string = () => '',
): Promise<Transition> {
  for (const untilMs = performance.now() + withinMs; performance.now() < untilMs; await sleep(5)) {
    const found = transitionsOf(robot)
      .slice(seen)
      .find((transition) => transition.to === to);
    if (found) return found;
  }
  throw new Error(`not ${to} within ${withinMs} ms:\n${robot.stdout()}\n${robot.stderr()}\n${more()}`);
}
