import { createHash, createPrivateKey, createPublicKey, X509Certificate } from 'node:crypto';
import { BlockList, isIPv4 } from 'node:net';
import { hostname, networkInterfaces } from 'node:os';
import path from 'node:path';
import { consoleFolder, readIfThere, writePrivate } from './private-file.ts';
import {
  type Authority,
  authorityCertificate,
  createKeyPair,
  hostCertificate,
  type KeyPair,
  mayCertify,
} from './x509.ts';

const CA_DAYS = 3650;
/** Browsers reject host certificates that are valid for longer than 398 days. */
const HOST_DAYS = 390;
const RENEW_MS = 30 * 24 * 3600e3;

/** Private, link-local and shared address space: the only addresses the authority may certify. */
const NETWORKS = [
  '10.0.0.0/8',
  '172.16.0.0/12',
  '192.168.0.0/16',
  '169.254.0.0/16',
  '100.64.0.0/10',
  '127.0.0.0/8',
  '::1/128',
  'fc00::/7',
];

interface Places {
  addresses: string[];
  names: string[];
}

export interface HostTls extends Places {
  /** PEM: the host's certificate followed by its authority's. */
  cert: string;
  key: string;
  /** The authority's certificate alone: the one that devices trust. */
  ca: string;
  /** Its SHA-256, for people to compare. */
  fingerprint: string;
}

/**
 * The certificates of this installation's console: its own authority, created here once and never copied, and
 * a host certificate for this machine's current addresses. Only the owner can read the files in `folder`.
 */
export function openTls(folder = consoleFolder(), nowMs = Date.now(), wanted = ownPlaces()): HostTls {
  const { authority, ca } = openAuthority(folder, nowMs);
  const places = within(ca, wanted);
  const { cert, key } = openHost(folder, authority, ca, places, nowMs);
  return { cert: cert + ca, key, ca, fingerprint: fingerprintOf(ca), ...places };
}

/** An authority from before IPv6 certifies IPv4 alone: a new one would have to be trusted again on every device. */
const within = (ca: string, places: Places): Places => ({
  ...places,
  addresses: places.addresses.filter((address) => isIPv4(address) || mayCertify(ca, 'fc00::/7')),
});

/** This machine's names, and those of its addresses that the authority may certify. */
function ownPlaces(): Places {
  const found = Object.values(networkInterfaces()).flatMap((list) => list ?? []);
  const addresses = found.filter(({ family, address }) =>
    isPrivate(address, family === 'IPv4' ? 'ipv4' : 'ipv6'),
  );
  const name = hostname().toLowerCase();
  const plain = /^[a-z0-9-]+$/.test(name) ? [`${name}.local`] : [];
  return {
    addresses: [...new Set(addresses.map(({ address }) => address))].sort(),
    names: ['localhost', ...plain],
  };
}

const privateNetworks = new BlockList();
for (const network of NETWORKS) {
  const [address = '', length = ''] = network.split('/');
  privateNetworks.addSubnet(address, Number(length), isIPv4(address) ? 'ipv4' : 'ipv6');
}
const isPrivate = (address: string, kind: 'ipv4' | 'ipv6'): boolean => privateNetworks.check(address, kind);

function fingerprintOf(pem: string): string {
  const hex = createHash('sha256').update(new X509Certificate(pem).raw).digest('hex').toUpperCase();
  return hex.replace(/..(?=.)/g, '$&:');
}

function openAuthority(folder: string, nowMs: number): { authority: Authority; ca: string } {
  const [keyFile, certFile] = [path.join(folder, 'ca.key'), path.join(folder, 'ca.pem')];
  const [key, kept] = [readIfThere(keyFile), readIfThere(certFile)];
  if (key !== null && kept !== null && isGood(kept, key, nowMs)) {
    const name = /CN=(.*)/.exec(new X509Certificate(kept).subject)?.[1] ?? '';
    return { authority: { name, keys: keyPairOf(key) }, ca: kept };
  }
  const keys = createKeyPair();
  const authority = { name: `Farhand on ${hostname()}`, keys };
  const ca = authorityCertificate(
    authority,
    { networks: NETWORKS, domains: ['localhost', 'local'] },
    CA_DAYS,
    nowMs,
  );
  writePrivate(keyFile, pemOf(keys));
  writePrivate(certFile, ca);
  return { authority, ca };
}

function openHost(
  folder: string,
  authority: Authority,
  ca: string,
  places: Places,
  nowMs: number,
): { cert: string; key: string } {
  const [keyFile, certFile] = [path.join(folder, 'host.key'), path.join(folder, 'host.pem')];
  const [key, kept] = [readIfThere(keyFile), readIfThere(certFile)];
  if (key !== null && kept !== null && isGood(kept, key, nowMs)) {
    const certificate = new X509Certificate(kept);
    const covers =
      places.addresses.every((address) => certificate.checkIP(address)) &&
      places.names.every((name) => certificate.checkHost(name));
    if (covers && certificate.verify(new X509Certificate(ca).publicKey)) return { cert: kept, key };
  }
  const keys = createKeyPair();
  const host = { publicKey: keys.publicKey, name: hostname(), ...places };
  const cert = hostCertificate(authority, host, HOST_DAYS, nowMs);
  writePrivate(keyFile, pemOf(keys));
  writePrivate(certFile, cert);
  return { cert, key: pemOf(keys) };
}

/** Readable, matches the key, and not due for renewal. */
function isGood(cert: string, key: string, nowMs: number): boolean {
  try {
    const certificate = new X509Certificate(cert);
    const until = Date.parse(certificate.validTo);
    return certificate.checkPrivateKey(createPrivateKey(key)) && until - nowMs > RENEW_MS;
  } catch {
    return false;
  }
}

const pemOf = (keys: KeyPair): string => String(keys.privateKey.export({ type: 'pkcs8', format: 'pem' }));

function keyPairOf(text: string): KeyPair {
  const privateKey = createPrivateKey(text);
  return { privateKey, publicKey: createPublicKey(privateKey) };
}
