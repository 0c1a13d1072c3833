import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { TeleopError } from '../core/errors.ts';
import { packageRoot } from '../files/package-root.ts';
import { writeWhole } from '../files/write-whole.ts';
import { loadRig } from '../rig/rig.ts';
import { expectWords, type Given, RIG_OPTION, type Verb } from './arguments.ts';
import { type ServiceUnit, unitName, unitText } from './service-unit.ts';

const ROLES = ['robot', 'operator', 'console'] as const;
const FOLDER = '/etc/systemd/system';
const MAX_PRIORITY = 80;

export const serviceVerb: Verb = {
  name: 'service',
  usage:
    'install robot|operator|console [--rig NAME|FILE] [--user NAME] [--fleet URL --creds FILE] [--dry-run] [key=value …]',
  about: 'Makes a role start with the machine, as a systemd service with real-time limits.',
  details: `Writes ${FOLDER}/farhand-ROLE.service and enables it; starting it is left to you. The rig is read first, so
that a service is not installed with settings that cannot run. A robot that is started again comes up disarmed.`,
  options: {
    rig: RIG_OPTION,
    user: { type: 'string', value: 'NAME', about: 'account to run as (default: yours, also under sudo)' },
    dir: {
      type: 'string',
      value: 'DIR',
      about: 'working folder, for traces and recordings (default: its home)',
    },
    fleet: { type: 'string', value: 'URL', about: 'robot, console: of the fleet of this broker' },
    creds: { type: 'string', value: 'FILE', about: 'credentials from `farhand fleet user`' },
    'dry-run': { type: 'boolean', about: 'print the unit and what would be done; change nothing' },
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
    console.log(`What it says: journalctl -u ${unitName(unit.role)} -f`);
    return 0;
  },
};

function unitOf(given: Given): ServiceUnit {
  const [action, role] = given.words;
  if (action !== 'install' || !isRole(role))
    throw new TeleopError('bad-option', `cannot ${action} a service "${role}"`, {
      hint: `It is \`farhand service install ${ROLES.join('|')}\`.`,
    });
  const rig = String(given.values['rig'] ?? 'demo');
  loadRig(rig, given.overrides);
  const user = String(given.values['user'] ?? process.env['SUDO_USER'] ?? os.userInfo().username);
  if (user === 'root')
    throw new TeleopError('bad-option', 'a service of Farhand does not run as root', {
      hint: 'Name an account: --user NAME. It needs no privileges; the unit gives it real-time scheduling.',
    });
  return {
    role,
    user,
    rig: existsSync(rig) ? path.resolve(rig) : rig,
    ...fleetOf(given, role),
    overrides: given.overrides,
    node: process.execPath,
    bin: path.join(packageRoot, 'bin', 'farhand'),
    workingDirectory: path.resolve(String(given.values['dir'] ?? `/home/${user}`)),
    realtimePriority: MAX_PRIORITY,
  };
}

/** An operator of the fleet is a person who takes a lease; nothing that starts with the machine should. */
function fleetOf({ values: { fleet, creds } }: Given, role: ServiceUnit['role']): Pick<ServiceUnit, 'fleet'> {
  if (fleet === undefined && creds === undefined) return {};
  if (role === 'operator')
    throw new TeleopError('bad-option', 'an operator of a fleet is no service', {
      hint: 'Somebody takes the lease: `farhand fleet operate ROBOT`, or the page of `farhand fleet console`.',
    });
  if (typeof fleet !== 'string' || typeof creds !== 'string')
    throw new TeleopError('bad-option', '--fleet and --creds go together', {
      hint: 'Give the address of the broker and a file of credentials: `farhand fleet user` makes it.',
    });
  if (!existsSync(creds))
    throw new TeleopError('file-missing', `there is no ${creds}`, {
      hint: 'Copy the credentials to this machine first, readable by the account it runs as.',
    });
  return { fleet: { url: fleet, credentials: path.resolve(creds) } };
}

const isRole = (name: string | undefined): name is ServiceUnit['role'] => ROLES.some((role) => role === name);

function install(file: string, text: string): void {
  writeWhole(file, text, {
    folderMode: 0o755,
    hint: 'Run it with sudo, or see what it would do: --dry-run.',
  });
}

function run(program: string, args: readonly string[]): void {
  const { status, stderr, error } = spawnSync(program, [...args], { encoding: 'utf8' });
  if (status === 0) return;
  throw new TeleopError(
    'child-failed',
    `${program} ${args.join(' ')}: ${(error?.message ?? stderr).trim()}`,
    {
      hint: 'The unit file is in place; this machine may not be run by systemd.',
    },
  );
}
