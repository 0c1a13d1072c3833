/** The few DER encodings that a certificate needs (X.690): tag, length, content. */

function der(tag: number, ...parts: Uint8Array[]): Buffer {
  const content = Buffer.concat(parts);
  const { length } = content;
  if (length < 0x80) return Buffer.concat([Buffer.from([tag, length]), content]);
  const bytes = length < 0x100 ? [0x81, length] : [0x82, length >> 8, length & 0xff];
  if (length > 0xffff) throw new Error('too long for a certificate');
  return Buffer.concat([Buffer.from([tag, ...bytes]), content]);
}

export const sequence = (...parts: Uint8Array[]): Buffer => der(0x30, ...parts);
export const setOf = (...parts: Uint8Array[]): Buffer => der(0x31, ...parts);
export const octets = (...parts: Uint8Array[]): Buffer => der(0x04, ...parts);
export const utf8 = (text: string): Buffer => der(0x0c, Buffer.from(text));
export const trueValue = (): Buffer => der(0x01, Buffer.from([0xff]));
/** Context tag: constructed when it wraps other values. */
export const tagged = (n: number, constructed: boolean, ...parts: Uint8Array[]): Buffer =>
  der((constructed ? 0xa0 : 0x80) | n, ...parts);

/** A non-negative number, from its big-endian bytes. */
export function integer(bytes: Uint8Array): Buffer {
  let from = 0;
  while (from < bytes.length - 1 && bytes[from] === 0) from++;
  const rest = bytes.subarray(from);
  return der(0x02, rest[0]! >= 0x80 ? Buffer.from([0]) : Buffer.alloc(0), rest);
}

export const bits = (bytes: Uint8Array, unused = 0): Buffer => der(0x03, Buffer.from([unused]), bytes);

export function oid(text: string): Buffer {
  const [a = 0, b = 0, ...rest] = text.split('.').map(Number);
  const out = [40 * a + b];
  for (const part of rest) {
    const groups = [part & 0x7f];
    for (let left = part >>> 7; left > 0; left >>>= 7) groups.unshift((left & 0x7f) | 0x80);
    out.push(...groups);
  }
  return der(0x06, Buffer.from(out));
}

/** UTCTime until 2049, GeneralizedTime from 2050 on (RFC 5280). */
export function time(date: Date): Buffer {
  const text = `${date.toISOString().replace(/[-:T]|\.\d+/g, '')}`;
  return date.getUTCFullYear() < 2050 ? der(0x17, Buffer.from(text.slice(2))) : der(0x18, Buffer.from(text));
}
