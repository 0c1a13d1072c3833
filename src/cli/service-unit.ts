/** A role as a systemd service. */
export interface ServiceUnit {
  /** `fleet`: the services of a fleet, beside one of its servers. */
  role: 'robot' | 'operator' | 'console' | 'fleet';
  /** Account it runs as; systemd does not start it as root. */
  user: string;
  rig: string;
  /** A robot joins this fleet; a console shows it. */
  fleet?: { url: string; credentials: string };
  overrides: readonly string[];
  /** Absolute paths. */
  node: string;
  bin: string;
  workingDirectory: string;
  /** Home of the account: its keys and settings are below it. */
  home: string;
  /** Highest SCHED_FIFO priority that the control thread may request. */
  realtimePriority: number;
}

export const unitName = (role: ServiceUnit['role']): string => `farhand-${role}.service`;

/**
 * The text of the unit. A role that fails is restarted: a robot starts disarmed, and an operator does not engage
 * automatically, so a restart moves nothing. After five failures in a minute the unit stays down.
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
    // An operator may have a long recording to finish; it gives up on its own when the disk is stuck.
    `TimeoutStopSec=${unit.role === 'operator' ? 600 : 10}`,
    'Restart=on-failure',
    'RestartSec=1',
    `LimitRTPRIO=${unit.realtimePriority}`,
    'LimitMEMLOCK=infinity',
    'LimitNOFILE=65536',
    // When memory runs out, the kernel kills other processes first.
    'OOMScoreAdjust=-800',
    ...sandbox(unit),
    '',
    '[Install]',
    'WantedBy=multi-user.target',
    '',
  ];
  return lines.join('\n');
}

/**
 * What the process cannot do even if an attacker controls it. It may write only its folders, and reach only serial ports,
 * cameras, sound and input devices. V8 needs memory that is writable and executable, so that cannot be denied.
 */
const sandbox = ({ workingDirectory, home }: ServiceUnit): string[] => [
  'NoNewPrivileges=true',
  'CapabilityBoundingSet=',
  'ProtectSystem=strict',
  'ProtectHome=read-only',
  `ReadWritePaths=${quoted(workingDirectory)} ${quoted(`-${home}/.local/state`)}`,
  'PrivateTmp=true',
  'DevicePolicy=closed',
  ...['ttyUSB', 'ttyACM', 'ttyAMA', 'ttyS', 'video4linux', 'alsa', 'input'].map(
    (device) => `DeviceAllow=char-${device} rw`,
  ),
  ...['Clock', 'ControlGroups', 'Hostname', 'KernelLogs', 'KernelModules', 'KernelTunables'].map(
    (part) => `Protect${part}=true`,
  ),
  ...['Namespaces', 'SUIDSGID'].map((part) => `Restrict${part}=true`),
  'RestrictAddressFamilies=AF_INET AF_INET6 AF_UNIX AF_CAN AF_NETLINK',
  'LockPersonality=true',
  'RemoveIPC=true',
  'SystemCallArchitectures=native',
  'SystemCallFilter=@system-service',
  'SystemCallErrorNumber=EPERM',
];

function words({ role, fleet }: ServiceUnit): string[] {
  if (fleet === undefined) return [role];
  const { url, credentials } = fleet;
  if (role === 'console') return ['fleet', 'console', '--server', url, '--creds', credentials];
  if (role === 'fleet') return ['fleet', 'serve', '--server', url, '--creds', credentials];
  return [role, '--fleet', url, '--creds', credentials];
}

/** Quotes a word for a systemd command line, where `%` and `$` are special. */
function quoted(word: string): string {
  const safe = word.replaceAll('%', '%%').replaceAll('$', '$$$$');
  return /^[\w@%+=:,./$-]+$/.test(safe) ? safe : `"${safe.replaceAll('\\', '\\\\').replaceAll('"', '\\"')}"`;
}
