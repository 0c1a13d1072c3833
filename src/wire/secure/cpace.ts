import { createHash, createHmac, randomBytes } from 'node:crypto';
import { ristretto255, ristretto255_hasher } from '@noble/curves/ed25519.js';

/**
 * CPACE-RISTR255-SHA512 in the initiator-responder setting, as specified in draft-irtf-cfrg-cpace-21: two
 * parties that know the same short secret agree on a strong one. An eavesdropper learns nothing, and a
 * participant without the secret gets one guess per run. Names follow the draft: A sends first, B answers.
 *
 * Big-integer arithmetic is not constant-time. Every scalar is used for one run only, so timing reveals
 * nothing that could be accumulated across runs.
 */

const DSI = text('CPaceRistretto255');
const DSI_ISK = text('CPaceRistretto255_ISK');
const MAC_LABEL = text('CPaceMac');
const HASH_BLOCK_BYTES = 128;
export const SHARE_BYTES = 32;
export const TAG_BYTES = 64;

/** What both parties must agree on for a run to succeed. */
export interface CpaceInputs {
  /** PRS: the short secret. */
  secret: Uint8Array;
  /** CI: who talks to whom, over what. */
  channel: Uint8Array;
  /** sid: fresh for every run, contributed to by both. */
  session: Uint8Array;
}

/** One party's message: its public share and the data it authenticates along with it. */
export interface CpaceMessage {
  share: Uint8Array;
  data: Uint8Array;
}

export function sha512(...parts: readonly Uint8Array[]): Uint8Array {
  const hash = createHash('sha512');
  for (const part of parts) hash.update(part);
  return new Uint8Array(hash.digest());
}

/** lv_cat: every part preceded by its length in LEB128, so that no two lists of parts encode the same. */
export function lvCat(...parts: readonly Uint8Array[]): Uint8Array {
  const bytes: Uint8Array[] = [];
  for (const part of parts) bytes.push(leb128(part.length), part);
  return new Uint8Array(Buffer.concat(bytes));
}

export function generatorString({ secret, channel, session }: CpaceInputs): Uint8Array {
  const padding = Math.max(0, HASH_BLOCK_BYTES - 1 - lvCat(secret).length - lvCat(DSI).length);
  return lvCat(DSI, secret, new Uint8Array(padding), channel, session);
}

/** The encoded generator; as secret as the short secret itself. */
export function calculateGenerator(inputs: CpaceInputs): Uint8Array {
  return ristretto255_hasher.deriveToCurve!(sha512(generatorString(inputs))).toBytes();
}

/** A scalar from 1 to order − 1, 32 bytes little-endian. For one run only. */
export function sampleScalar(): Uint8Array {
  const { ORDER } = ristretto255.Point.Fn;
  const wide = BigInt(`0x${randomBytes(64).toString('hex')}`);
  return ristretto255.Point.Fn.toBytes((wide % (ORDER - 1n)) + 1n);
}

/** scalar_mult_vfy: null where the draft demands an abort (not an encoding of an element, or the neutral one). */
export function scalarMult(scalar: Uint8Array, element: Uint8Array): Uint8Array | null {
  let point: InstanceType<typeof ristretto255.Point>;
  try {
    point = ristretto255.Point.fromBytes(element);
  } catch {
    return null;
  }
  if (point.is0()) return null;
  return point.multiply(ristretto255.Point.Fn.fromBytes(scalar)).toBytes();
}

export const transcript = (a: CpaceMessage, b: CpaceMessage): Uint8Array =>
  lvCat(a.share, a.data, b.share, b.data);

/** ISK from the shared element K. K itself must not leave this function. */
export function intermediateKey(
  session: Uint8Array,
  k: Uint8Array,
  a: CpaceMessage,
  b: CpaceMessage,
): Uint8Array {
  return sha512(lvCat(DSI_ISK, session, k), transcript(a, b));
}

/** Key confirmation: proof that the sender of `message` arrived at the same ISK. */
export function confirmationTag(session: Uint8Array, isk: Uint8Array, message: CpaceMessage): Uint8Array {
  const key = sha512(MAC_LABEL, session, isk);
  return new Uint8Array(createHmac('sha512', key).update(lvCat(message.share, message.data)).digest());
}

export interface CpaceResult {
  isk: Uint8Array;
  /** The proof to send. */
  tag: Uint8Array;
  /** The proof to expect. Compare in constant time. */
  peerTag: Uint8Array;
}

/** One party in one run. */
export class CpaceRun {
  readonly message: CpaceMessage;
  readonly #role: 'a' | 'b';
  readonly #scalar: Uint8Array;
  readonly #session: Uint8Array;

  constructor(role: 'a' | 'b', inputs: CpaceInputs, data: Uint8Array, scalar = sampleScalar()) {
    this.#role = role;
    this.#scalar = scalar;
    this.#session = inputs.session;
    const share = scalarMult(scalar, calculateGenerator(inputs));
    // A generator that is the neutral element has a probability of 2^-252.
    if (share === null) throw new Error('the generator is the neutral element');
    this.message = { share, data };
  }

  /** Call once. Null when the peer's share is invalid or is our own reflected: abandon the run. */
  finish(peer: CpaceMessage): CpaceResult | null {
    const k = scalarMult(this.#scalar, peer.share);
    this.#scalar.fill(0);
    if (k === null || Buffer.compare(peer.share, this.message.share) === 0) return null;
    const [a, b] = this.#role === 'a' ? [this.message, peer] : [peer, this.message];
    const isk = intermediateKey(this.#session, k, a, b);
    k.fill(0);
    return {
      isk,
      tag: confirmationTag(this.#session, isk, this.message),
      peerTag: confirmationTag(this.#session, isk, peer),
    };
  }
}

function leb128(value: number): Uint8Array {
  const bytes: number[] = [];
  do {
    bytes.push((value & 0x7f) | (value > 0x7f ? 0x80 : 0));
    value >>>= 7;
  } while (value > 0);
  return Uint8Array.from(bytes);
}

function text(ascii: string): Uint8Array {
  return new TextEncoder().encode(ascii);
}
