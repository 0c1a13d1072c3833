import type { RoleReady } from '../app/role.ts';
import { roleVerb } from './role-verb.ts';

const describe = (info: RoleReady): string =>
  `robot ready: commands on UDP ${info.ports[0]}, state ${info.ports[1]}, clock ${info.ports[2]}; ${info.security} link over ${info.reactor}, ${info.stampSource} receive stamps, ${info.scheduling} scheduling` +
  (info.fallback ? `\n  ${info.fallback}` : '');

export const robotVerb = roleVerb(
  'robot',
  'Runs the robot role: link server, playout, supervisor and driver.',
  describe,
);
