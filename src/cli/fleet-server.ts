import { existsSync, mkdirSync } from 'node:fs';
import path from 'node:path';
import { TeleopError } from '../core/errors.ts';
import { stateFolder } from '../files/state-folder.ts';
import { PRIVATE, writeWhole } from '../files/write-whole.ts';
import { openAuthority, serverAccounts } from '../fleet/authority.ts';
import { isLoopbackBroker, refusePlainServer } from '../fleet/broker-tls.ts';
import { makeRouteCertificate } from '../fleet/route-certificates.ts';
import { type RouteTls, type ServerSettings, serverConfig } from '../fleet/server-config.ts';
import { installedVersion } from '../fleet/server-process.ts';
import { refuseUnsafeServer } from '../fleet/server-version.ts';
import { USER_NAME } from '../fleet/subjects.ts';
import { type Given, numberOption, type OptionSpec } from './arguments.ts';
import { fleetSettings } from './fleet-actions.ts';

const STORE = '/var/lib/farhand-fleet';

/** Options of `farhand fleet server`, in addition to the common ones. */
export const SERVER_OPTIONS: Record<string, OptionSpec> = {
  routes: { type: 'string', value: 'HOST:PORT,…', about: 'server: cluster ports of all servers' },
  'cluster-port': { type: 'string', value: 'N', about: 'server: port for the other servers (default: 6222)' },
  'leaf-port': { type: 'string', value: 'N', about: 'server: port for the servers of sites' },
  'leaf-of': { type: 'string', value: 'HOST:PORT', about: 'server of a site: the fleet’s leaf port' },
  'leaf-ca': {
    type: 'string',
    value: 'FILE',
    about: 'server of a site: authority of the fleet’s certificate',
  },
  'tls-cert': { type: 'string', value: 'FILE', about: 'init, server: TLS certificate' },
  'tls-key': { type: 'string', value: 'FILE', about: 'init, server: key of the TLS certificate' },
  'route-tls': { type: 'boolean', about: 'server: create a certificate for its cluster connections' },
  'route-cert': { type: 'string', value: 'FILE', about: 'server: use this cluster certificate instead' },
  'route-key': { type: 'string', value: 'FILE', about: 'server: key of the cluster certificate' },
  'route-ca': { type: 'string', value: 'FILE', about: 'server: CA of the other servers’ certificates' },
  store: { type: 'string', value: 'DIR', about: `init, server: data folder (default: ${STORE})` },
};

export const storeOf = ({ values }: Given): string => String(values['store'] ?? STORE);

/** Needs both files: with only one, the server would look secure but run without TLS. */
export function tlsOf({ values }: Given): Pick<ServerSettings, 'tls'> {
  const [cert, key] = [values['tls-cert'], values['tls-key']];
  if (cert === undefined && key === undefined) return {};
  if (typeof cert === 'string' && typeof key === 'string') return { tls: { cert, key } };
  throw new TeleopError('bad-option', '--tls-cert and --tls-key go together', { hint: 'Give both files.' });
}

/** Writes the configuration of one more server beside the fleet's keys. */
export async function writeServer(given: Given): Promise<number> {
  const text = (name: string) => (typeof given.values[name] === 'string' ? given.values[name] : undefined);
  const name = given.words[1] ?? '';
  if (!USER_NAME.test(name))
    throw new TeleopError('bad-option', `"${name}" is not a valid server name`, {
      hint: 'Use `farhand fleet server NAME`, with lower-case letters, digits, - and _.',
    });
  refuseUnsafeServer(installedVersion());
  const authority = openAuthority(path.resolve(text('dir') ?? path.join(stateFolder(), 'fleet')));
  const host = text('host') ?? '127.0.0.1';
  const known = await serverAccounts(authority, text('leaf-of') === undefined ? undefined : name);
  const [routes, leafOf, tls] = [text('routes'), text('leaf-of'), tlsOf(given)];
  const leafPort = numberOption(given, 'leaf-port', 1, 65_535);
  const settings: ServerSettings = {
    ...{ name, host, port: numberOption(given, 'port', 1, 65_535) ?? 4222, ...known },
    storeDir: storeOf(given),
    ...(leafPort === null ? {} : { leafPort }),
    ...tls,
  };
  const folder = path.join(authority.folder, 'servers', name);
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  if (routes !== undefined)
    settings.cluster = {
      ...{ name: 'fleet', host, port: numberOption(given, 'cluster-port', 1, 65_535) ?? 6222 },
      routes: routes.split(',').map((route) => `nats-route://${route}`),
      ...routeTls(given, authority.folder, folder, host),
    };
  if (leafOf !== undefined)
    settings.leafOf = {
      url: `${tls.tls || !isLoopbackBroker(leafOf) ? 'tls' : 'nats-leaf'}://${leafOf}`,
      credentials: siteCredentials(authority.folder, name),
      ca: text('leaf-ca'),
    };
  refusePlainServer(settings, fleetSettings(given).plainBeyondLoopback);
  const file = path.join(folder, 'server.conf');
  writeWhole(file, serverConfig(settings), PRIVATE);
  console.log(`wrote ${file}. Start the server in that folder: \`nats-server -c server.conf\`.`);
  return 0;
}

/** Empty without options. Needs all files: with only some, routes would look secure but not be. */
function routeTls({ values }: Given, fleet: string, folder: string, host: string): { tls?: RouteTls } {
  if (values['route-tls'] === true) return { tls: makeRouteCertificate(fleet, folder, host, Date.now()) };
  const [cert, key, ca] = ['cert', 'key', 'ca'].map((part) => values[`route-${part}`]);
  if (cert === undefined && key === undefined && ca === undefined) return {};
  if (typeof cert === 'string' && typeof key === 'string' && typeof ca === 'string')
    return { tls: { cert: path.resolve(cert), key: path.resolve(key), ca: path.resolve(ca) } };
  throw new TeleopError('bad-option', '--route-cert, --route-key and --route-ca go together', {
    hint: 'Give all three, or --route-tls to create them.',
  });
}

function siteCredentials(folder: string, name: string): string {
  const file = path.join(folder, `${name}.creds`);
  if (existsSync(file)) return file;
  throw new TeleopError('file-missing', `there are no credentials for ${name}`, {
    hint: `Create them first: \`farhand fleet user ${name} --role site --robots NAMES\`.`,
  });
}
