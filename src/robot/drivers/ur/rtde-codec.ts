/**
 * Universal Robots RTDE, protocol version 2. Network byte order; a message begins with its u16 total length
 * and u8 type.
 */

export const RTDE_HEAD_BYTES = 3;
/** A name list has at most 2048 bytes; data packages are far smaller. */
export const RTDE_MAX_BYTES = 4096;

export const RTDE = {
  version: 0x56,
  controlVersion: 0x76,
  text: 0x4d,
  outputs: 0x4f,
  inputs: 0x49,
  start: 0x53,
  pause: 0x50,
  data: 0x55,
} as const;

/** Bytes of each type a recipe can name. */
export const RTDE_TYPE_BYTES: Readonly<Record<string, number>> = {
  BOOL: 1,
  UINT8: 1,
  UINT32: 4,
  UINT64: 8,
  INT32: 4,
  DOUBLE: 8,
  VECTOR3D: 24,
  VECTOR6D: 48,
  VECTOR6INT32: 24,
  VECTOR6UINT32: 24,
};

export const rtdeTotalBytes = (bytes: Buffer, at: number): number => bytes.readUInt16BE(at);

function message(type: number, payload: Buffer = Buffer.alloc(0)): Buffer {
  const bytes = Buffer.alloc(RTDE_HEAD_BYTES + payload.length);
  bytes.writeUInt16BE(bytes.length, 0);
  bytes.writeUInt8(type, 2);
  payload.copy(bytes, RTDE_HEAD_BYTES);
  return bytes;
}

export const encodeVersionRequest = (version: number): Buffer =>
  message(RTDE.version, Buffer.of(version >> 8, version & 0xff));
export const encodeControlVersionRequest = (): Buffer => message(RTDE.controlVersion);
export const encodeStart = (): Buffer => message(RTDE.start);

export function encodeSetupOutputs(hz: number, names: readonly string[]): Buffer {
  const rate = Buffer.alloc(8);
  rate.writeDoubleBE(hz, 0);
  return message(RTDE.outputs, Buffer.concat([rate, Buffer.from(names.join(','), 'latin1')]));
}

export const encodeSetupInputs = (names: readonly string[]): Buffer =>
  message(RTDE.inputs, Buffer.from(names.join(','), 'latin1'));

/** A data package with room for `payloadBytes` of values after the recipe. */
export function dataPackage(recipe: number, payloadBytes: number): Buffer {
  const bytes = message(RTDE.data, Buffer.alloc(1 + payloadBytes));
  bytes.writeUInt8(recipe, RTDE_HEAD_BYTES);
  return bytes;
}

/** Offset of the values in a data package. */
export const RTDE_VALUES_AT = RTDE_HEAD_BYTES + 1;

export type RtdeReply =
  | { type: 'version' | 'start' | 'pause'; accepted: boolean }
  | { type: 'controlVersion'; major: number; minor: number; bugfix: number; build: number }
  | { type: 'outputs' | 'inputs'; recipe: number; types: readonly string[] }
  | { type: 'text'; text: string; source: string; level: number };

/** Decodes everything except data packages, which are read in place. Null if it is not a reply. */
export function decodeReply(bytes: Buffer): RtdeReply | null {
  if (bytes.length < RTDE_HEAD_BYTES || bytes.readUInt16BE(0) !== bytes.length) return null;
  const payload = bytes.subarray(RTDE_HEAD_BYTES);
  switch (bytes[2]) {
    case RTDE.version:
      return accepted('version', payload);
    case RTDE.start:
      return accepted('start', payload);
    case RTDE.pause:
      return accepted('pause', payload);
    case RTDE.controlVersion:
      return controlVersion(payload);
    case RTDE.outputs:
      return recipe('outputs', payload);
    case RTDE.inputs:
      return recipe('inputs', payload);
    case RTDE.text:
      return textMessage(payload);
    default:
      return null;
  }
}

function accepted(type: 'version' | 'start' | 'pause', payload: Buffer): RtdeReply | null {
  return payload.length === 1 ? { type, accepted: payload[0] === 1 } : null;
}

function controlVersion(payload: Buffer): RtdeReply | null {
  if (payload.length !== 16) return null;
  const [major, minor, bugfix, build] = [0, 4, 8, 12].map((at) => payload.readUInt32BE(at));
  return { type: 'controlVersion', major: major!, minor: minor!, bugfix: bugfix!, build: build! };
}

function recipe(type: 'outputs' | 'inputs', payload: Buffer): RtdeReply | null {
  if (payload.length < 1) return null;
  return { type, recipe: payload[0]!, types: payload.toString('latin1', 1).split(',') };
}

function textMessage(payload: Buffer): RtdeReply | null {
  const textBytes = payload[0] ?? 0;
  const sourceBytes = payload[1 + textBytes] ?? 0;
  if (payload.length !== 3 + textBytes + sourceBytes) return null;
  const text = payload.toString('latin1', 1, 1 + textBytes);
  const source = payload.toString('latin1', 2 + textBytes, 2 + textBytes + sourceBytes);
  return { type: 'text', text, source, level: payload[2 + textBytes + sourceBytes]! };
}

/** Offsets of a recipe's values in its data packages, and the package length; null for an unknown type. */
export function recipeLayout(types: readonly string[]): { offsets: number[]; bytes: number } | null {
  let at = RTDE_VALUES_AT;
  const offsets: number[] = [];
  for (const type of types) {
    const size = Object.hasOwn(RTDE_TYPE_BYTES, type) ? RTDE_TYPE_BYTES[type]! : 0;
    if (size === 0) return null;
    offsets.push(at);
    at += size;
  }
  return { offsets, bytes: at };
}
