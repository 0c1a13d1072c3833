import {
  createHash,
  generateKeyPairSync,
  type KeyObject,
  randomBytes,
  sign,
  X509Certificate,
} from 'node:crypto';
import { parseIp } from '../core/ip-address.ts';
import { bits, integer, octets, oid, sequence, setOf, tagged, time, trueValue, utf8 } from './der.ts';

/** X.509 version 3 certificates (RFC 5280) on P-256: only what a local authority and its host need. */

const OID = {
  commonName: '2.5.4.3',
  organization: '2.5.4.10',
  ecdsaSha256: '1.2.840.10045.4.3.2',
  subjectKey: '2.5.29.14',
  keyUsage: '2.5.29.15',
  altName: '2.5.29.17',
  basic: '2.5.29.19',
  nameConstraints: '2.5.29.30',
  authorityKey: '2.5.29.35',
  extendedUsage: '2.5.29.37',
  serverAuth: '1.3.6.1.5.5.7.3.1',
  clientAuth: '1.3.6.1.5.5.7.3.2',
} as const;
const BACKDATED_MS = 24 * 3600e3;
const DAY_MS = 24 * 3600e3;

export interface KeyPair {
  privateKey: KeyObject;
  publicKey: KeyObject;
}

export const createKeyPair = (): KeyPair => generateKeyPairSync('ec', { namedCurve: 'P-256' });

export interface Authority {
  name: string;
  keys: KeyPair;
}

/** Networks with prefix length, and domains: all that this authority's certificates may name. */
export interface Realm {
  networks: readonly string[];
  domains: readonly string[];
}

/** An authority's self-signed certificate. It may sign hosts in its realm, but no other authorities. */
export function authorityCertificate(
  authority: Authority,
  realm: Realm,
  days: number,
  nowMs: number,
): string {
  const { name, keys } = authority;
  const permitted = [
    ...realm.domains.map((domain) => sequence(tagged(2, false, Buffer.from(domain)))),
    ...realm.networks.map((network) => sequence(tagged(7, false, networkBytes(network)))),
  ];
  const extensions = [
    extension(OID.basic, true, sequence(trueValue(), integer(Buffer.from([0])))),
    // keyCertSign, cRLSign
    extension(OID.keyUsage, true, bits(Buffer.from([0x06]), 1)),
    extension(OID.nameConstraints, true, sequence(tagged(0, true, ...permitted))),
    extension(OID.subjectKey, false, octets(keyId(keys.publicKey))),
  ];
  return certificate(name, keys.publicKey, authority, extensions, days, nowMs);
}

export interface CertifiedHost {
  publicKey: KeyObject;
  name: string;
  addresses: readonly string[];
  names: readonly string[];
  /** It also presents the certificate when it connects as a client. */
  isClient?: boolean;
}

/** A host's certificate for its addresses and names. */
export function hostCertificate(
  authority: Authority,
  host: CertifiedHost,
  days: number,
  nowMs: number,
): string {
  const alternatives = [
    ...host.names.map((name) => tagged(2, false, Buffer.from(name))),
    ...host.addresses.map((address) => tagged(7, false, addressBytes(address))),
  ];
  const usages = [oid(OID.serverAuth), ...(host.isClient ? [oid(OID.clientAuth)] : [])];
  const extensions = [
    extension(OID.basic, true, sequence()),
    // digitalSignature
    extension(OID.keyUsage, true, bits(Buffer.from([0x80]), 7)),
    extension(OID.extendedUsage, false, sequence(...usages)),
    extension(OID.altName, false, sequence(...alternatives)),
    extension(OID.subjectKey, false, octets(keyId(host.publicKey))),
    extension(OID.authorityKey, false, sequence(tagged(0, false, keyId(authority.keys.publicKey)))),
  ];
  return certificate(host.name, host.publicKey, authority, extensions, days, nowMs);
}

function certificate(
  subject: string,
  publicKey: KeyObject,
  authority: Authority,
  extensions: Buffer[],
  days: number,
  nowMs: number,
): string {
  const serial = randomBytes(16);
  serial[0]! &= 0x7f;
  serial[0]! |= 0x01;
  const algorithm = sequence(oid(OID.ecdsaSha256));
  // Headset clocks may be wrong.
  const from = new Date(nowMs - BACKDATED_MS);
  const until = new Date(nowMs + days * DAY_MS);
  const body = sequence(
    tagged(0, true, integer(Buffer.from([2]))),
    integer(serial),
    algorithm,
    distinguishedName(authority.name),
    sequence(time(from), time(until)),
    distinguishedName(subject),
    publicKey.export({ type: 'spki', format: 'der' }),
    tagged(3, true, sequence(...extensions)),
  );
  const signature = sign('sha256', body, authority.keys.privateKey);
  return pem(sequence(body, algorithm, bits(signature)));
}

function pem(bytes: Buffer): string {
  const lines = bytes.toString('base64').replace(/.{64}/g, '$&\n');
  return `-----BEGIN CERTIFICATE-----\n${lines.trim()}\n-----END CERTIFICATE-----\n`;
}

function distinguishedName(name: string): Buffer {
  const part = (id: string, text: string) => setOf(sequence(oid(id), utf8(text)));
  return sequence(part(OID.organization, 'Farhand'), part(OID.commonName, name));
}

function extension(id: string, critical: boolean, value: Buffer): Buffer {
  return sequence(oid(id), critical ? trueValue() : Buffer.alloc(0), octets(value));
}

/** SHA-1 of the public key's bits, the usual key identifier; no security depends on it. */
function keyId(key: KeyObject): Buffer {
  const { x = '', y = '' } = key.export({ format: 'jwk' });
  const point = Buffer.concat([Buffer.from([4]), Buffer.from(x, 'base64url'), Buffer.from(y, 'base64url')]);
  return createHash('sha1').update(point).digest();
}

function addressBytes(address: string): Buffer {
  const bytes = parseIp(address);
  if (bytes === null) throw new Error(`not an address: ${address}`);
  return Buffer.from(bytes);
}

/** `10.0.0.0/8` as address and mask. */
function networkBytes(network: string): Buffer {
  const [address = '', length = ''] = network.split('/');
  const bytes = addressBytes(address);
  const mask = Buffer.from(
    bytes.map((_, i) => 255 & ~(255 >> Math.min(8, Math.max(0, Number(length) - 8 * i)))),
  );
  return Buffer.concat([bytes, mask]);
}

/** Whether an authority may certify the addresses of a network. */
export const mayCertify = (authorityPem: string, network: string): boolean =>
  new X509Certificate(authorityPem).raw.includes(tagged(7, false, networkBytes(network)));
