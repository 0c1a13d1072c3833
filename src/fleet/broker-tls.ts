import { TeleopError } from '../core/errors.ts';
import { isLoopback } from '../core/loopback.ts';
import type { ServerSettings } from './server-config.ts';

/**
 * A broker carries leases, e-stops and the keys of sessions. On another machine it has to be reached by TLS, as a link has
 * to be paired there; `fleet.plainBeyondLoopback` is for networks that are private by other means.
 */
const ACCEPT = 'or accept it with fleet.plainBeyondLoopback=true';

/** The host as the NATS client takes it from an address. */
function hostOf(address: string): string {
  try {
    return new URL(`http://${address.trim().replace(/^.*:\/\//, '')}`).hostname;
  } catch {
    return address;
  }
}

export const isLoopbackBroker = (address: string): boolean => {
  const host = hostOf(address);
  return isLoopback(host) || host === '[::1]' || host === '::1';
};

const isTls = (address: string): boolean => /^tls:\/\//i.test(address.trim());

/** Whether TLS has to be used with these servers (several with commas); throws where it should be and is not. */
export function refusePlainBroker(url: string, plainBeyondLoopback: boolean): { tls: boolean } {
  const servers = url.split(',');
  const open = servers.find((server) => !isTls(server) && !isLoopbackBroker(server));
  if (open !== undefined && !plainBeyondLoopback) {
    const encrypted = `tls://${open.trim().replace(/^.*:\/\//, '')}`;
    throw new TeleopError('not-loopback', `the broker ${open} is on another machine and not encrypted`, {
      hint: `Write ${encrypted} (\`farhand fleet init --tls-cert FILE --tls-key FILE\` gives a server TLS), ${ACCEPT}.`,
    });
  }
  return { tls: servers.some(isTls) };
}

/** Refuses settings by which a server would be reached from other machines without TLS. */
export function refusePlainServer(
  { host, tls, cluster, leafOf }: Pick<ServerSettings, 'host' | 'tls' | 'cluster' | 'leafOf'>,
  plainBeyondLoopback: boolean,
): void {
  if (plainBeyondLoopback) return;
  const refuse = (what: string, remedy: string) => {
    throw new TeleopError('not-loopback', `${what} without TLS`, { hint: `${remedy}, ${ACCEPT}.` });
  };
  if (tls === undefined && !isLoopbackBroker(host))
    refuse(`the server would listen on ${host}`, 'Give it a certificate: --tls-cert FILE --tls-key FILE');
  const routes = cluster === undefined || cluster.tls !== undefined ? [] : [cluster.host, ...cluster.routes];
  const route = routes.find((address) => !isLoopbackBroker(address));
  if (route !== undefined) refuse(`routes between servers would go by ${route}`, 'Encrypt them: --route-tls');
  if (leafOf !== undefined && !isTls(leafOf.url) && !isLoopbackBroker(leafOf.url))
    refuse(`the connection to ${leafOf.url} would be`, 'Write tls:// before its address');
}
