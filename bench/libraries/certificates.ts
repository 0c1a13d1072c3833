import { spawnSync } from 'node:child_process';
import { type KeyObject, type webcrypto, X509Certificate } from 'node:crypto';
import { createRequire } from 'node:module';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { authorityCertificate, createKeyPair, hostCertificate } from '../../src/console/x509.ts';
import type { Check } from '../text-table.ts';
import { type Comparison, compare, median } from './compare.ts';

type Key = webcrypto.CryptoKey;

/** The part of `@peculiar/x509` used here; it is not a dependency. */
type Make = new (...parts: unknown[]) => object;
interface X509Library {
  X509CertificateGenerator: { create(what: object): Promise<{ toString(format: 'pem'): string }> };
  KeyUsageFlags: Record<'keyCertSign' | 'cRLSign' | 'digitalSignature', number>;
  BasicConstraintsExtension: Make;
  KeyUsagesExtension: Make;
  ExtendedKeyUsageExtension: Make;
  SubjectAlternativeNameExtension: Make;
  Extension: Make;
  SubjectKeyIdentifierExtension: { create(key: Key): Promise<object> };
  AuthorityKeyIdentifierExtension: { create(key: Key): Promise<object> };
}
interface Asn1Library {
  AsnConvert: { serialize(value: object): ArrayBuffer };
  NameConstraints: Make;
  GeneralSubtrees: Make;
  GeneralSubtree: Make;
  GeneralName: Make;
}

const NAME = 'Farhand on bench';
const REALM = { networks: ['10.0.0.0/8', '192.168.0.0/16'], domains: ['localhost', 'local'] };
const HOST = { name: 'bench', addresses: ['10.1.2.3'], names: ['localhost', 'bench.local'] };
const [DAYS, DAY_MS, NOW_MS] = [390, 24 * 3600e3, Date.UTC(2026, 0)];
const ALGORITHM = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' };
const CALLS = 10;
const LOADS = 5;

const authority = { name: NAME, keys: createKeyPair() };
const host = createKeyPair();

const ours = (): [string, string] => [
  authorityCertificate(authority, REALM, DAYS, NOW_MS),
  hostCertificate(authority, { ...HOST, publicKey: host.publicKey }, DAYS, NOW_MS),
];

const nameOf = (text: string) => [{ O: [{ utf8String: 'Farhand' }] }, { CN: [{ utf8String: text }] }];

async function authorityExtensions(x509: X509Library, asn1: Asn1Library, key: Key): Promise<object[]> {
  const permitted = [
    ...REALM.domains.map((dNSName) => ({ dNSName })),
    ...REALM.networks.map((iPAddress) => ({ iPAddress })),
  ].map((name) => new asn1.GeneralSubtree({ base: new asn1.GeneralName(name) }));
  const constraints = new asn1.NameConstraints({ permittedSubtrees: new asn1.GeneralSubtrees(permitted) });
  const { keyCertSign, cRLSign } = x509.KeyUsageFlags;
  return [
    new x509.BasicConstraintsExtension(true, 0, true),
    new x509.KeyUsagesExtension(keyCertSign | cRLSign, true),
    // The library has no class for name constraints.
    new x509.Extension('2.5.29.30', true, asn1.AsnConvert.serialize(constraints)),
    await x509.SubjectKeyIdentifierExtension.create(key),
  ];
}

async function hostExtensions(x509: X509Library, key: Key, authorityKey: Key): Promise<object[]> {
  return [
    new x509.BasicConstraintsExtension(false, undefined, true),
    new x509.KeyUsagesExtension(x509.KeyUsageFlags.digitalSignature, true),
    new x509.ExtendedKeyUsageExtension(['1.3.6.1.5.5.7.3.1']),
    new x509.SubjectAlternativeNameExtension([
      ...HOST.names.map((value) => ({ type: 'dns', value })),
      ...HOST.addresses.map((value) => ({ type: 'ip', value })),
    ]),
    await x509.SubjectKeyIdentifierExtension.create(key),
    await x509.AuthorityKeyIdentifierExtension.create(authorityKey),
  ];
}

/** The same two certificates made by the library, with our serial numbers, so that the bytes can be compared. */
async function libraryMaker(x509: X509Library, asn1: Asn1Library) {
  const secret = authority.keys.privateKey.export({ type: 'pkcs8', format: 'der' });
  const signingKey = await crypto.subtle.importKey('pkcs8', secret, ALGORITHM, true, ['sign']);
  const publicKey = (key: KeyObject): Promise<Key> =>
    crypto.subtle.importKey('spki', key.export({ type: 'spki', format: 'der' }), ALGORITHM, true, ['verify']);
  const [caKey, hostKey] = [await publicKey(authority.keys.publicKey), await publicKey(host.publicKey)];
  const certificate = async (serialNumber: string, subject: string, key: Key, extensions: object[]) => {
    const made = await x509.X509CertificateGenerator.create({
      serialNumber,
      subject: nameOf(subject),
      issuer: nameOf(NAME),
      notBefore: new Date(NOW_MS - DAY_MS),
      notAfter: new Date(NOW_MS + DAYS * DAY_MS),
      signingAlgorithm: ALGORITHM,
      publicKey: key,
      signingKey,
      extensions,
    });
    return `${made.toString('pem')}\n`;
  };
  return async (serials: readonly [string, string]): Promise<[string, string]> => [
    await certificate(serials[0], NAME, caKey, await authorityExtensions(x509, asn1, caKey)),
    await certificate(serials[1], HOST.name, hostKey, await hostExtensions(x509, hostKey, caKey)),
  ];
}

/** Milliseconds that a fresh process takes to load a module, and its heap afterwards. */
function load(statement: string): { ms: number; heapMb: number } {
  const script = `const from = performance.now(); ${statement}; console.log(JSON.stringify({ ms: performance.now() - from, heapMb: process.memoryUsage().heapUsed / 1e6 }))`;
  const { stdout } = spawnSync(process.execPath, ['--input-type=module', '-e', script], { encoding: 'utf8' });
  return JSON.parse(stdout) as { ms: number; heapMb: number };
}

/** The signed part of a certificate. */
function signedPart(pem: string): Buffer {
  const { raw } = new X509Certificate(pem);
  return raw.subarray(4, 8 + raw.readUInt16BE(6));
}

/** `folder`: where `@peculiar/x509` and `reflect-metadata` are installed. */
export async function compareCertificates(folder: string): Promise<{ rows: Comparison[]; checks: Check[] }> {
  const require = createRequire(path.join(path.resolve(folder), 'x.js'));
  require('reflect-metadata');
  const x509 = require('@peculiar/x509') as X509Library;
  const asn1 = { ...require('@peculiar/asn1-x509'), ...require('@peculiar/asn1-schema') } as Asn1Library;
  const make = await libraryMaker(x509, asn1);
  const [ca, cert] = ours();
  const serials = [ca, cert].map((pem) => new X509Certificate(pem).serialNumber) as [string, string];
  const row = await compare('certificates: an authority and a host', CALLS, ours, () => make(serials));
  const theirs = await make(serials);
  const equal = [ca, cert].every((pem, i) => signedPart(pem).equals(signedPart(theirs[i]!)));
  const valid = new X509Certificate(theirs[1]).verify(new X509Certificate(ca).publicKey);
  return {
    rows: [row],
    checks: [
      {
        what: 'certificates: the library signs the same bytes',
        ok: equal && valid,
        found: equal ? 'yes' : 'no',
      },
      loading(require.resolve('reflect-metadata'), require.resolve('@peculiar/x509')),
    ],
  };
}

function loading(polyfill: string, library: string): Check {
  const url = (file: string) => JSON.stringify(pathToFileURL(file).href);
  const oursUrl = JSON.stringify(new URL('../../src/console/x509.js', import.meta.url).href);
  const [oursLoads, theirLoads] = [[], []] as { ms: number; heapMb: number }[][];
  for (let i = 0; i < LOADS; i++) {
    oursLoads!.push(load(`await import(${oursUrl})`));
    theirLoads!.push(load(`await import(${url(polyfill)}); await import(${url(library)})`));
  }
  const text = (loads: readonly { ms: number; heapMb: number }[]) =>
    `${median(loads.map(({ ms }) => ms)).toFixed(0)} ms, heap ${median(loads.map(({ heapMb }) => heapMb)).toFixed(1)} MB`;
  const found = `ours ${text(oursLoads!)}; library ${text(theirLoads!)}`;
  return { what: 'certificates: loaded in a fresh process', ok: true, found };
}
