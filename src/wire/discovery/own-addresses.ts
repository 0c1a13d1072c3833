import { isIP } from 'node:net';
import { networkInterfaces } from 'node:os';

/** Addresses at which other machines reach a listener on `host`. Link-local IPv6 needs a zone, so it is left out. */
export function ownAddresses(host: string): string[] {
  const everywhere = host === '0.0.0.0' || host === '::' || isIP(host) === 0;
  if (!everywhere) return [host];
  const all = Object.values(networkInterfaces()).flatMap((addresses) => addresses ?? []);
  return all
    .filter(
      ({ family, internal, address }) =>
        !internal && !address.startsWith('fe80:') && (family === 'IPv4' || host !== '0.0.0.0'),
    )
    .map(({ address }) => address);
}
