import {
  createHash,
  createHmac,
  createSecretKey,
  hkdfSync,
  type KeyObject,
  timingSafeEqual,
} from 'node:crypto';
import { COOKIE_BYTES } from './cookie.ts';
import { DH_BYTES, type NoiseKeys, SymmetricState } from './noise.ts';
import { type LETTER, SEAL_TAG_BYTES, writeSealTag } from './tags.ts';

/**
 * Four datagrams make fresh keys from the paired key; protocol/SPEC.md has their bytes.
 *   operator → robot   knock    request to connect
 *   robot → operator   cookie   proves that the operator receives at its address
 *   operator → robot   init     the cookie, and the first message of Noise_NNpsk0
 *   robot → operator   accept   the second message, with the index of the session
 * The robot keeps no state and agrees on no keys until an init is authentic and its cookie fresh. All four end
 * with a short mac, so that forgeries cost one hash. No answer is longer than its request.
 */
export interface SessionKeys {
  operatorToRobot: KeyObject;
  robotToOperator: KeyObject;
  /** Chosen by the robot; both sides put it into every packet. */
  index: number;
}

export const KEY_ID_BYTES = 8;
export const NONCE_BYTES = 16;
const MAC_BYTES = 16;
const AEAD_TAG_BYTES = 16;
export const INDEX_BYTES = 4;

export const KNOCK = {
  keyId: SEAL_TAG_BYTES,
  nonce: SEAL_TAG_BYTES + KEY_ID_BYTES,
  mac: SEAL_TAG_BYTES + KEY_ID_BYTES + NONCE_BYTES + 8,
  bytes: 52,
} as const;
export const COOKIE = {
  nonce: SEAL_TAG_BYTES,
  cookie: SEAL_TAG_BYTES + NONCE_BYTES,
  mac: SEAL_TAG_BYTES + NONCE_BYTES + COOKIE_BYTES,
  bytes: 52,
} as const;
export const INIT = {
  keyId: SEAL_TAG_BYTES,
  cookie: SEAL_TAG_BYTES + KEY_ID_BYTES,
  noise: SEAL_TAG_BYTES + KEY_ID_BYTES + COOKIE_BYTES,
  mac: SEAL_TAG_BYTES + KEY_ID_BYTES + COOKIE_BYTES + DH_BYTES + AEAD_TAG_BYTES,
  bytes: 92,
} as const;
export const ACCEPT = {
  noise: SEAL_TAG_BYTES,
  mac: SEAL_TAG_BYTES + DH_BYTES + INDEX_BYTES + AEAD_TAG_BYTES,
  bytes: 72,
} as const;

/** Binds version, roles and cookie into every key. */
const PROLOGUE = Buffer.from('farhand sealed link 2, operator to robot');

/** What both sides derive from a paired key, once. */
export interface Paired {
  id: Buffer;
  macKey: Buffer;
  psk: Uint8Array;
}

export function paired(psk: Uint8Array): Paired {
  const id = createHash('sha256').update('farhand key id').update(psk).digest().subarray(0, KEY_ID_BYTES);
  const macKey = Buffer.from(hkdfSync('sha256', psk, '', 'farhand sealed link mac', 32));
  return { id, macKey, psk };
}

export const startNoise = (key: Paired, cookie: Uint8Array): SymmetricState =>
  SymmetricState.start(Buffer.concat([PROLOGUE, cookie]), key.psk);

/** Detects forgeries before any costlier step. */
export function mac(key: Paired, ...parts: Uint8Array[]): Buffer {
  const hmac = createHmac('sha256', key.macKey);
  for (const part of parts) hmac.update(part);
  return hmac.digest().subarray(0, MAC_BYTES);
}

export const isEqual = (a: Uint8Array, b: Uint8Array): boolean =>
  a.length === b.length && timingSafeEqual(a, b);

export function newDatagram(letter: (typeof LETTER)[keyof typeof LETTER], bytes: number): Buffer {
  const out = Buffer.alloc(bytes);
  writeSealTag(letter, out);
  return out;
}

export function sessionKeys(keys: NoiseKeys, index: number): SessionKeys {
  return {
    operatorToRobot: createSecretKey(keys.toResponder),
    robotToOperator: createSecretKey(keys.toInitiator),
    index,
  };
}
