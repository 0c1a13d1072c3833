import { once } from 'node:events';
import { copyFileSync, existsSync } from 'node:fs';
import { createServer } from 'node:net';
import path from 'node:path';
import { TeleopError } from '../core/errors.ts';
import { stateFolder } from '../files/state-folder.ts';
import { PRIVATE, writeWhole } from '../files/write-whole.ts';
import { createAudit, createRobotAudit } from '../fleet/audit.ts';
import {
  type Authority,
  createAuthority,
  issue,
  type NewUser,
  openAuthority,
  revoke,
  rotateLeaseKey,
  serverAccounts,
} from '../fleet/authority.ts';
import { migrateAuthority } from '../fleet/authority-migrate.ts';
import { refusePlainServer } from '../fleet/broker-tls.ts';
import { connectFleet } from '../fleet/connection.ts';
import { LeaseBucket } from '../fleet/leases/lease-bucket.ts';
import { FLEET_ROLES, type FleetRole } from '../fleet/roles.ts';
import { serverConfig } from '../fleet/server-config.ts';
import { startServer } from '../fleet/server-process.ts';
import { rewriteServers } from '../fleet/server-rewrite.ts';
import { createRecordingBucket } from '../fleet/store/recording-store.ts';
import { startServices } from '../fleet/store/services.ts';
import { expectWords, type Given, JSON_OPTION, numberOption, RIG_OPTION, type Verb } from './arguments.ts';
import { FLEET_ACTIONS, fleetSettings, LOCAL_BROKER } from './fleet-actions.ts';
import { attempts } from './fleet-attempts.ts';
import { fleetConsole } from './fleet-console.ts';
import { RECORDING_ACTIONS, RECORDING_OPTIONS } from './fleet-recordings.ts';
import { leaseKeyFile, ROSTER_FILE, SERVE_OPTIONS, serve } from './fleet-serve.ts';
import { SERVER_OPTIONS, storeOf, tlsOf, writeServer } from './fleet-server.ts';
import { onEndRequest } from './process.ts';

const DAY_S = 86_400;
const PORT = 4222;
const DEV_ROOM_BYTES = 1e9;

export const fleetVerb: Verb = {
  name: 'fleet',
  usage:
    'init|dev|setup|server|serve|migrate|rotate-key|user|revoke|ls|show|operate|console|release|estop|logs|attempts|bucket|push|pull|recordings [NAME] [options]',
  about: 'Many robots and operators on one NATS broker: credentials, robots online, driving one of them.',
  details: `Actions:
  farhand fleet dev                                   a server on this machine, with keys and credentials, to try it
  farhand fleet init --dir /etc/farhand/fleet         keys and server configuration of a real fleet
  farhand fleet user ann --role operator --robots arm-1,arm-2 --days 30 --dir /etc/farhand/fleet
  farhand fleet revoke ann --dir /etc/farhand/fleet   then reload every server as instructed
  farhand fleet rotate-key [SITE]                     replaces the key that signs leases
  farhand fleet setup --server URL --creds FILE       creates lease store and log on the broker (administrator)
  farhand fleet serve --server URL --creds service.creds   leases, recordings and log; one beside every server
  farhand fleet migrate --dir /etc/farhand/fleet      separates an older fleet's store from its users
  farhand fleet ls | show ROBOT                       robots online, and their state
  farhand fleet operate ROBOT [--rig NAME] [key=value …]   takes the lease and drives the robot; Ctrl-C ends it
  farhand fleet console [--port N] [--lan]            the fleet in a browser; drives robots too
  farhand fleet release ROBOT                         takes the lease from its current holder
  farhand fleet estop ROBOT                           stops the robot; anyone who may see it may stop it
  farhand fleet logs [ROBOT]                          who did what (all robots: administrator)
  farhand fleet attempts LOGFILE                      who tried what they may not do, from a server's log
  farhand fleet bucket arm-1 --gb 20 --creds admin.creds           storage for a robot's recordings
  farhand fleet push arm-1 --creds arm-1.creds --delete            stores and verifies recordings, deletes them here
  farhand fleet pull arm-1 --creds ann.creds --recordings ~/data   downloads recordings; recordings lists them

Anyone who has the keys can issue credentials: keep their folder on one machine. See docs/fleet.md.`,
  examples: [
    'farhand fleet dev',
    'farhand fleet ls',
    'farhand fleet operate arm-1',
    'farhand fleet console --lan',
  ],
  options: {
    server: {
      type: 'string',
      value: 'URL',
      about: `broker; several separated by commas (default: ${LOCAL_BROKER})`,
    },
    url: { type: 'string', value: 'URL', about: 'same as --server' },
    creds: { type: 'string', value: 'FILE', about: 'credentials (default: those of `farhand fleet dev`)' },
    rig: RIG_OPTION,
    json: JSON_OPTION,
    audio: {
      type: 'string',
      value: 'PORT',
      about: 'operate: send the robot’s sound as RTP to this local UDP port',
    },
    ask: { type: 'boolean', about: 'operate: request the robot from its holder if it has one' },
    count: { type: 'string', value: 'N', about: 'logs: number of entries (default: 50)' },
    replicas: { type: 'string', value: 'N', about: 'setup, bucket: servers that keep a copy (default: 1)' },
    dir: { type: 'string', value: 'DIR', about: 'folder of the fleet’s keys (default: in the state folder)' },
    role: { type: 'string', value: 'ROLE', about: `user: ${FLEET_ROLES.join(', ')} (default: operator)` },
    robots: {
      type: 'string',
      value: 'NAMES',
      about: 'user, serve: robots, with commas; GROUP/* for a group (default: *, all)',
    },
    days: { type: 'string', value: 'N', about: 'user: validity of the credentials (default: 30)' },
    site: { type: 'string', value: 'NAME', about: 'user, role admin or service: of this site’s own store' },
    out: {
      type: 'string',
      value: 'FILE',
      about: 'user: where to write the credentials (default: NAME.creds beside the keys)',
    },
    host: { type: 'string', value: 'ADDRESS', about: 'address the server listens on (default: 127.0.0.1)' },
    port: {
      type: 'string',
      value: 'N',
      about: `port the server listens on (default: ${PORT}; console: 4747)`,
    },
    lan: { type: 'boolean', about: 'console: open to the network, with HTTPS and pairing' },
    ...SERVER_OPTIONS,
    ...SERVE_OPTIONS,
    ...RECORDING_OPTIONS,
  },
  async run(given: Given) {
    const [action = ''] = given.words;
    const run = ACTIONS[action];
    if (run === undefined)
      throw new TeleopError(
        'bad-option',
        action ? `fleet has no action "${action}"` : 'fleet needs an action',
        {
          hint: `Use one of ${Object.keys(ACTIONS).join(', ')}.`,
        },
      );
    try {
      return await run(given);
    } catch (error) {
      throw brokerError(error, action) ?? error;
    }
  },
};

const ADMINISTRATORS = ['setup', 'bucket'];

/** An error of the broker as one of ours; null for any other error. */
function brokerError(cause: unknown, action: string): TeleopError | null {
  if (!(cause instanceof Error) || cause instanceof TeleopError) return null;
  if (/permissions violation/i.test(cause.message))
    return new TeleopError('fleet-refused', `these credentials do not allow \`fleet ${action}\` here`, {
      hint: ADMINISTRATORS.includes(action)
        ? ADMINISTRATOR_HINT
        : 'Ask an administrator for credentials with another role, or for this robot.',
      cause,
    });
  if (/stream not found/i.test(cause.message))
    return new TeleopError('fleet-refused', 'the broker has no lease store or log yet', {
      hint: 'As administrator, create them: `farhand fleet setup --creds admin.creds`.',
      cause,
    });
  if (/already in use/i.test(cause.message))
    return new TeleopError(
      'fleet-refused',
      'the stream exists already, with a different size or number of servers',
      {
        hint: 'Keep it, or change it with `nats stream edit`.',
        cause,
      },
    );
  return null;
}

const ADMINISTRATOR_HINT = 'Use an administrator’s: --creds admin.creds.';

const ACTIONS: Record<string, (given: Given) => Promise<number>> = {
  init,
  dev,
  user,
  revoke: revokeUser,
  ...FLEET_ACTIONS,
  console: fleetConsole,
  server: writeServer,
  serve,
  migrate,
  'rotate-key': rotateKey,
  attempts,
  ...RECORDING_ACTIONS,
};

const folderOf = (given: Given): string =>
  path.resolve(String(given.values['dir'] ?? path.join(stateFolder(), 'fleet')));

const hostOf = (given: Given): string => String(given.values['host'] ?? '127.0.0.1');
const portOf = (given: Given): number => numberOption(given, 'port', 1, 65_535) ?? PORT;

async function init(given: Given): Promise<number> {
  expectWords(fleetVerb, given, 1, 1);
  const tls = tlsOf(given);
  const place = { name: 'fleet-1', host: hostOf(given), port: portOf(given), ...tls };
  refusePlainServer(place, fleetSettings(given).plainBeyondLoopback);
  const authority = await createAuthority(folderOf(given));
  const file = path.join(authority.folder, 'server.conf');
  const storeDir = storeOf(given);
  writeWhole(file, serverConfig({ ...place, ...(await serverAccounts(authority)), storeDir }), PRIVATE);
  const admin = await write(authority, { name: 'admin', role: 'admin', robots: ['*'], seconds: 365 * DAY_S });
  const service = await writeService(authority, 365 * DAY_S);
  console.log(`keys           ${authority.folder}  (keep them secret)`);
  console.log(`administrator  ${admin}`);
  console.log(`services       ${service}, ${leaseKeyFile(service)}`);
  const url = `${tls.tls ? 'tls' : 'nats'}://${place.host}:${place.port}`;
  console.log('Next:');
  console.log(`  nats-server -c ${file}    # keeps its data in ${storeDir}`);
  console.log(`  farhand fleet setup --server ${url} --creds ${admin}    # once, while the server runs`);
  console.log(`  farhand fleet serve --server ${url} --creds ${service}    # always, beside the server`);
  console.log(`  farhand fleet user NAME --role robot|operator|viewer --dir ${authority.folder}`);
  if (tls.tls === undefined)
    console.log('Other machines can connect only over TLS: --host ADDRESS --tls-cert FILE --tls-key FILE.');
  return 0;
}

async function dev(given: Given): Promise<number> {
  expectWords(fleetVerb, given, 1, 1);
  const folder = folderOf(given);
  const { plainBeyondLoopback } = fleetSettings(given);
  refusePlainServer({ host: hostOf(given) }, plainBeyondLoopback);
  await expectFree(hostOf(given), portOf(given));
  const authority = existsSync(path.join(folder, 'authority.json'))
    ? openAuthority(folder)
    : await createAuthority(folder);
  const ended = new Promise<void>((resolve) => onEndRequest(resolve));
  const server = await startServer(authority, { name: 'dev', host: hostOf(given), port: portOf(given) });
  const admin = await write(authority, { name: 'admin', role: 'admin', robots: ['*'], seconds: 7 * DAY_S });
  const operator = await write(authority, {
    name: 'me',
    role: 'operator',
    robots: ['*'],
    seconds: 7 * DAY_S,
  });
  const robot = await write(authority, { name: 'demo', role: 'robot', robots: ['demo'], seconds: 7 * DAY_S });
  const service = await writeService(authority, 7 * DAY_S);
  const connection = await connectFleet(server.url, admin, { plainBeyondLoopback });
  await LeaseBucket.create(connection.nats);
  await createAudit(connection.nats);
  await createRecordingBucket(connection.nats, 'demo', { maxBytes: DEV_ROOM_BYTES, replicas: 1 });
  await createRobotAudit(connection.nats, 'demo', 1);
  await connection.close();
  const leaseKey = authority.leaseKeys['']!.present;
  const services = await startServices({
    ...{ url: server.url, credentials: service, leaseKey, plainBeyondLoopback },
    roster: path.join(authority.folder, ROSTER_FILE),
  });
  printDev(server.url, folder, operator, robot);
  await Promise.race([ended, new Promise((resolve) => server.process.once('close', resolve))]);
  await services.close();
  await server.close();
  return 0;
}

/** Otherwise a server that already runs there would be mistaken for the new one. */
async function expectFree(host: string, port: number): Promise<void> {
  const probe = createServer();
  try {
    await once(probe.listen(port, host), 'listening');
  } catch (cause) {
    throw new TeleopError('port-in-use', `port ${port} on ${host} is in use`, {
      hint: 'A fleet server may already be running there. Choose another port: --port N.',
      cause,
    });
  }
  await new Promise((resolve) => probe.close(resolve));
}

function printDev(url: string, folder: string, operator: string, robot: string): void {
  const as = `--server ${url} --creds ${operator}`;
  console.log(`fleet: ${url}
  operator  ${operator}
  robot     ${robot}  (named demo)
Then, in two more terminals:
  farhand robot --fleet ${url} --creds ${robot}
  farhand fleet console ${as}    # the page: http://localhost:4747
Or drive it without a browser:
  farhand fleet operate demo ${as}
To add a robot:
  farhand fleet user arm-2 --role robot --dir ${folder}
  farhand robot --fleet ${url} --creds ${path.join(folder, 'arm-2.creds')}
Press Ctrl-C to end.`);
}

async function user(given: Given): Promise<number> {
  expectWords(fleetVerb, given, 2, 2);
  const role = String(given.values['role'] ?? 'operator');
  if (!isRole(role))
    throw new TeleopError('bad-option', `there is no role "${role}"`, {
      hint: `Choose one of ${FLEET_ROLES.join(', ')}.`,
    });
  const name = given.words[1]!;
  const robots = String(given.values['robots'] ?? (role === 'robot' ? name : '*')).split(',');
  const seconds = (numberOption(given, 'days', 0.01, 3650) ?? 30) * DAY_S;
  const out = given.values['out'];
  const site = typeof given.values['site'] === 'string' ? given.values['site'] : undefined;
  const authority = openAuthority(folderOf(given));
  const file = await write(
    authority,
    { name, role, robots, seconds, site },
    typeof out === 'string' ? out : undefined,
  );
  console.log(`${file}: ${name}, ${role} of ${robots.join(', ')}, valid for ${seconds / DAY_S} days`);
  if (role === 'service' || role === 'site')
    console.log(`${writeLeaseKey(authority, file, role === 'site' ? name : (site ?? ''))}: its lease key`);
  return 0;
}

async function revokeUser(given: Given): Promise<number> {
  expectWords(fleetVerb, given, 2, 2);
  const authority = openAuthority(folderOf(given));
  revoke(authority, given.words[1]!, Date.now() / 1000);
  const { accounts } = await serverAccounts(authority);
  const files = await rewriteAll(authority);
  console.log(`Revoked ${given.words[1]}. The servers reject these credentials once they have reloaded.`);
  for (const file of files) console.log(`  wrote ${file}`);
  console.log(files.length > 0 ? RELOAD : 'There is no server.conf beside the keys to update.');
  console.log('A server configured elsewhere needs this in its resolver_preload:');
  for (const [key, token] of Object.entries(accounts)) console.log(`  ${key}: "${token}"`);
  return 0;
}

const RELOAD =
  'If the server is another machine, copy the file there. Then reload: `nats-server --signal reload`, or ' +
  '`systemctl reload nats-server`. This disconnects everyone with revoked credentials.';

async function writeService(authority: Authority, seconds: number): Promise<string> {
  const file = await write(authority, { name: 'service', role: 'service', robots: ['*'], seconds });
  writeLeaseKey(authority, file, '');
  await write(authority, { name: 'roster', role: 'roster', robots: ['*'], seconds });
  return file;
}

/** `place`: the site whose services sign with it; '': the fleet's. */
function writeLeaseKey(authority: Authority, credentials: string, place: string): string {
  const file = leaseKeyFile(credentials);
  writeWhole(file, authority.leaseKeys[place]!.present, PRIVATE);
  return file;
}

async function rotateKey(given: Given): Promise<number> {
  expectWords(fleetVerb, given, 1, 2);
  const authority = openAuthority(folderOf(given));
  const place = given.words[1] ?? '';
  rotateLeaseKey(authority, place);
  const credentials = path.join(authority.folder, `${place === '' ? 'service' : place}.creds`);
  console.log(`wrote ${writeLeaseKey(authority, credentials, place)}. Copy it to the services and restart them.
Robots whose credentials were issued since the last change accept it. Issue new ones before the next change.`);
  return 0;
}

async function migrate(given: Given): Promise<number> {
  expectWords(fleetVerb, given, 1, 1);
  const folder = folderOf(given);
  const file = path.join(folder, 'authority.json');
  if (existsSync(file)) copyFileSync(file, `${file}.before-migration`);
  const { authority, credentials } = await migrateAuthority(folder, Math.floor(Date.now() / 1000));
  for (const [name, text] of Object.entries(credentials))
    writeWhole(path.join(folder, `${name}.creds`), text, PRIVATE);
  const service = await writeService(authority, 365 * DAY_S);
  const files = await rewriteAll(authority);
  console.log(`The store in ${folder} is separate from robots and people now; all data stays.`);
  for (const file of files) console.log(`  wrote ${file}`);
  console.log(
    `  wrote new credentials of ${Object.keys(credentials).join(', ') || 'nobody'}, and ${service}`,
  );
  console.log(`Next, in this order:
  1. ${files.length > 0 ? RELOAD : 'There is no server.conf beside the keys: write it with `farhand fleet server`.'}
     The old credentials of everybody are void from then on.
  2. farhand fleet setup --server URL --creds ${path.join(folder, 'admin.creds')}
  3. farhand fleet serve --server URL --creds ${service}    # always, beside every server
  4. Give everybody their new credentials, and restart robots and consoles with them.`);
  return 0;
}

async function rewriteAll(authority: Authority): Promise<string[]> {
  const { accounts } = await serverAccounts(authority);
  const ofSites: Record<string, Record<string, string>> = {};
  for (const site of Object.keys(authority.siteSeeds))
    ofSites[site] = (await serverAccounts(authority, site)).accounts;
  return rewriteServers(authority.folder, accounts, ofSites);
}

const isRole = (name: string): name is FleetRole => FLEET_ROLES.some((role) => role === name);

async function write(
  authority: Authority,
  who: NewUser,
  out = path.join(authority.folder, `${who.name}.creds`),
): Promise<string> {
  writeWhole(out, await issue(authority, who, Date.now() / 1000), { ...PRIVATE, folderMode: 0o755 });
  return out;
}
