import { once } from 'node:events';
import { existsSync } from 'node:fs';
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
  openAuthority,
  revoke,
  serverAccounts,
} from '../fleet/authority.ts';
import { refusePlainServer } from '../fleet/broker-tls.ts';
import { connectFleet } from '../fleet/connection.ts';
import { LeaseStore } from '../fleet/lease-store.ts';
import { createRecordingBucket } from '../fleet/recordings/recording-index.ts';
import { FLEET_ROLES, type FleetRole } from '../fleet/roles.ts';
import { serverConfig } from '../fleet/server-config.ts';
import { startServer } from '../fleet/server-process.ts';
import { rewriteServers } from '../fleet/server-rewrite.ts';
import { expectWords, type Given, JSON_OPTION, numberOption, RIG_OPTION, type Verb } from './arguments.ts';
import { FLEET_ACTIONS, fleetSettings, LOCAL_BROKER } from './fleet-actions.ts';
import { fleetConsole } from './fleet-console.ts';
import { RECORDING_ACTIONS, RECORDING_OPTIONS } from './fleet-recordings.ts';
import { SERVER_OPTIONS, storeOf, tlsOf, writeServer } from './fleet-server.ts';
import { onEndRequest } from './process.ts';

const DAY_S = 86_400;
const PORT = 4222;
const DEV_ROOM_BYTES = 1e9;

export const fleetVerb: Verb = {
  name: 'fleet',
  usage:
    'init|dev|setup|server|user|revoke|ls|show|operate|console|release|estop|logs|bucket|push|pull|recordings [NAME] [options]',
  about: 'Many robots and operators on one NATS broker: keys and credentials, who is there, driving one.',
  details: `What it can do:
  farhand fleet dev                                   a server on this machine, with keys and credentials to try
  farhand fleet init --dir /etc/farhand/fleet         keys and a server's settings for a real one
  farhand fleet user ann --role operator --robots arm-1,arm-2 --days 30 --dir /etc/farhand/fleet
  farhand fleet revoke ann --dir /etc/farhand/fleet   then reload every server, as it says
  farhand fleet setup --server URL --creds FILE       makes what the fleet keeps on the broker (administrator)
  farhand fleet ls | show ROBOT                       who is there, and how they are
  farhand fleet operate ROBOT [--rig NAME] [key=value …]   takes the lease and drives it; ends on Ctrl-C
  farhand fleet console [--port N] [--lan]            the fleet in a browser; robots are driven from there too
  farhand fleet release ROBOT                         takes the lease away from whoever has it
  farhand fleet estop ROBOT                           stops it; whoever may see it may
  farhand fleet logs [ROBOT]                          who did what (of all: administrator)
  farhand fleet bucket arm-1 --gb 20 --creds admin.creds           room for a robot's recordings
  farhand fleet push arm-1 --creds arm-1.creds --delete            stores what was recorded, verifies, deletes it here
  farhand fleet pull arm-1 --creds ann.creds --recordings ~/data   brings recordings here; recordings lists them

The keys let anybody in: keep their folder on one machine. docs/fleet.md`,
  options: {
    server: {
      type: 'string',
      value: 'URL',
      about: `the broker, several with commas (default ${LOCAL_BROKER})`,
    },
    url: { type: 'string', value: 'URL', about: 'the same' },
    creds: { type: 'string', value: 'FILE', about: 'credentials (default: those of `farhand fleet dev`)' },
    rig: RIG_OPTION,
    json: JSON_OPTION,
    audio: {
      type: 'string',
      value: 'PORT',
      about: 'operate: the robot’s sound as RTP to this UDP port of this machine',
    },
    count: { type: 'string', value: 'N', about: 'how many entries of the log (default 50)' },
    replicas: { type: 'string', value: 'N', about: 'setup, bucket: servers that keep it (default 1)' },
    dir: { type: 'string', value: 'DIR', about: 'folder of the fleet’s keys (default: in the state folder)' },
    role: { type: 'string', value: 'ROLE', about: `${FLEET_ROLES.join(', ')} (default operator)` },
    robots: { type: 'string', value: 'NAMES', about: 'robots it is about, with commas; * for all (default)' },
    days: { type: 'string', value: 'N', about: 'how long the credentials are good (default 30)' },
    out: {
      type: 'string',
      value: 'FILE',
      about: 'where to write them (default: NAME.creds beside the keys)',
    },
    host: { type: 'string', value: 'ADDRESS', about: 'address the server listens on (default 127.0.0.1)' },
    port: {
      type: 'string',
      value: 'N',
      about: `port the server listens on (default ${PORT}; console: 4747)`,
    },
    lan: { type: 'boolean', about: 'console: open to the network, with HTTPS and pairing' },
    ...SERVER_OPTIONS,
    ...RECORDING_OPTIONS,
  },
  async run(given: Given) {
    const [action = ''] = given.words;
    const run = ACTIONS[action];
    if (run === undefined)
      throw new TeleopError(
        'bad-option',
        action ? `fleet cannot "${action}"` : 'fleet needs to know what to do',
        {
          hint: `It can: ${Object.keys(ACTIONS).join(', ')}.`,
        },
      );
    try {
      return await run(given);
    } catch (error) {
      throw refusal(error, action) ?? error;
    }
  },
};

const ADMINISTRATORS = ['setup', 'bucket', 'logs'];

/** What the broker says in its own words, in ours; null: it is something else. */
function refusal(cause: unknown, action: string): TeleopError | null {
  if (!(cause instanceof Error) || cause instanceof TeleopError) return null;
  if (/permissions violation/i.test(cause.message))
    return new TeleopError('fleet-refused', `these credentials do not allow \`fleet ${action}\` here`, {
      hint: ADMINISTRATORS.includes(action)
        ? ADMINISTRATOR_HINT
        : 'Ask for some with another role, or for this robot.',
      cause,
    });
  if (/stream not found/i.test(cause.message))
    return new TeleopError('fleet-refused', 'the broker does not keep leases and a log yet', {
      hint: 'An administrator makes them: `farhand fleet setup --creds admin.creds`.',
      cause,
    });
  if (/already in use/i.test(cause.message))
    return new TeleopError('fleet-refused', 'it is there already, with another size or number of servers', {
      hint: 'Leave it as it is, or change it with `nats stream edit`.',
      cause,
    });
  return null;
}

const ADMINISTRATOR_HINT =
  'It needs an administrator’s: --creds admin.creds. `fleet bucket ROBOT` opens a robot’s log to its operators.';

const ACTIONS: Record<string, (given: Given) => Promise<number>> = {
  init,
  dev,
  user,
  revoke: revokeUser,
  ...FLEET_ACTIONS,
  console: fleetConsole,
  server: writeServer,
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
  console.log(`keys           ${authority.folder}  (keep them to yourself)`);
  console.log(`administrator  ${admin}`);
  console.log('Then:');
  console.log(`  nats-server -c ${file}    # keeps its data in ${storeDir}`);
  console.log(
    `  farhand fleet setup --server ${tls.tls ? 'tls' : 'nats'}://${place.host}:${place.port} --creds ${admin}    # once, while it runs`,
  );
  console.log(`  farhand fleet user NAME --role robot|operator|viewer --dir ${authority.folder}`);
  if (tls.tls === undefined)
    console.log('Other machines reach it by TLS only: --host ADDRESS --tls-cert FILE --tls-key FILE.');
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
  const connection = await connectFleet(server.url, admin, { plainBeyondLoopback });
  await LeaseStore.create(connection.nats);
  await createAudit(connection.nats);
  await createRecordingBucket(connection.nats, 'demo', { maxBytes: DEV_ROOM_BYTES, replicas: 1 });
  await createRobotAudit(connection.nats, 'demo', 1);
  await connection.close();
  printDev(server.url, folder, operator, robot);
  await Promise.race([ended, new Promise((resolve) => server.process.once('close', resolve))]);
  await server.close();
  return 0;
}

/** A server that runs there already would be taken for the one that is started. */
async function expectFree(host: string, port: number): Promise<void> {
  const probe = createServer();
  try {
    await once(probe.listen(port, host), 'listening');
  } catch (cause) {
    throw new TeleopError('port-in-use', `port ${port} of ${host} is taken`, {
      hint: 'A fleet may be running there already. Choose another port: --port N.',
      cause,
    });
  }
  await new Promise((resolve) => probe.close(resolve));
}

function printDev(url: string, folder: string, operator: string, robot: string): void {
  const as = `--server ${url} --creds ${operator}`;
  console.log(`fleet: ${url}
  operator  ${operator}
  robot     ${robot}  (its name is demo)
Then, in two more terminals:
  farhand robot --fleet ${url} --creds ${robot}
  farhand fleet console ${as}    # the page: http://localhost:4747
Or drive it without a browser:
  farhand fleet operate demo ${as}
One robot more:
  farhand fleet user arm-2 --role robot --dir ${folder}
  farhand robot --fleet ${url} --creds ${path.join(folder, 'arm-2.creds')}
Ctrl-C ends it.`);
}

async function user(given: Given): Promise<number> {
  expectWords(fleetVerb, given, 2, 2);
  const role = String(given.values['role'] ?? 'operator');
  if (!isRole(role))
    throw new TeleopError('bad-option', `there is no role "${role}"`, {
      hint: `Choose ${FLEET_ROLES.join(', ')}.`,
    });
  const name = given.words[1]!;
  const robots = String(given.values['robots'] ?? (role === 'robot' ? name : '*')).split(',');
  const seconds = (numberOption(given, 'days', 0.01, 3650) ?? 30) * DAY_S;
  const out = given.values['out'];
  const file = await write(
    openAuthority(folderOf(given)),
    { name, role, robots, seconds },
    typeof out === 'string' ? out : undefined,
  );
  console.log(`${file}: ${name}, ${role} of ${robots.join(', ')}, for ${seconds / DAY_S} days`);
  return 0;
}

async function revokeUser(given: Given): Promise<number> {
  expectWords(fleetVerb, given, 2, 2);
  const authority = openAuthority(folderOf(given));
  revoke(authority, given.words[1]!, Date.now() / 1000);
  const { accounts } = await serverAccounts(authority);
  const files = rewriteServers(authority.folder, accounts);
  console.log(`${given.words[1]} is void. Its credentials are refused as soon as the servers know.`);
  for (const file of files) console.log(`  ${file}: written`);
  console.log(files.length > 0 ? RELOAD : 'There is no server.conf beside the keys to write it to.');
  console.log('A server whose settings are elsewhere needs this in its resolver_preload:');
  for (const [key, token] of Object.entries(accounts)) console.log(`  ${key}: "${token}"`);
  return 0;
}

const RELOAD =
  'Copy it to the server, if that is another machine, and let it read it: `nats-server --signal reload`, or ' +
  '`systemctl reload nats-server`. Who is connected with void credentials is then thrown out.';

const isRole = (name: string): name is FleetRole => FLEET_ROLES.some((role) => role === name);

async function write(
  authority: Authority,
  who: { name: string; role: FleetRole; robots: readonly string[]; seconds: number },
  out = path.join(authority.folder, `${who.name}.creds`),
): Promise<string> {
  writeWhole(out, await issue(authority, who, Date.now() / 1000), { ...PRIVATE, folderMode: 0o755 });
  return out;
}
