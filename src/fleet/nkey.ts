import { createPrivateKey, type KeyObject, sign } from 'node:crypto';
import { publicKey } from './leases/lease-keys.ts';

/** NATS keys with Node's own signatures: the library's, in JavaScript, cost 10 ms of CPU each. */

const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567';
const PKCS8 = Buffer.from('302e020100300506032b657004220420', 'hex');

function decoded(text: string): Buffer {
  const bytes: number[] = [];
  let value = 0;
  let bits = 0;
  for (const letter of text) {
    value = (value << 5) | Math.max(0, ALPHABET.indexOf(letter));
    bits += 5;
    if (bits < 8) continue;
    bytes.push((value >> (bits - 8)) & 0xff);
    bits -= 8;
    value &= (1 << bits) - 1;
  }
  return Buffer.from(bytes);
}

/** Signs with the key of a credentials file; base64url. */
export function seedSigner(seed: string): (data: string) => string {
  const key = createPrivateKey({
    ...{ key: Buffer.concat([PKCS8, decoded(seed).subarray(2, 34)]), format: 'der', type: 'pkcs8' },
  } as const);
  return (data) => sign(null, Buffer.from(data), key).toString('base64url');
}

/** A public key as NATS writes it; null: not one. */
export const natsPublicKey = (text: string): KeyObject | null =>
  publicKey(decoded(text).subarray(1, 33).toString('base64url'));
