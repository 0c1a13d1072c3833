import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { TeleopError } from '../core/errors.ts';
import { packageRoot } from '../files/package-root.ts';
import { writeWhole } from '../files/write-whole.ts';
import { loadRig } from '../rig/rig.ts';
import { expectWords, type Given, RIG_OPTION, type Verb } from './arguments.ts';
import { type ServiceUnit, unitName, unitText } from './service-unit.ts';

const ROLES = ['robot', 'operator', 'console', 'fleet'] as const;
const FOLDER = '/etc/systemd/system';
const ACCOUNTS = '/etc/passwd';
const MAX_PRIORITY = 80;

export const serviceVerb: Verb = {
  name: 'service',
  usage:
    'install robot|operator|console|fleet [--rig NAME|FILE] [--user NAME] [--fleet URL --creds FILE] [--dry-run] [key=value …]',
  about: 'Starts a role at boot, as a systemd service with real-time limits.',
  details: `Writes ${FOLDER}/farhand-ROLE.service and enables it, but does not start it. Checks the rig first, so
a service is never installed with invalid settings. A restarted robot is disarmed. \`fleet\` is \`farhand fleet serve\`.`,
  examples: [
    'farhand service install robot --rig /etc/farhand/arm.yaml --user robot --dry-run',
    'farhand service install robot --rig /etc/farhand/arm.yaml --user robot',
  ],
  options: {
    rig: RIG_OPTION,
    user: { type: 'string', value: 'NAME', about: 'account to run as (default: yours, also under sudo)' },
    dir: {
      type: 'string',
      value: 'DIR',
      about: 'working folder, for traces and recordings (default: the account’s home)',
    },
    fleet: { type: 'string', value: 'URL', about: 'robot, console, fleet: address of the broker' },
    creds: { type: 'string', value: 'FILE', about: 'credentials from `farhand fleet user`' },
    'dry-run': { type: 'boolean', about: 'print the unit and the commands; change nothing' },
  },
  async run(given: Given) {
    expectWords(serviceVerb, given, 2, 2);
    const unit = unitOf(given);
    const file = path.join(FOLDER, unitName(unit.role));
    const steps = [
      ['systemctl', 'daemon-reload'],
      ['systemctl', 'enable', unitName(unit.role)],
    ];
    if (given.values['dry-run'] === true) {
      console.log(unitText(unit));
      console.log(`# would be written to ${file}, then: ${steps.map((step) => step.join(' ')).join('; ')}`);
      return 0;
    }
    install(file, unitText(unit));
    for (const [program, ...args] of steps) run(program!, args);
    console.log(`${file} is enabled. Start it: sudo systemctl start ${unitName(unit.role)}`);
    console.log(`Show its log: journalctl -u ${unitName(unit.role)} -f`);
    return 0;
  },
};

function unitOf(given: Given): ServiceUnit {
  const [action, role] = given.words;
  if (action !== 'install' || !isRole(role))
    throw new TeleopError('bad-option', `there is no \`service ${action} ${role}\``, {
      hint: `Use \`farhand service install ${ROLES.join('|')}\`.`,
    });
  const rig = String(given.values['rig'] ?? 'demo');
  loadRig(rig, given.overrides);
  const user = String(given.values['user'] ?? process.env['SUDO_USER'] ?? os.userInfo().username);
  if (user === 'root')
    throw new TeleopError('bad-option', 'a Farhand service must not run as root', {
      hint: 'Give another account: --user NAME. It needs no privileges; the unit allows real-time scheduling.',
    });
  return {
    role,
    user,
    rig: existsSync(rig) ? path.resolve(rig) : rig,
    ...fleetOf(given, role),
    overrides: given.overrides,
    node: process.execPath,
    bin: path.join(packageRoot, 'bin', 'farhand'),
    workingDirectory: path.resolve(String(given.values['dir'] ?? homeOf(user))),
    home: homeOf(user),
    realtimePriority: MAX_PRIORITY,
  };
}

/** An operator of a fleet takes a lease, which must be a person's decision and must not happen at boot. */
function fleetOf({ values: { fleet, creds } }: Given, role: ServiceUnit['role']): Pick<ServiceUnit, 'fleet'> {
  if (fleet === undefined && creds === undefined && role !== 'fleet') return {};
  if (role === 'operator')
    throw new TeleopError('bad-option', 'a fleet operator cannot be a service', {
      hint: 'A person must take the lease: `farhand fleet operate ROBOT`, or the page of `farhand fleet console`.',
    });
  if (typeof fleet !== 'string' || typeof creds !== 'string')
    throw new TeleopError('bad-option', '--fleet and --creds go together', {
      hint: 'Give the broker’s address and a credentials file: `farhand fleet user` creates it.',
    });
  if (!existsSync(creds))
    throw new TeleopError('file-missing', `there is no file ${creds}`, {
      hint: 'Copy the credentials to this machine first, readable by the account of the service.',
    });
  return { fleet: { url: fleet, credentials: path.resolve(creds) } };
}

/** As in the list of accounts, or where it would be. */
function homeOf(user: string): string {
  const accounts = existsSync(ACCOUNTS) ? readFileSync(ACCOUNTS, 'utf8').split('\n') : [];
  const fields = accounts.find((line) => line.startsWith(`${user}:`))?.split(':');
  return fields?.[5] ?? `/home/${user}`;
}

const isRole = (name: string | undefined): name is ServiceUnit['role'] => ROLES.some((role) => role === name);

function install(file: string, text: string): void {
  writeWhole(file, text, {
    folderMode: 0o755,
    hint: 'Run it with sudo, or use --dry-run to see what it would do.',
  });
}

function run(program: string, args: readonly string[]): void {
  const { status, stderr, error } = spawnSync(program, [...args], { encoding: 'utf8' });
  if (status === 0) return;
  throw new TeleopError(
    'child-failed',
    `${program} ${args.join(' ')}: ${(error?.message ?? stderr).trim()}`,
    {
      hint: 'The unit file is in place, but this machine may not use systemd.',
    },
  );
}
