import { existsSync, mkdirSync } from 'node:fs';
import path from 'node:path';
import { TeleopError } from '../core/errors.ts';
import { stateFolder } from '../files/state-folder.ts';
import { PRIVATE, writeWhole } from '../files/write-whole.ts';
import { openAuthority, serverAccounts } from '../fleet/authority.ts';
import { isLoopbackBroker, refusePlainServer } from '../fleet/broker-tls.ts';
import { makeRouteCertificate } from '../fleet/route-certificates.ts';
import { fleetAccountOf, type RouteTls, type ServerSettings, serverConfig } from '../fleet/server-config.ts';
import { ROBOT_NAME } from '../fleet/subjects.ts';
import { type Given, numberOption, type OptionSpec } from './arguments.ts';
import { fleetSettings } from './fleet-actions.ts';

const STORE = '/var/lib/farhand-fleet';

/** Options of `farhand fleet server`, which has the common ones beside them. */
export const SERVER_OPTIONS: Record<string, OptionSpec> = {
  routes: { type: 'string', value: 'HOST:PORT,…', about: 'server: the cluster ports of all its servers' },
  'cluster-port': { type: 'string', value: 'N', about: 'server: where the others reach it (default 6222)' },
  'leaf-port': { type: 'string', value: 'N', about: 'server: where sites connect to' },
  'leaf-of': { type: 'string', value: 'HOST:PORT', about: 'server: of a site; the fleet’s leaf port' },
  'tls-cert': { type: 'string', value: 'FILE', about: 'init, server: its certificate' },
  'tls-key': { type: 'string', value: 'FILE', about: 'init, server: the certificate’s key' },
  'route-tls': { type: 'boolean', about: 'server: makes it a certificate towards the others of the cluster' },
  'route-cert': { type: 'string', value: 'FILE', about: 'server: one of your own instead' },
  'route-key': { type: 'string', value: 'FILE', about: 'server: that certificate’s key' },
  'route-ca': { type: 'string', value: 'FILE', about: 'server: who vouches for the others’ certificates' },
  store: { type: 'string', value: 'DIR', about: `init, server: where its data is (default ${STORE})` },
};

export const storeOf = ({ values }: Given): string => String(values['store'] ?? STORE);

/** Half of it would be a server that looks safe and is open. */
export function tlsOf({ values }: Given): Pick<ServerSettings, 'tls'> {
  const [cert, key] = [values['tls-cert'], values['tls-key']];
  if (cert === undefined && key === undefined) return {};
  if (typeof cert === 'string' && typeof key === 'string') return { tls: { cert, key } };
  throw new TeleopError('bad-option', '--tls-cert and --tls-key go together', { hint: 'Give both files.' });
}

/** Writes the settings of one more server beside the fleet's keys. */
export async function writeServer(given: Given): Promise<number> {
  const text = (name: string) => (typeof given.values[name] === 'string' ? given.values[name] : undefined);
  const name = given.words[1] ?? '';
  if (!ROBOT_NAME.test(name))
    throw new TeleopError('bad-option', `"${name}" cannot be a server's name`, {
      hint: 'Write `farhand fleet server NAME`: small letters, digits, - and _.',
    });
  const authority = openAuthority(path.resolve(text('dir') ?? path.join(stateFolder(), 'fleet')));
  const known = await serverAccounts(authority);
  const host = text('host') ?? '127.0.0.1';
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
      account: fleetAccountOf(known),
    };
  refusePlainServer(settings, fleetSettings(given).plainBeyondLoopback);
  const file = path.join(folder, 'server.conf');
  writeWhole(file, serverConfig(settings), PRIVATE);
  console.log(`${file}: written. Start it in that folder: \`nats-server -c server.conf\`.`);
  return 0;
}

/** Empty: none is wanted. A route with half of the files would not be what it looks like. */
function routeTls({ values }: Given, fleet: string, folder: string, host: string): { tls?: RouteTls } {
  if (values['route-tls'] === true) return { tls: makeRouteCertificate(fleet, folder, host, Date.now()) };
  const [cert, key, ca] = ['cert', 'key', 'ca'].map((part) => values[`route-${part}`]);
  if (cert === undefined && key === undefined && ca === undefined) return {};
  if (typeof cert === 'string' && typeof key === 'string' && typeof ca === 'string')
    return { tls: { cert: path.resolve(cert), key: path.resolve(key), ca: path.resolve(ca) } };
  throw new TeleopError('bad-option', '--route-cert, --route-key and --route-ca go together', {
    hint: 'Give all three, or --route-tls to have them made.',
  });
}

function siteCredentials(folder: string, name: string): string {
  const file = path.join(folder, `${name}.creds`);
  if (existsSync(file)) return file;
  throw new TeleopError('file-missing', `there are no credentials of ${name}`, {
    hint: `Make them first: \`farhand fleet user ${name} --role site --robots NAMES\`.`,
  });
}
