import {
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  type KeyObject,
  sign,
  verify,
} from 'node:crypto';

/** Ed25519 keys as text: a private one as PEM, a public one as its 32 bytes in base64url. */

const SPKI = Buffer.from('302a300506032b6570032100', 'hex');
const PUBLIC_BYTES = 32;

export function makeKey(): { privatePem: string; publicKey: string } {
  const { privateKey } = generateKeyPairSync('ed25519');
  const privatePem = privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
  return { privatePem, publicKey: publicKeyOf(privatePem) };
}

export const publicKeyOf = (privatePem: string): string =>
  createPublicKey(privatePem)
    .export({ type: 'spki', format: 'der' })
    .subarray(-PUBLIC_BYTES)
    .toString('base64url');

/** Signs with a private key; base64url. */
export function signer(privatePem: string): (text: string) => string {
  const key = createPrivateKey(privatePem);
  return (text) => sign(null, Buffer.from(text), key).toString('base64url');
}

/** Null: not a public key. */
export function publicKey(text: string): KeyObject | null {
  const bytes = Buffer.from(text, 'base64url');
  if (bytes.length !== PUBLIC_BYTES) return null;
  try {
    return createPublicKey({ key: Buffer.concat([SPKI, bytes]), format: 'der', type: 'spki' });
  } catch {
    return null;
  }
}

export function isSignedBy(key: KeyObject, text: string, signature: string): boolean {
  const bytes = Buffer.from(signature, 'base64url');
  return bytes.length === 64 && verify(null, Buffer.from(text), key, bytes);
}
