import { spawnSync } from 'node:child_process';
import { accessSync, constants } from 'node:fs';
import path from 'node:path';

interface Tool {
  found: () => boolean;
  /** How to get it. */
  install: string;
  /** `.ci/run` installs it: if it is missing there, tests fail. */
  inCi?: true;
}

function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

const onPath = (name: string): boolean =>
  (process.env['PATH'] ?? '').split(path.delimiter).some((folder) => isExecutable(path.join(folder, name)));

const program = (name: string, packages = name) => ({
  found: () => onPath(name),
  install: `apt-get install ${packages}`,
});

const runs = (command: string, ...args: string[]): boolean => spawnSync(command, args).status === 0;

/** Where browsers are installed, unless one is named. */
const chosen = (named: string | undefined): string[] => (named === undefined ? BROWSERS : [named]);
const BROWSERS = [
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
];
/** The browser that tests drive, or null. */
export const chromiumPath = chosen(process.env['FARHAND_CHROMIUM']).find(isExecutable) ?? null;
export const PYTHON = process.env['PYTHON'] ?? 'python3';

const VETH = ['ip', 'link', 'add', 'name', 'one', 'type', 'veth', 'peer', 'name', 'two'];
const TMPFS = 'mount -t tmpfs -o size=64k none /mnt';

const TOOLS = {
  chromium: {
    found: () => chromiumPath !== null,
    install: 'apt-get install chromium, or set FARHAND_CHROMIUM to a browser',
    inCi: true,
  },
  ffmpeg: { ...program('ffmpeg'), inCi: true },
  'nats-server': { ...program('nats-server'), inCi: true },
  turnserver: { ...program('turnserver', 'coturn'), inCi: true },
  ip: { ...program('ip', 'iproute2'), inCi: true },
  python: {
    found: () => runs(PYTHON, '-c', 'import venv'),
    install: 'apt-get install python3 python3-venv, or set PYTHON to an interpreter',
  },
  websockets: {
    found: () => runs(PYTHON, '-c', 'import websockets.sync.client'),
    install: 'pip install websockets, or set PYTHON to an interpreter that has it',
  },
  openssl: program('openssl'),
  'systemd-analyze': program('systemd-analyze', 'systemd'),
  bash: program('bash'),
  zsh: program('zsh'),
  fish: program('fish'),
  script: program('script', 'bsdutils'),
  cc: program('cc', 'gcc'),
  Linux: { found: () => process.platform === 'linux', install: 'run these tests on Linux' },
  'an ordinary user': { found: () => process.getuid?.() !== 0, install: 'do not run these tests as root' },
  'network namespaces': {
    found: () => runs('unshare', '-n', ...VETH),
    install: 'run as root, outside a container that forbids `unshare -n`',
  },
  'time namespaces': {
    found: () => runs('unshare', '--time', '--monotonic', '5000', '--fork', 'true'),
    install: 'run as root on Linux 5.6 or newer, outside a container that forbids `unshare --time`',
  },
  mounts: {
    found: () => runs('unshare', '-m', 'sh', '-c', TMPFS),
    install: 'run as root, or with CAP_SYS_ADMIN',
  },
  root: { found: () => process.getuid?.() === 0, install: 'run these tests as root' },
  'private mounts': {
    found: () => runs('unshare', '-rm', 'sh', '-c', TMPFS),
    install: 'run outside a container that forbids `unshare -rm`',
  },
} satisfies Record<string, Tool>;
export type ToolName = keyof typeof TOOLS;

/** Why a test that needs these cannot run here; false where it can. The runner counts skipped tests. */
export function needs(...names: readonly ToolName[]): string | false {
  for (const name of names) {
    const tool: Tool = TOOLS[name];
    if (!tool.found()) return absent(name, tool.install, tool.inCi ?? false);
  }
  return false;
}

/** The same for an optional Node package. */
export async function needsPackage(name: string): Promise<string | false> {
  const loads = await import(name).then(
    () => true,
    () => false,
  );
  return loads ? false : absent(name, `npm install ${name}`, true);
}

/** For requirements that only the test itself can check. */
export function absent(name: string, install: string, inCi: boolean): string {
  if (inCi && process.env['CI'] === 'true') throw new Error(`CI must have ${name}: ${install}`);
  return `needs ${name}: ${install}`;
}
