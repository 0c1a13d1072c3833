import { createHash, createPrivateKey, generateKeyPairSync, type KeyObject, sign } from 'node:crypto';
import { permissionsOf } from '../../src/fleet/permissions.ts';

/**
 * Credentials of thousands of users, each with a key of its own. The fleet's own code takes 20 ms for one,
 * because its library signs in JavaScript.
 */
const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567';
const [USER_PREFIX, SEED_PREFIX] = [20 << 3, 18 << 3];
const PKCS8 = Buffer.from('302e020100300506032b657004220420', 'hex');

function base32(bytes: Uint8Array): string {
  let [text, value, bits] = ['', 0, 0];
  for (const byte of bytes) {
    value = (value << 8) | byte;
    for (bits += 8; bits >= 5; bits -= 5) text += ALPHABET[(value >> (bits - 5)) & 31];
    value &= (1 << bits) - 1;
  }
  return bits > 0 ? text + ALPHABET[(value << (5 - bits)) & 31] : text;
}

function unbase32(text: string): Buffer {
  const bytes: number[] = [];
  let [value, bits] = [0, 0];
  for (const letter of text) {
    value = (value << 5) | ALPHABET.indexOf(letter);
    bits += 5;
    if (bits >= 8) {
      bytes.push((value >> (bits - 8)) & 255);
      bits -= 8;
    }
    value &= (1 << bits) - 1;
  }
  return Buffer.from(bytes);
}

function checked(bytes: Buffer): string {
  let crc = 0;
  for (const byte of bytes) {
    crc ^= byte << 8;
    for (let i = 0; i < 8; i++) crc = crc & 0x8000 ? ((crc << 1) ^ 0x1021) & 0xffff : (crc << 1) & 0xffff;
  }
  return base32(Buffer.concat([bytes, Buffer.from([crc & 255, crc >> 8])]));
}

const privateOf = (seed: Buffer): KeyObject =>
  createPrivateKey({ key: Buffer.concat([PKCS8, seed]), format: 'der', type: 'pkcs8' });
const base64 = (data: string | Buffer): string => Buffer.from(data).toString('base64url');

/** Makes credentials files of an account. `tags`: of the robots' credentials. */
export function userMaker(account: { seed: string; publicKey: string }, tags: readonly string[]) {
  const issuer = privateOf(unbase32(account.seed).subarray(2, 34));
  return (role: 'robot' | 'operator', name: string, robots: readonly string[]): string => {
    const { publicKey, privateKey } = generateKeyPairSync('ed25519');
    const seed = privateKey.export({ format: 'der', type: 'pkcs8' }).subarray(-32);
    const point = publicKey.export({ format: 'der', type: 'spki' }).subarray(-32);
    const { pub, sub } = permissionsOf(role, name, robots);
    const allowed = { pub: { allow: pub }, sub: { allow: sub }, ...(role === 'robot' ? { tags } : {}) };
    const iat = Math.floor(Date.now() / 1000);
    const claims = {
      ...{ jti: '', iat, exp: iat + 36_000, iss: account.publicKey, name },
      sub: checked(Buffer.concat([Buffer.from([USER_PREFIX]), point])),
      nats: { ...allowed, subs: -1, data: -1, payload: -1, type: 'user', version: 2 },
    };
    claims.jti = base32(createHash('sha256').update(JSON.stringify(claims)).digest());
    const body = `${base64('{"typ":"JWT","alg":"ed25519-nkey"}')}.${base64(JSON.stringify(claims))}`;
    const jwt = `${body}.${base64(sign(null, Buffer.from(body), issuer))}`;
    // The prefixes of seed and user share the two first bytes.
    const head = Buffer.from([SEED_PREFIX | (USER_PREFIX >> 5), (USER_PREFIX & 31) << 3]);
    const line = (text: string) => `-----BEGIN ${text}-----`;
    return [
      ...[line('NATS USER JWT'), jwt, '------END NATS USER JWT------', ''],
      ...[line('USER NKEY SEED'), checked(Buffer.concat([head, seed])), '------END USER NKEY SEED------', ''],
    ].join('\n');
  };
}
