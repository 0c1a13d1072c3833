import {
  CdrReader,
  type CdrWriter,
  ENCAPSULATION,
  ENCAPSULATION_BYTES,
  encapsulationOf,
} from '../../../core/cdr.ts';
import { type Locator, PID, PREFIX_BYTES } from './ids.ts';

const MAX_PARAMETERS = 256;
const UDP_V4 = 1;
const FRACTIONS_PER_S = 2 ** 32;
const FOREVER_S = 0x7fffffff;

/**
 * Walks a parameter list from `at` to its sentinel, handing each parameter to `visit` with a reader of its own.
 * Returns where it ends, or −1 when the list is broken.
 */
export function walkParameters(
  bytes: Uint8Array,
  at: number,
  end: number,
  little: boolean,
  visit: (id: number, value: CdrReader) => void,
): number {
  const reader = new CdrReader(bytes, at, end, little);
  for (let i = 0; i < MAX_PARAMETERS; i++) {
    const id = reader.u16();
    const length = reader.u16();
    if (!reader.ok) return -1;
    if (id === PID.sentinel) return end - reader.left;
    if (length % 4 !== 0) return -1;
    const value = reader.take(length);
    if (value < 0) return -1;
    if (id !== PID.pad) visit(id, new CdrReader(bytes, value, value + length, little));
  }
  return -1;
}

/** Parameters of a payload that starts with its encapsulation. */
export function walkPayload(payload: Uint8Array, visit: (id: number, value: CdrReader) => void): boolean {
  const kind = encapsulationOf(payload);
  if (kind !== ENCAPSULATION.plCdrBe && kind !== ENCAPSULATION.plCdrLe) return false;
  const little = kind === ENCAPSULATION.plCdrLe;
  return walkParameters(payload, ENCAPSULATION_BYTES, payload.length, little, visit) >= 0;
}

/** One parameter: id, length, what `write` writes, padding. */
export function putParameter(out: CdrWriter, id: number, write: () => void): void {
  out.align(4);
  out.u16(id);
  out.u16(0);
  const at = out.length;
  write();
  out.align(4);
  out.patchU16(at - 2, out.length - at);
}

export function putSentinel(out: CdrWriter): void {
  out.align(4);
  out.u16(PID.sentinel);
  out.u16(0);
}

export function putGuid(out: CdrWriter, id: number, prefix: Uint8Array, entity: number): void {
  putParameter(out, id, () => {
    out.raw(prefix);
    putEntity(out, entity);
  });
}

/** Entity ids are always big-endian, whatever the rest is. */
export function putEntity(out: CdrWriter, entity: number): void {
  for (let shift = 24; shift >= 0; shift -= 8) out.u8((entity >>> shift) & 0xff);
}

export function readEntity(value: CdrReader): number {
  let entity = 0;
  for (let i = 0; i < 4; i++) entity = entity * 256 + value.u8();
  return entity;
}

export function readGuid(value: CdrReader): { prefix: Uint8Array; entity: number } | null {
  const prefix = value.bytes(PREFIX_BYTES);
  const entity = readEntity(value);
  return value.ok ? { prefix, entity } : null;
}

export function putLocator(out: CdrWriter, id: number, { host, port }: Locator): void {
  putParameter(out, id, () => {
    out.i32(UDP_V4);
    out.u32(port);
    for (let i = 0; i < 12; i++) out.u8(0);
    for (const part of host.split('.')) out.u8(Number(part));
  });
}

/** A locator we can send to; null for other or invalid kinds. */
export function readLocator(value: CdrReader): Locator | null {
  const kind = value.i32();
  const port = value.u32();
  const address = value.bytes(16);
  if (!value.ok || kind !== UDP_V4 || port === 0 || port > 65535) return null;
  const [a, b, c, d] = address.subarray(12);
  return a === 0 ? null : { host: `${a}.${b}.${c}.${d}`, port };
}

export function putDuration(out: CdrWriter, seconds: number): void {
  const whole = Math.floor(Math.min(seconds, FOREVER_S));
  out.i32(whole);
  out.u32(whole === FOREVER_S ? 0xffffffff : Math.floor((seconds - whole) * FRACTIONS_PER_S));
}

/** Seconds; infinity for the standard's infinite duration. */
export function readDuration(value: CdrReader): number {
  const whole = value.i32();
  const fraction = value.u32();
  return whole === FOREVER_S ? Number.POSITIVE_INFINITY : whole + fraction / FRACTIONS_PER_S;
}
