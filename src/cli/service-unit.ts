/** A role as a systemd service. */
export interface ServiceUnit {
  role: 'robot' | 'operator' | 'console';
  /** Account it runs as; systemd does not start it as root. */
  user: string;
  rig: string;
  /** Of a broker: a robot takes part in its fleet, a console is the fleet's. */
  fleet?: { url: string; credentials: string };
  overrides: readonly string[];
  /** Absolute paths. */
  node: string;
  bin: string;
  workingDirectory: string;
  /** Highest SCHED_FIFO priority the control thread may ask for. */
  realtimePriority: number;
}

export const unitName = (role: ServiceUnit['role']): string => `farhand-${role}.service`;

/**
 * The text of the unit. A role that ends by itself is started again: a robot comes up disarmed, and an operator does
 * not engage by itself, so a restart moves nothing. What ends five times in a minute stays down, for somebody to look.
 */
export function unitText(unit: ServiceUnit): string {
  const command = [unit.node, unit.bin, ...words(unit), '--rig', unit.rig, ...unit.overrides]
    .map(quoted)
    .join(' ');
  const lines = [
    '[Unit]',
    `Description=Farhand ${unit.role}`,
    'After=network-online.target',
    'Wants=network-online.target',
    'StartLimitIntervalSec=60',
    'StartLimitBurst=5',
    '',
    '[Service]',
    `User=${unit.user}`,
    `WorkingDirectory=${unit.workingDirectory}`,
    `ExecStart=${command}`,
    // SIGTERM is a clean end: the robot comes to rest and the last trace lines are written.
    'KillSignal=SIGTERM',
    'KillMode=mixed',
    // An operator may have a long recording to finish, and gives up by itself when the disk is stuck.
    `TimeoutStopSec=${unit.role === 'operator' ? 600 : 10}`,
    'Restart=on-failure',
    'RestartSec=1',
    `LimitRTPRIO=${unit.realtimePriority}`,
    'LimitMEMLOCK=infinity',
    'LimitNOFILE=65536',
    // When memory runs out, something else goes first.
    'OOMScoreAdjust=-800',
    'NoNewPrivileges=true',
    'ProtectSystem=full',
    'PrivateTmp=true',
    '',
    '[Install]',
    'WantedBy=multi-user.target',
    '',
  ];
  return lines.join('\n');
}

function words({ role, fleet }: ServiceUnit): string[] {
  if (fleet === undefined) return [role];
  const { url, credentials } = fleet;
  if (role === 'console') return ['fleet', 'console', '--server', url, '--creds', credentials];
  return [role, '--fleet', url, '--creds', credentials];
}

/** As systemd reads a command line: `%` and `$` mean something to it. */
function quoted(word: string): string {
  const safe = word.replaceAll('%', '%%').replaceAll('$', '$$$$');
  return /^[\w@%+=:,./$-]+$/.test(safe) ? safe : `"${safe.replaceAll('\\', '\\\\').replaceAll('"', '\\"')}"`;
}
