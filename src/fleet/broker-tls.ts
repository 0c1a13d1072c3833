import { TeleopError } from '../core/errors.ts';
import { isLoopback } from '../core/loopback.ts';
import type { ServerSettings } from './server-config.ts';

/**
 * A broker carries leases, e-stops and session keys. On another machine it must use TLS, just as a link must
 * be paired there; `fleet.plainBeyondLoopback` is for networks that are private by other means.
 */
const ACCEPT = 'or accept it with fleet.plainBeyondLoopback=true';

/** The host in an address, as the NATS client parses it. */
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

/** Whether these servers (comma-separated) require TLS; throws if one beyond loopback is plain. */
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

/** Rejects settings that would expose a server to other machines without TLS. */
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
  if (route !== undefined)
    refuse(`a route to another server would use ${route}`, 'Encrypt routes: --route-tls');
  if (leafOf !== undefined && !isTls(leafOf.url) && !isLoopbackBroker(leafOf.url))
    refuse(`the connection to ${leafOf.url} would be`, 'Write tls:// before its address');
}
