import path from 'node:path';
import { createInterface } from 'node:readline';
import { announced } from '../app/fleet/announced.ts';
import { type OperateOptions, operatorCompanion } from '../app/fleet/companion.ts';
import { TeleopError } from '../core/errors.ts';
import { stateFolder } from '../files/state-folder.ts';
import { askAudit, createAudit, readAudit } from '../fleet/audit.ts';
import { connectFleet, type FleetConnection } from '../fleet/connection.ts';
import { LeaseBucket } from '../fleet/leases/lease-bucket.ts';
import { LeaseClient } from '../fleet/leases/lease-client.ts';
import { logText } from '../fleet/log-text.ts';
import type { Presence } from '../fleet/messages.ts';
import { requestEstop } from '../fleet/request-estop.ts';
import { roster } from '../fleet/roster/listen-for-robots.ts';
import { versionWarning } from '../fleet/server-version.ts';
import { ROBOT_NAME } from '../fleet/subjects.ts';
import type { FleetConfig } from '../rig/fleet-config.ts';
import { loadRig } from '../rig/rig.ts';
import { type Given, numberOption } from './arguments.ts';
import { describeOperator } from './operator.ts';
import { loadRole, runRole } from './role-verb.ts';

export const LOCAL_BROKER = 'nats://127.0.0.1:4222';
const LOG_LINES = 50;

/** Fleet settings from the rig and the command line. */
export const fleetSettings = (given: Given): FleetConfig =>
  loadRig(String(given.values['rig'] ?? 'demo'), given.overrides).config.fleet;

export const accessOf = (given: Given, user: string) => ({
  url: String(given.values['server'] ?? given.values['url'] ?? LOCAL_BROKER),
  credentials: String(given.values['creds'] ?? path.join(stateFolder(), 'fleet', `${user}.creds`)),
});

/** Every action but `operate` connects to the broker briefly. */
function withBroker(
  words: number,
  user: string,
  run: (connection: FleetConnection, robot: string, given: Given) => Promise<number>,
): (given: Given) => Promise<number> {
  return async (given) => {
    const robot = robotOf(given, words);
    const { url, credentials } = accessOf(given, user);
    const connection = await connectFleet(url, credentials, fleetSettings(given));
    try {
      return await run(connection, robot, given);
    } finally {
      await connection.close();
    }
  };
}

function robotOf({ words: [action = '', name = ''], words }: Given, needed: number): string {
  if (words.length > 2 || (needed === 0 && words.length > 1) || (name !== '' && !ROBOT_NAME.test(name)))
    throw new TeleopError('bad-option', `fleet ${action} does not take "${words.at(-1)}"`, {
      hint: 'See `farhand fleet --help`.',
    });
  if (needed === 2 && name === '')
    throw new TeleopError('bad-option', `fleet ${action} needs the name of a robot`, {
      hint: '`farhand fleet ls` lists them.',
    });
  return name;
}

async function ls(connection: FleetConnection, _robot: string, given: Given): Promise<number> {
  const robots = await roster(connection);
  if (given.values['json'] === true) for (const robot of robots) console.log(JSON.stringify(robot));
  else if (robots.length === 0) console.log('no robots online, or none that these credentials may see');
  else
    console.log(table([['robot', 'model', 'state', 'driven by', 'round trip', 'version'], ...rows(robots)]));
  return 0;
}

const rows = (robots: readonly Presence[]): string[][] =>
  robots.map(({ robot, model, state, holder, link, version }) => [
    robot,
    model,
    state,
    holder ?? '–',
    link?.rttMs == null ? '–' : `${link.rttMs} ms`,
    version,
  ]);

function table(lines: readonly (readonly string[])[]): string {
  const widths = lines[0]!.map((_, i) => Math.max(...lines.map((line) => line[i]!.length)));
  return lines
    .map((line) =>
      line
        .map((cell, i) => cell.padEnd(widths[i]!))
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
}

async function show(connection: FleetConnection, robot: string, given: Given): Promise<number> {
  const [[presence], lease] = await Promise.all([
    roster(connection, robot),
    new LeaseClient(connection).look(robot),
  ]);
  const found = { robot, presence: presence ?? null, lease };
  if (given.values['json'] === true) console.log(JSON.stringify(found));
  else if (presence === undefined) console.log(`${robot} is offline, or these credentials may not see it`);
  else {
    const { model, state, cause, link, version } = presence;
    console.log(`${robot}: ${model}, Farhand ${version}\n  ${state} (${cause})`);
    console.log(`  lease: ${lease === null ? 'free' : `${lease.user}, token ${lease.token}`}`);
    if (link !== null)
      console.log(
        `  link: round trip ${link.rttMs ?? '–'} ms, ${link.fromOperatorHz?.toFixed(0)} datagrams/s in, ${link.toOperatorHz?.toFixed(0)} out`,
      );
  }
  return presence === undefined ? 1 : 0;
}

async function operate(given: Given): Promise<number> {
  const robot = robotOf(given, 2);
  const { config, notes } = await loadRole(
    'operator',
    String(given.values['rig'] ?? 'demo'),
    given.overrides,
  );
  for (const note of notes) console.error(`farhand: ${note}`);
  const audioPort = numberOption(given, 'audio', 1024, 65_534) ?? undefined;
  const access = accessOf(given, 'me');
  const json = given.values['json'] === true;
  const options = {
    audioPort,
    askHolder: given.values['ask'] === true,
    requested: askAtTerminal(robot, json),
  };
  const companion = announced(await operatorCompanion(config, access, robot, options), access, robot);
  try {
    return await runRole('operator', config, json, describeOperator, companion);
  } finally {
    process.stdin.destroy();
  }
}

/** Shows another operator's request; the next line on standard input that begins with y or n answers it. */
function askAtTerminal(robot: string, json: boolean): NonNullable<OperateOptions['requested']> {
  let answer: ((yes: boolean) => void) | null = null;
  let isListening = false;
  const listen = () => {
    if (isListening) return;
    isListening = true;
    createInterface({ input: process.stdin }).on('line', (line) => {
      const letter = line.trim().charAt(0).toLowerCase();
      if (letter === 'y' || letter === 'n') answer?.(letter === 'y');
      if (letter === 'y' || letter === 'n') answer = null;
    });
  };
  return (from, answered) => {
    answer = answered;
    listen();
    if (json) console.log(JSON.stringify({ kind: 'requested', from }));
    else console.log(`${from} requests ${robot}. Type y and Enter to hand it over, n to keep it.`);
  };
}

async function release(connection: FleetConnection, robot: string): Promise<number> {
  const lease = await new LeaseClient(connection).takeAway(robot);
  if (lease === null) console.log(`${robot} is free`);
  else console.log(`${robot}: lease taken from ${lease.user}; the robot is free now`);
  return 0;
}

async function estop(connection: FleetConnection, robot: string): Promise<number> {
  const startMs = performance.now();
  const failed = (what: string, cause?: unknown) =>
    new TeleopError('not-confirmed', `e-stop of ${robot} not confirmed: ${what}`, {
      hint: 'Use the robot’s hardware emergency stop.',
      cause,
    });
  const state = await requestEstop(connection, robot).catch((cause: unknown) => {
    throw cause instanceof TeleopError && cause.code === 'fleet-refused' ? cause : failed('no reply', cause);
  });
  if (state !== 'stopped') throw failed(`it is ${state}`);
  console.log(`${robot} stopped, ${(performance.now() - startMs).toFixed(0)} ms`);
  return 0;
}

async function logs(connection: FleetConnection, robot: string, given: Given): Promise<number> {
  const most = numberOption(given, 'count', 1, 10_000) ?? LOG_LINES;
  // An administrator reads the store itself; an operator asks for the log of one robot.
  const isAdministrator = connection.robots.length === 0;
  const lines = await (isAdministrator
    ? readAudit(connection.nats, robot === '' ? '*' : robot, most)
    : askAudit(connection, expectRobot(robot), Math.min(most, 1000)));
  if (lines.length === 0 && given.values['json'] !== true) console.log('the log is empty');
  for (const line of lines) console.log(given.values['json'] === true ? JSON.stringify(line) : logText(line));
  return 0;
}

function expectRobot(robot: string): string {
  if (robot !== '') return robot;
  throw new TeleopError('bad-option', 'only an administrator may read the log of all robots', {
    hint: 'Name a robot: `farhand fleet logs ROBOT`, or use --creds admin.creds.',
  });
}

async function setup({ nats }: FleetConnection, _robot: string, given: Given): Promise<number> {
  const replicas = numberOption(given, 'replicas', 1, 5) ?? 1;
  const warning = versionWarning(nats.info?.version ?? '');
  if (warning !== null) console.error(`farhand: ${warning}`);
  await LeaseBucket.create(nats, replicas);
  await createAudit(nats, replicas);
  console.log('lease store and log are ready');
  return 0;
}

export const FLEET_ACTIONS: Record<string, (given: Given) => Promise<number>> = {
  setup: withBroker(0, 'admin', setup),
  ls: withBroker(0, 'me', ls),
  show: withBroker(2, 'me', show),
  operate,
  release: withBroker(2, 'me', release),
  estop: withBroker(2, 'me', estop),
  logs: withBroker(1, 'admin', logs),
};
