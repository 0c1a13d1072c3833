import type { Reason } from '../../core/counters.ts';

/** Every datagram: "FH", version digit, type letter, then UTF-8 JSON. */
export const TYPES = {
  bye: 0x62, // b
  command: 0x63, // c
  desk: 0x64, // d
  hello: 0x68, // h
  probe: 0x70, // p
  probeReply: 0x71, // q
  receipt: 0x72, // r
  state: 0x73, // s
  world: 0x6f, // o: the objects of a simulated world
  request: 0x75, // u
  hand: 0x77, // w
  hands: 0x76, // v, not JSON
} as const;

export type MessageType = keyof typeof TYPES;
export type Json = Record<string, unknown>;

const MAGIC = [0x46, 0x48, 0x31]; // F H 1
export const TAG_BYTES = 4;
const encoder = new TextEncoder();
const decoder = new TextDecoder('utf-8', { fatal: false });
const NAMES = new Map<number, MessageType>(
  Object.entries(TYPES).map(([name, code]) => [code, name as MessageType]),
);

/** Writes tag and body into `out`; returns the length, 0 when it does not fit. */
export function writeFrame(type: MessageType, body: object, out: Uint8Array): number {
  writeTag(type, out);
  const text = JSON.stringify(body);
  const { read, written } = encoder.encodeInto(text, out.subarray(TAG_BYTES));
  return read === text.length ? TAG_BYTES + written : 0;
}

/** Only the tag, for bodies that are not JSON; returns where the body starts. */
export function writeTag(type: MessageType, out: Uint8Array): number {
  out[0] = MAGIC[0]!;
  out[1] = MAGIC[1]!;
  out[2] = MAGIC[2]!;
  out[3] = TYPES[type];
  return TAG_BYTES;
}

/** The type of a datagram by its tag alone, before parsing. */
export function frameType(bytes: Uint8Array, length: number): MessageType | null {
  if (length < TAG_BYTES + 2 || bytes[0] !== MAGIC[0] || bytes[1] !== MAGIC[1] || bytes[2] !== MAGIC[2])
    return null;
  return NAMES.get(bytes[3]!) ?? null;
}

/** The JSON object of a datagram whose tag was checked; null when it is not an object. */
export function frameBody(bytes: Uint8Array, length: number): Json | null {
  try {
    const body: unknown = JSON.parse(decoder.decode(bytes.subarray(TAG_BYTES, length)));
    return typeof body === 'object' && body !== null && !Array.isArray(body) ? (body as Json) : null;
  } catch {
    return null;
  }
}

/** A finite number, or NaN; the caller chooses the reason. */
export function numberOf(value: unknown): number {
  return typeof value === 'number' && Number.isFinite(value) ? value : Number.NaN;
}

export function countOf(value: unknown): number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 ? value : Number.NaN;
}

/** A stamp that may be unknown: null stands for NaN on the wire. */
export const stampFromJson = (value: unknown): number => numberOf(value);

/** 10⁻⁷ rad: finer than any encoder here, and half the datagram. */
export const ANGLE_PLACES = 7;

/** Fills `out` from a JSON array; returns a reason when it does not hold exactly that many finite numbers. */
export function anglesFromJson(value: unknown, out: Float64Array): Reason | null {
  if (!Array.isArray(value)) return 'malformed';
  if (value.length !== out.length) return 'joint-count';
  for (let i = 0; i < out.length; i++) if (!Number.isFinite(value[i])) return 'non-finite';
  for (let i = 0; i < out.length; i++) out[i] = value[i] as number;
  return null;
}
