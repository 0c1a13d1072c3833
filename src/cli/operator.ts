import type { RoleReady } from '../app/role.ts';
import { roleVerb } from './role-verb.ts';

const describe = (info: RoleReady): string =>
  `operator ready: desk on UDP ${info.ports[3]}; ${info.security} link over ${info.reactor}, ${info.stampSource} receive stamps, ${info.scheduling} scheduling` +
  (info.tracePath ? `; tracing to ${info.tracePath}` : '') +
  (info.fallback ? `\n  ${info.fallback}` : '');

export const operatorVerb = roleVerb(
  'operator',
  'Runs the operator role: input device, mapping, link client and trace.',
  describe,
);
