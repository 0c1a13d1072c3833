import {
  createHmac,
  createPublicKey,
  createSecretKey,
  diffieHellman,
  generateKeyPairSync,
  hkdfSync,
  type KeyObject,
  timingSafeEqual,
} from 'node:crypto';
import { frameBody, type Json, writeFrame } from '../codecs/frame.ts';
import { keyId } from './key-file.ts';

/**
 * Two messages make fresh keys from the paired key and two ephemeral X25519 keys:
 *   operator → robot   init   { key: id, e: operator's public key, mac }
 *   robot → operator   accept { e: robot's public key, re: operator's public key, index, mac }
 * The paired key authenticates both; the ephemeral keys make past traffic useless to a later thief of it.
 * The robot trusts the new keys only after the first packet sealed with them.
 */
export interface SessionKeys {
  operatorToRobot: KeyObject;
  robotToOperator: KeyObject;
  /** Chosen by the robot; the operator puts it on every packet. */
  index: number;
}

const PUBLIC_BYTES = 32;
const MAC_BYTES = 32;
/** DER header of an X25519 SubjectPublicKeyInfo; the raw key follows. */
const SPKI_PREFIX = Buffer.from('302a300506032b656e032100', 'hex');

interface Ephemeral {
  privateKey: KeyObject;
  publicBytes: Buffer;
}

function newEphemeral(): Ephemeral {
  const { privateKey, publicKey } = generateKeyPairSync('x25519');
  return {
    privateKey,
    publicBytes: publicKey.export({ type: 'spki', format: 'der' }).subarray(-PUBLIC_BYTES),
  };
}

const mac = (key: Uint8Array, ...parts: (string | Uint8Array)[]): Buffer => {
  const hmac = createHmac('sha256', key);
  for (const part of parts) hmac.update(part);
  return hmac.digest();
};

const isEqual = (a: Buffer, b: Buffer): boolean => a.length === b.length && timingSafeEqual(a, b);

/** Fixed-size bytes from a base64 field, or null. */
function bytesField(body: Json, name: string, size: number): Buffer | null {
  const value = body[name];
  if (typeof value !== 'string' || value.length > 4 * size) return null;
  const bytes = Buffer.from(value, 'base64');
  return bytes.length === size ? bytes : null;
}

/** Null when the peer's point is degenerate. */
function agree(own: KeyObject, peer: Buffer): Buffer | null {
  try {
    const publicKey = createPublicKey({
      key: Buffer.concat([SPKI_PREFIX, peer]),
      format: 'der',
      type: 'spki',
    });
    return diffieHellman({ privateKey: own, publicKey });
  } catch {
    return null;
  }
}

function derive(psk: Uint8Array, shared: Buffer, operatorE: Buffer, robotE: Buffer, index: number) {
  const salt = Buffer.concat([operatorE, robotE]);
  const secret = Buffer.concat([shared, psk]);
  const key = (label: string) =>
    Buffer.from(hkdfSync('sha256', secret, salt, `farhand ${label} ${index}`, 32));
  return {
    confirm: key('accept'),
    keys: {
      operatorToRobot: createSecretKey(key('operator to robot')),
      robotToOperator: createSecretKey(key('robot to operator')),
      index,
    },
  };
}

/** The operator's half: one attempt. */
export class HandshakeOffer {
  readonly #psk: Uint8Array;
  readonly #own = newEphemeral();

  constructor(psk: Uint8Array) {
    this.#psk = psk;
  }

  encode(out: Uint8Array): number {
    const e = this.#own.publicBytes;
    const body = {
      key: keyId(this.#psk),
      e: e.toString('base64'),
      mac: mac(this.#psk, 'init', e).toString('base64'),
    };
    return writeFrame('init', body, out);
  }

  /** The keys, when this is the robot's answer to this very offer. */
  accept(bytes: Uint8Array, length: number): SessionKeys | null {
    const body = frameBody(bytes, length);
    if (body === null) return null;
    const robotE = bytesField(body, 'e', PUBLIC_BYTES);
    const echoed = bytesField(body, 're', PUBLIC_BYTES);
    const given = bytesField(body, 'mac', MAC_BYTES);
    const index = body['index'];
    if (!robotE || !echoed || !given || !isEqual(echoed, this.#own.publicBytes)) return null;
    if (typeof index !== 'number' || !Number.isInteger(index) || index < 0 || index > 0xffffffff) return null;
    const shared = agree(this.#own.privateKey, robotE);
    if (shared === null) return null;
    const { confirm, keys } = derive(this.#psk, shared, echoed, robotE, index);
    return isEqual(given, mac(confirm, 'accept', echoed, robotE)) ? keys : null;
  }
}

export interface Accepted {
  keys: SessionKeys;
  reply: Uint8Array;
}

/** The robot's half: answers an authentic offer; the same offer again gets the same answer. */
export class HandshakeAcceptor {
  readonly #psks: ReadonlyMap<string, Uint8Array>;
  readonly #newIndex: () => number;
  #lastOffer: Buffer = Buffer.alloc(0);
  #lastAccepted: Accepted | null = null;

  /** `psks` by key id. `newIndex` must not repeat an index in use. */
  constructor(psks: readonly Uint8Array[], newIndex: () => number) {
    this.#psks = new Map(psks.map((psk) => [keyId(psk), psk]));
    this.#newIndex = newIndex;
  }

  answer(bytes: Uint8Array, length: number): Accepted | 'malformed' | 'unknown-key' | 'bad-auth' {
    const body = frameBody(bytes, length);
    const operatorE = body && bytesField(body, 'e', PUBLIC_BYTES);
    const given = body && bytesField(body, 'mac', MAC_BYTES);
    if (!body || !operatorE || !given || typeof body['key'] !== 'string') return 'malformed';
    const psk = this.#psks.get(body['key']);
    if (psk === undefined) return 'unknown-key';
    if (!isEqual(given, mac(psk, 'init', operatorE))) return 'bad-auth';
    if (this.#lastAccepted !== null && isEqual(operatorE, this.#lastOffer)) return this.#lastAccepted;
    const own = newEphemeral();
    const shared = agree(own.privateKey, operatorE);
    if (shared === null) return 'malformed';
    const index = this.#newIndex();
    const { confirm, keys } = derive(psk, shared, operatorE, own.publicBytes, index);
    const out = new Uint8Array(512);
    const size = writeFrame(
      'accept',
      {
        e: own.publicBytes.toString('base64'),
        re: operatorE.toString('base64'),
        index,
        mac: mac(confirm, 'accept', operatorE, own.publicBytes).toString('base64'),
      },
      out,
    );
    this.#lastOffer = operatorE;
    this.#lastAccepted = { keys, reply: out.subarray(0, size) };
    return this.#lastAccepted;
  }
}
