import { announced } from '../app/fleet/announced.ts';
import { robotCompanion } from '../app/fleet/companion.ts';
import { TeleopError } from '../core/errors.ts';
import { isLoopback } from '../core/loopback.ts';
import type { RoleReady } from '../messages/role-report.ts';
import type { Rig } from '../rig/rig.ts';
import type { Given } from './arguments.ts';
import { roleVerb } from './role-verb.ts';

function describe(info: RoleReady, rig: Rig): string {
  const { listenHost } = rig.link;
  const [command, state, sync] = info.ports;
  const lines = [
    `robot ready on ${listenHost}: commands on port ${command}, state ${state}, clock ${sync}`,
    `  ${info.security} link over ${info.reactor}, ${info.stampSource} receive stamps, ${info.scheduling} scheduling`,
  ];
  if (!isLoopback(listenHost))
    lines.push('  open to the network: any machine paired with this one can drive the robot');
  if (rig.robot.allowTakeover) lines.push('  takeover allowed: a new operator replaces the one in control');
  if (info.fallback) lines.push(`  ${info.fallback}`);
  return lines.join('\n');
}

export const robotVerb = roleVerb(
  'robot',
  'Runs the robot role: link server, playout, supervisor and driver.',
  [
    'farhand robot --rig ur3',
    'farhand robot --rig piper --listen 192.168.1.20 --announce "left cell"',
    'farhand robot --rig ./arm.yaml robot.speedPercent=30',
  ],
  describe,
  {
    listen: {
      type: 'string',
      value: 'ADDRESS',
      about: 'listen on this address instead of loopback (link.listenHost)',
      key: 'link.listenHost',
    },
    announce: {
      type: 'string',
      value: 'NAME',
      about: 'let `farhand discover` find this robot on the local network (link.announce)',
      key: 'link.announce',
    },
    takeover: {
      type: 'boolean',
      about: 'let a new operator take control from one that still holds it',
      key: 'robot.allowTakeover',
    },
  },
  {
    options: {
      fleet: { type: 'string', value: 'URL', about: 'join the fleet of this broker; opens no port' },
      creds: { type: 'string', value: 'FILE', about: 'credentials from `farhand fleet user`' },
      name: { type: 'string', value: 'NAME', about: 'name in the fleet (default: from the credentials)' },
    },
    async companion(given: Given, rig: Rig) {
      const { fleet, creds, name } = given.values;
      if (typeof fleet !== 'string' && creds === undefined && name === undefined) return null;
      if (typeof fleet !== 'string' || typeof creds !== 'string')
        throw new TeleopError('bad-option', '--fleet and --creds go together', {
          hint: 'Give the broker’s address and a credentials file: `farhand fleet dev` prints both.',
        });
      const [access, own] = [{ url: fleet, credentials: creds }, typeof name === 'string' ? name : ''];
      return announced(await robotCompanion(rig, access, own), access, own);
    },
  },
);
