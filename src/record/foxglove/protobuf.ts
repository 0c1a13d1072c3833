/** As much of the protobuf wire format as Foxglove's messages need: numbers, texts, bytes and messages in messages. */
const VARINT = 0;
const LENGTH = 2;
const utf8 = new TextEncoder();
const fromUtf8 = new TextDecoder();

export type Field = readonly [number: number, value: number | bigint | string | Uint8Array];

/** Whole numbers must not be negative. A message inside is passed as its bytes. */
export function protobuf(...fields: readonly Field[]): Uint8Array {
  const parts: Uint8Array[] = [];
  for (const [number, value] of fields) {
    if (typeof value === 'number' || typeof value === 'bigint') {
      parts.push(varint((number << 3) | VARINT), varint(value));
      continue;
    }
    const bytes = typeof value === 'string' ? utf8.encode(value) : value;
    parts.push(varint((number << 3) | LENGTH), varint(bytes.length), bytes);
  }
  return Buffer.concat(parts);
}

function varint(value: number | bigint): Uint8Array {
  const out: number[] = [];
  let rest = BigInt(value);
  for (; rest > 0x7fn; rest >>= 7n) out.push(Number(rest & 0x7fn) | 0x80);
  out.push(Number(rest));
  return Uint8Array.from(out);
}

/** One field of a message as read; `bytes` are a view. */
export interface ReadField {
  number: number;
  value: number;
  bytes: Uint8Array;
}

const NOTHING: Uint8Array = new Uint8Array(0);

/**
 * The fields of a message. Files are untrusted: ends at the first byte that is not a field. With `isHead` a field that
 * ends after the bytes is given as far as it goes.
 */
export function* protobufFields(bytes: Uint8Array, isHead = false): Generator<ReadField> {
  let at = 0;
  const number = (): number => {
    let value = 0;
    for (let shift = 1; at < bytes.length; shift *= 128) {
      const byte = bytes[at++]!;
      value += (byte & 0x7f) * shift;
      if (byte < 0x80) return value;
      if (shift > 2 ** 56) break;
    }
    return Number.NaN;
  };
  while (at < bytes.length) {
    const tag = number();
    const value = number();
    if (Number.isNaN(tag) || Number.isNaN(value)) return;
    const field = { number: Math.floor(tag / 8), value, bytes: NOTHING };
    if (tag % 8 === LENGTH) {
      if (at + value > bytes.length && !isHead) return;
      field.bytes = bytes.subarray(at, at + value);
      at += value;
    } else if (tag % 8 !== VARINT) return;
    yield field;
  }
}

export const textOf = ({ bytes }: ReadField): string => fromUtf8.decode(bytes);
