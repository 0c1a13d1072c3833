import { protobuf, protobufFields, textOf } from './protobuf.ts';

/** Types of protobuf's descriptors. */
const TYPE = { int64: 3, int32: 5, string: 9, message: 11, bytes: 12, uint32: 13 } as const;

type Declared = Readonly<Record<string, keyof typeof TYPE>>;

const field = (name: string, index: number, type: keyof typeof TYPE): Uint8Array =>
  protobuf(
    [1, name],
    [3, index + 1],
    [4, 1],
    [5, TYPE[type]],
    ...(type === 'message' ? ([[6, '.google.protobuf.Timestamp']] as const) : []),
  );

/** Fields are numbered in the order given, as in Foxglove's own schemas. */
function proto(file: string, space: string, name: string, fields: Declared, uses: string[] = []): Uint8Array {
  const list = Object.entries(fields).map(([key, type], i) => [2, field(key, i, type)] as const);
  const imports = uses.map((used) => [3, used] as const);
  return protobuf([1, file], [2, space], ...imports, [4, protobuf([1, name], ...list)], [12, 'proto3']);
}

const TIME_FILE = 'google/protobuf/timestamp.proto';
const TIME = proto(TIME_FILE, 'google.protobuf', 'Timestamp', { seconds: 'int64', nanos: 'int32' });

const schema = (name: string, fields: Declared): Uint8Array =>
  protobuf([1, TIME], [1, proto(`foxglove/${name}.proto`, 'foxglove', name, fields, [TIME_FILE])]);

/** Foxglove's own messages where ROS 2 has none: names, and file descriptor sets as MCAP requires. */
export const FOXGLOVE_SCHEMAS = {
  'foxglove.CompressedVideo': schema('CompressedVideo', {
    timestamp: 'message',
    frame_id: 'string',
    data: 'bytes',
    format: 'string',
  }),
  'foxglove.RawAudio': schema('RawAudio', {
    timestamp: 'message',
    data: 'bytes',
    format: 'string',
    sample_rate: 'uint32',
    number_of_channels: 'uint32',
  }),
} as const;

const time = (wallNs: bigint): Uint8Array =>
  protobuf([1, wallNs / 1_000_000_000n], [2, wallNs % 1_000_000_000n]);

/** One picture: H.264 with start codes, a key picture with its parameters. */
export const compressedVideo = (wallNs: bigint, frameId: string, bytes: Uint8Array): Uint8Array =>
  protobuf([1, time(wallNs)], [2, frameId], [3, bytes], [4, 'h264']);

/** One block of sound: 16-bit samples, little-endian, one channel. */
export const rawAudio = (wallNs: bigint, samples: Uint8Array, rateHz: number): Uint8Array =>
  protobuf([1, time(wallNs)], [2, samples], [3, 'pcm-s16'], [4, rateHz], [5, 1]);

/** The frame id, from the first bytes of a message; empty if unreadable. */
export function videoFrameId(head: Uint8Array): string {
  for (const found of protobufFields(head, true)) if (found.number === 2) return textOf(found);
  return '';
}

/** The encoded picture; null if there is none. A view; with `isHead` only as far as the head goes. */
export function videoBytes(message: Uint8Array, isHead = false): Uint8Array | null {
  for (const found of protobufFields(message, isHead)) if (found.number === 3) return found.bytes;
  return null;
}

export interface SoundBlock {
  /** Of its first sample, wall clock. */
  wallNs: bigint;
  rateHz: number;
  samples: Uint8Array;
}

/** Null if it is not sound as we record it. */
export function readRawAudio(message: Uint8Array): SoundBlock | null {
  const block: SoundBlock = { wallNs: 0n, rateHz: 0, samples: new Uint8Array(0) };
  let format = '';
  let channels = 0;
  for (const found of protobufFields(message)) {
    if (found.number === 1) block.wallNs = wallNsOf(found.bytes);
    else if (found.number === 2) block.samples = found.bytes;
    else if (found.number === 3) format = textOf(found);
    else if (found.number === 4) block.rateHz = found.value;
    else if (found.number === 5) channels = found.value;
  }
  return format === 'pcm-s16' && channels === 1 && block.rateHz > 0 ? block : null;
}

function wallNsOf(bytes: Uint8Array): bigint {
  let wallNs = 0n;
  for (const { number, value } of protobufFields(bytes))
    wallNs += BigInt(Math.trunc(value)) * (number === 1 ? 1_000_000_000n : 1n);
  return wallNs;
}
