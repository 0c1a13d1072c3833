import { createPrivateKey, createPublicKey } from 'node:crypto';
import { isIPv4 } from 'node:net';
import path from 'node:path';
import { readIfThere, writePrivate } from '../console/private-file.ts';
import {
  type Authority,
  authorityCertificate,
  createKeyPair,
  hostCertificate,
  type KeyPair,
} from '../console/x509.ts';
import type { RouteTls } from './server-config.ts';

const CA_DAYS = 3650;
const HOST_DAYS = 1825;
const NAME = 'Farhand fleet routes';
/** Every address and name: this key decides which servers join the fleet, and nothing else trusts it. */
const REALM = { networks: ['0.0.0.0/1', '128.0.0.0/1'], domains: [''] };

/**
 * Writes a certificate into `folder` that identifies a server of the fleet to the others. Its authority is
 * beside the fleet's keys and is created on first use. Returns names within `folder`, which is copied to the
 * server's machine.
 */
export function makeRouteCertificate(
  fleetFolder: string,
  folder: string,
  host: string,
  nowMs: number,
): RouteTls {
  const { authority, ca } = openAuthority(fleetFolder, nowMs);
  const keys = createKeyPair();
  const [addresses, names] = isIPv4(host) ? [[host], []] : [[], [host]];
  const who = { publicKey: keys.publicKey, name: host, addresses, names, isClient: true };
  const file = (name: string) => path.join(folder, name);
  writePrivate(file('route.key'), pemOf(keys));
  writePrivate(file('route.pem'), hostCertificate(authority, who, HOST_DAYS, nowMs));
  writePrivate(file('route-ca.pem'), ca);
  return { cert: 'route.pem', key: 'route.key', ca: 'route-ca.pem' };
}

function openAuthority(folder: string, nowMs: number): { authority: Authority; ca: string } {
  const [keyFile, certFile] = [path.join(folder, 'routes.key'), path.join(folder, 'routes.pem')];
  const [key, kept] = [readIfThere(keyFile), readIfThere(certFile)];
  if (key !== null && kept !== null) {
    const privateKey = createPrivateKey(key);
    return {
      authority: { name: NAME, keys: { privateKey, publicKey: createPublicKey(privateKey) } },
      ca: kept,
    };
  }
  const authority = { name: NAME, keys: createKeyPair() };
  const ca = authorityCertificate(authority, REALM, CA_DAYS, nowMs);
  writePrivate(keyFile, pemOf(authority.keys));
  writePrivate(certFile, ca);
  return { authority, ca };
}

const pemOf = ({ privateKey }: KeyPair): string =>
  privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
