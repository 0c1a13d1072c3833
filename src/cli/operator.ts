import type { RoleReady } from '../messages/role-report.ts';
import type { Rig } from '../rig/rig.ts';
import { RECORD_SHORTCUTS } from './record-options.ts';
import { roleVerb } from './role-verb.ts';

export function describeOperator(info: RoleReady, rig: Rig): string {
  const lines = [
    `operator ready for the robot at ${rig.link.robotHost}; desk on UDP port ${info.ports[3]}`,
    `  ${info.security} link over ${info.reactor}, ${info.stampSource} receive stamps, ${info.scheduling} scheduling`,
  ];
  for (const input of info.inputs) lines.push(`  listening for ${input}`);
  if (info.tracePath) lines.push(`  tracing to ${info.tracePath}`);
  if (info.fallback) lines.push(`  ${info.fallback}`);
  return lines.join('\n');
}

export const operatorVerb = roleVerb(
  'operator',
  'Runs the operator role: input device, mapping, link client and trace.',
  [
    'farhand operator --robot 192.168.1.20',
    'farhand operator operator.input=page operator.autoArm=false',
    'farhand operator --robot left-cell.local --record --task "stack the cubes"',
  ],
  describeOperator,
  {
    robot: {
      type: 'string',
      value: 'HOST',
      about: 'address of the robot (link.robotHost)',
      key: 'link.robotHost',
    },
    ...RECORD_SHORTCUTS,
  },
);
