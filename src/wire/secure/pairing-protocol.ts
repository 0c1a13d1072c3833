import { hkdfSync, randomBytes, timingSafeEqual } from 'node:crypto';
import { z } from 'zod';
import { parseJson } from '../../core/parse-json.ts';
import {
  type CpaceInputs,
  type CpaceMessage,
  CpaceRun,
  lvCat,
  SHARE_BYTES,
  TAG_BYTES,
  transcript,
} from './cpace.ts';
import { isKeyName } from './key-file.ts';

/**
 * Pairing by a short code, one JSON object per line:
 *
 *     operator → robot   {"protocol":"farhand-pair/1","name":…,"nonce":…}
 *     robot → operator   {"name":…,"nonce":…,"share":…}            CPace message of A
 *     operator → robot   {"share":…,"tag":…}                       CPace message of B and its proof
 *     robot → operator   {"tag":…}                                 the robot's proof; it has stored the key
 *
 * or {"refused":reason} in place of a robot's line. Bytes are base64. Both names, both roles and both nonces
 * enter the generator, so the proofs fail if anything in the exchange is altered. The operator proves
 * first: a connection to the robot reveals nothing before it has spent a guess, and one that breaks off
 * earlier costs no guess.
 */

const PAIRING_PROTOCOL = 'farhand-pair/1';
export const MAX_LINE_BYTES = 4096;
export const GUESSES_PER_CODE = 3;
export const MAX_CODES = 5;

const KEY_LABEL = 'farhand link key v1';
const NONCE_BYTES = 16;
// Crockford's base 32: easily confused characters are read as the intended ones.
const ALPHABET = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';
const CODE_LENGTH = 8;

const utf8 = (text: string): Uint8Array => new TextEncoder().encode(text);
// Fixed per role, so that a message cannot be reflected as its own answer.
const ROBOT_DATA = utf8('robot');
const OPERATOR_DATA = utf8('operator');

export type Refusal = 'bad-message' | 'other-version' | 'wrong-code' | 'code-changed' | 'not-stored';
const REFUSALS = [
  'bad-message',
  'other-version',
  'wrong-code',
  'code-changed',
  'not-stored',
] as const satisfies readonly Refusal[];

const octets = (count: number) =>
  z
    .base64()
    .length(4 * Math.ceil(count / 3))
    .transform((text) => new Uint8Array(Buffer.from(text, 'base64')))
    .refine((bytes) => bytes.length === count);
const name = z.string().refine(isKeyName);
const helloSchema = z.strictObject({ protocol: z.string(), name, nonce: octets(NONCE_BYTES) });
const offerSchema = z.strictObject({ name, nonce: octets(NONCE_BYTES), share: octets(SHARE_BYTES) });
const proofSchema = z.strictObject({ share: octets(SHARE_BYTES), tag: octets(TAG_BYTES) });
const acceptSchema = z.strictObject({ tag: octets(TAG_BYTES) });
const refusedSchema = z.strictObject({ refused: z.enum(REFUSALS) });
const versionSchema = z.object({ protocol: z.string() });

/** 40 random bits as XXXX-XXXX. */
export function createCode(): string {
  const symbols = Array.from(randomBytes(CODE_LENGTH), (byte) => ALPHABET[byte & 31]);
  return `${symbols.slice(0, 4).join('')}-${symbols.slice(4).join('')}`;
}

/** The canonical spelling of a typed code; null if it cannot be one. */
export function parseCode(typed: string): string | null {
  const code = typed.toUpperCase().replace(/[\s-]/g, '').replaceAll('O', '0').replace(/[IL]/g, '1');
  const valid = code.length === CODE_LENGTH && [...code].every((symbol) => ALPHABET.includes(symbol));
  return valid ? `${code.slice(0, 4)}-${code.slice(4)}` : null;
}

export type RobotStep =
  | { kind: 'reply'; line: string }
  /**
   * The operator knows the code. Store the key, then send `line`; if storing fails, send
   * `refusalLine('not-stored')`.
   */
  | { kind: 'paired'; peer: string; key: Uint8Array; line: string }
  /** Send `line` and hang up. */
  | { kind: 'refused'; reason: Refusal; line: string };

/**
 * The code on the robot machine: valid for three wrong guesses, then replaced, five codes in total; one
 * pairing.
 */
export class PairingOffer {
  readonly robotName: string;
  readonly #newCode: () => string;
  #code: string;
  #codes = 1;
  #failures = 0;
  #state: 'open' | 'paired' | 'exhausted' = 'open';

  constructor(robotName: string, newCode: () => string = createCode) {
    this.robotName = robotName;
    this.#newCode = newCode;
    this.#code = newCode();
  }

  get code(): string {
    return this.#code;
  }

  get guessesLeft(): number {
    return GUESSES_PER_CODE - this.#failures;
  }

  get paired(): boolean {
    return this.#state === 'paired';
  }

  /** More wrong guesses than typing errors explain; nothing is accepted any more. */
  get exhausted(): boolean {
    return this.#state === 'exhausted';
  }

  /** One connection. Any number may be open: guesses are counted here. */
  open(): RobotExchange {
    return new RobotExchange(this);
  }

  /** Called by exchanges when a proof is checked. */
  judge(code: string, right: boolean): 'accepted' | 'wrong-code' | 'code-changed' {
    if (this.#state !== 'open' || code !== this.#code) return 'code-changed';
    if (right) {
      this.#state = 'paired';
      return 'accepted';
    }
    this.#failures++;
    if (this.#failures === GUESSES_PER_CODE) this.#rotate();
    return 'wrong-code';
  }

  #rotate(): void {
    if (this.#codes === MAX_CODES) {
      this.#state = 'exhausted';
      return;
    }
    this.#codes++;
    this.#failures = 0;
    this.#code = this.#newCode();
  }
}

class RobotExchange {
  readonly #offer: PairingOffer;
  readonly #code: string;
  #run: { cpace: CpaceRun; inputs: CpaceInputs; peer: string } | null = null;

  constructor(offer: PairingOffer) {
    this.#offer = offer;
    this.#code = offer.code;
  }

  receive(line: string): RobotStep {
    return this.#run === null ? this.#greet(parseLine(line)) : this.#judge(this.#run, parseLine(line));
  }

  #greet(message: unknown): RobotStep {
    const version = versionSchema.safeParse(message);
    if (version.success && version.data.protocol !== PAIRING_PROTOCOL) return refuse('other-version');
    const hello = helloSchema.safeParse(message);
    if (!hello.success) return refuse('bad-message');
    const nonce = new Uint8Array(randomBytes(NONCE_BYTES));
    const robot = { name: this.#offer.robotName, nonce };
    const inputs = cpaceInputs(this.#code, hello.data, robot);
    const cpace = new CpaceRun('a', inputs, ROBOT_DATA);
    this.#run = { cpace, inputs, peer: hello.data.name };
    return { kind: 'reply', line: toLine({ ...robot, share: cpace.message.share }) };
  }

  #judge({ cpace, inputs, peer }: { cpace: CpaceRun; inputs: CpaceInputs; peer: string }, message: unknown) {
    const proof = proofSchema.safeParse(message);
    if (!proof.success) return refuse('bad-message');
    const operator: CpaceMessage = { share: proof.data.share, data: OPERATOR_DATA };
    const result = cpace.finish(operator);
    if (result === null) return refuse('bad-message');
    const verdict = this.#offer.judge(this.#code, timingSafeEqual(result.peerTag, proof.data.tag));
    if (verdict !== 'accepted') return refuse(verdict);
    const key = linkKey(result.isk, inputs, cpace.message, operator);
    return { kind: 'paired', peer, key, line: toLine({ tag: result.tag }) } as const;
  }
}

export type OperatorStep =
  | { kind: 'reply'; line: string }
  | { kind: 'paired'; peer: string; key: Uint8Array }
  /** `impostor`: the other side could not prove that it knows the code. */
  | { kind: 'refused'; reason: Refusal | 'impostor' };

export class OperatorExchange {
  readonly #name: string;
  readonly #code: string;
  readonly #nonce = new Uint8Array(randomBytes(NONCE_BYTES));
  #expected: { tag: Uint8Array; key: Uint8Array; peer: string } | null = null;

  /** `code` as `parseCode` returns it. */
  constructor(operatorName: string, code: string) {
    this.#name = operatorName;
    this.#code = code;
  }

  hello(): string {
    return toLine({ protocol: PAIRING_PROTOCOL, name: this.#name, nonce: this.#nonce });
  }

  receive(line: string): OperatorStep {
    const message = parseLine(line);
    const refused = refusedSchema.safeParse(message);
    if (refused.success) return { kind: 'refused', reason: refused.data.refused };
    return this.#expected === null ? this.#prove(message) : this.#accept(this.#expected, message);
  }

  #prove(message: unknown): OperatorStep {
    const offer = offerSchema.safeParse(message);
    if (!offer.success) return { kind: 'refused', reason: 'bad-message' };
    const inputs = cpaceInputs(this.#code, { name: this.#name, nonce: this.#nonce }, offer.data);
    const cpace = new CpaceRun('b', inputs, OPERATOR_DATA);
    const robot: CpaceMessage = { share: offer.data.share, data: ROBOT_DATA };
    const result = cpace.finish(robot);
    if (result === null) return { kind: 'refused', reason: 'bad-message' };
    const key = linkKey(result.isk, inputs, robot, cpace.message);
    this.#expected = { tag: result.peerTag, key, peer: offer.data.name };
    return { kind: 'reply', line: toLine({ share: cpace.message.share, tag: result.tag }) };
  }

  #accept(expected: { tag: Uint8Array; key: Uint8Array; peer: string }, message: unknown): OperatorStep {
    const accept = acceptSchema.safeParse(message);
    if (!accept.success) return { kind: 'refused', reason: 'bad-message' };
    if (!timingSafeEqual(expected.tag, accept.data.tag)) return { kind: 'refused', reason: 'impostor' };
    return { kind: 'paired', peer: expected.peer, key: expected.key };
  }
}

export const refusalLine = (reason: Refusal): string => toLine({ refused: reason });

const refuse = (reason: Refusal) => ({ kind: 'refused', reason, line: refusalLine(reason) }) as const;

interface Party {
  name: string;
  nonce: Uint8Array;
}

function cpaceInputs(code: string, operator: Party, robot: Party): CpaceInputs {
  return {
    secret: utf8(code),
    channel: lvCat(
      ...[PAIRING_PROTOCOL, 'operator', operator.name, 'robot', robot.name].map((part) => utf8(part)),
    ),
    session: new Uint8Array(Buffer.concat([operator.nonce, robot.nonce])),
  };
}

function linkKey(isk: Uint8Array, inputs: CpaceInputs, robot: CpaceMessage, operator: CpaceMessage) {
  const info = lvCat(utf8(KEY_LABEL), inputs.channel, transcript(robot, operator));
  return new Uint8Array(hkdfSync('sha512', isk, inputs.session, info, 32));
}

function toLine(message: Record<string, string | Uint8Array>): string {
  const encode = (_: string, value: unknown) =>
    value instanceof Uint8Array ? Buffer.from(value).toString('base64') : value;
  return `${JSON.stringify(message, encode)}\n`;
}

const lineSchema = z.record(z.string(), z.unknown());

const parseLine = (line: string): unknown => parseJson(line, lineSchema, MAX_LINE_BYTES);

/** Splits a byte stream into lines, buffering at most one line of MAX_LINE_BYTES. */
export class LineSplitter {
  #held = Buffer.alloc(0);

  /** The lines that `chunk` completes, or null when one is too long: hang up then. */
  push(chunk: Uint8Array): string[] | null {
    const lines: string[] = [];
    let from = 0;
    for (let end = chunk.indexOf(10); end !== -1; end = chunk.indexOf(10, from)) {
      if (this.#held.length + end - from > MAX_LINE_BYTES) return null;
      lines.push(Buffer.concat([this.#held, chunk.subarray(from, end)]).toString('utf8'));
      this.#held = Buffer.alloc(0);
      from = end + 1;
    }
    if (this.#held.length + chunk.length - from > MAX_LINE_BYTES) return null;
    this.#held = Buffer.concat([this.#held, chunk.subarray(from)]);
    return lines;
  }
}
