import { createPrivateKey, createPublicKey, hkdfSync } from 'node:crypto';

/** Options for the two ends of a CURVE connection, in the form ZeroMQ takes them (Z85). */
export interface CurveKeys {
  server: { curveServer: true; curvePublicKey: string; curveSecretKey: string };
  client: { curveServerKey: string; curvePublicKey: string; curveSecretKey: string };
}

/** DER header of an X25519 PKCS#8 private key; the raw key follows. */
const PKCS8_PREFIX = Buffer.from('302e020100300506032b656e04220420', 'hex');

/**
 * Both ends derive both key pairs from the paired key. The server's public key is therefore a secret of the pair:
 * a CURVE handshake cannot start without it.
 */
export function curveKeys(psk: Uint8Array): CurveKeys {
  const server = keyPair(psk, 'farhand curve robot');
  const client = keyPair(psk, 'farhand curve operator');
  return {
    server: { curveServer: true, curvePublicKey: server.publicKey, curveSecretKey: server.secretKey },
    client: {
      curveServerKey: server.publicKey,
      curvePublicKey: client.publicKey,
      curveSecretKey: client.secretKey,
    },
  };
}

function keyPair(psk: Uint8Array, label: string): { publicKey: string; secretKey: string } {
  const secret = Buffer.from(hkdfSync('sha256', psk, '', label, 32));
  const privateKey = createPrivateKey({
    key: Buffer.concat([PKCS8_PREFIX, secret]),
    format: 'der',
    type: 'pkcs8',
  });
  const publicBytes = createPublicKey(privateKey).export({ type: 'spki', format: 'der' }).subarray(-32);
  return { publicKey: z85(publicBytes), secretKey: z85(secret) };
}

const Z85 = '0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ.-:+=^!/*?&<>()[]{}@%$#';

/** ZeroMQ's base-85 text (RFC 32) of a multiple of four bytes. */
function z85(bytes: Uint8Array): string {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  let text = '';
  for (let at = 0; at < bytes.length; at += 4) {
    const word = view.getUint32(at);
    for (let power = 4; power >= 0; power--) text += Z85[Math.floor(word / 85 ** power) % 85]!;
  }
  return text;
}
