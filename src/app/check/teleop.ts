import { execFile } from 'node:child_process';
import path from 'node:path';
import { promisify } from 'node:util';
import { loopback, type Place } from '../../check/place.ts';
import { TeleopError } from '../../core/errors.ts';
import { askOperator } from '../../desk/ask.ts';
import { packageRoot } from '../../files/package-root.ts';
import type { Rig } from '../../rig/rig.ts';

const WITHIN_MS = 10_000;

/** Arms the robot if necessary and makes the operator follow the hand. Throws `not-confirmed`. */
export async function switchToTeleop(place: Place, rig: Rig, operatorArgs: readonly string[]): Promise<void> {
  for (const kind of ['arm', 'teleop']) {
    if (place === loopback) await askOperator(rig, kind, WITHIN_MS);
    else await askInside(place, kind, operatorArgs);
  }
}

const DISARM_MS = 2000;

/** Leaves a robot on another machine idle. Where this fails, the robot's own watchdog does it. */
export async function disarm(rig: Rig): Promise<void> {
  await askOperator(rig, 'disarm', DISARM_MS).catch(() => {});
}

/** The operator's desk listens on the loopback of its own namespace. */
async function askInside(place: Place, kind: string, args: readonly string[]): Promise<void> {
  const bin = path.join(packageRoot, 'bin', 'farhand');
  const asking = [process.execPath, bin, 'ask', kind, '--within', String(WITHIN_MS), ...args];
  const [command, ...rest] = place.at('tx', asking);
  try {
    await promisify(execFile)(command!, rest);
  } catch (cause) {
    const reported = String((cause as { stderr?: string }).stderr ?? '').trim();
    throw new TeleopError('not-confirmed', reported.split('\n')[0] || `${kind} was not confirmed`, {
      hint: 'Run `farhand demo --headless --duration 5` to see what the robot reports.',
      cause,
    });
  }
}
