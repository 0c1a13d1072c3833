/**
 * Both hands of a headset in one packet, little-endian:
 *
 *     0  "XR", version 1, flags      4  sequence u32
 *     8  taken f64, 16 sent f64      nanoseconds of the page's clock
 *    24  left: kind, trigger, grip, buttons, u8 each; 28 right: the same
 *    32  left block, right block
 *
 * A block of a controller is its grip pose: position 3 × f32, quaternion 4 × i16 / 32767. A hand adds 24
 * joints, WebXR's without the wrist: offset from the wrist 3 × i16 · 0.02 mm, quaternion 4 × i16 / 32767.
 */

export const XR_JOINTS = 25;
const XR_HEADER_BYTES = 32;
const POSE_BYTES = 20;
const JOINT_BYTES = 14;
const HAND_BYTES = POSE_BYTES + (XR_JOINTS - 1) * JOINT_BYTES;
/** Two tracked hands. */
export const XR_MAX_BYTES = XR_HEADER_BYTES + 2 * HAND_BYTES;

const VERSION = 1;
const OFFSET_M = 2e-5;
const UNIT = 32767;
const MAX_NORM_ERROR = 0.05;
const MAX_ROOM_M = 50;
const FLAG = { estop: 1, visible: 2, leftTracked: 4, rightTracked: 8 } as const;

/** What is at the end of an arm. */
export const XR_KINDS = ['none', 'hand', 'controller'] as const;
export type XrKind = (typeof XR_KINDS)[number];

/** One side. Frame: the headset's floor space, right-handed, Y up, −Z forward. */
export interface XrSide {
  kind: XrKind;
  /** False: the position is estimated and must not be followed. */
  tracked: boolean;
  /** 0 … 1. */
  trigger: number;
  grip: number;
  /** Bits by gamepad button index. */
  buttons: number;
  /** The 25 joints of a hand; for a controller the first is its grip. x, y, z each. */
  jointsM: Float64Array;
  /** x, y, z, w each. */
  jointQuats: Float64Array;
}

export interface XrPacket {
  seq: number;
  estop: boolean;
  /** The session is in front: no headset menu covers it. */
  visible: boolean;
  /** Page clock: when the poses were requested, and when they were sent. */
  takenPageNs: number;
  sentPageNs: number;
  left: XrSide;
  right: XrSide;
}

export type XrRefusal = 'short' | 'bad-magic' | 'malformed' | 'non-finite' | 'bad-range' | 'bad-quaternion';

const emptySide = (): XrSide => {
  const jointQuats = new Float64Array(4 * XR_JOINTS);
  for (let i = 3; i < jointQuats.length; i += 4) jointQuats[i] = 1;
  const jointsM = new Float64Array(3 * XR_JOINTS);
  return { kind: 'none', tracked: false, trigger: 0, grip: 0, buttons: 0, jointsM, jointQuats };
};

export const emptyXr = (): XrPacket => ({
  seq: 0,
  estop: false,
  visible: false,
  takenPageNs: 0,
  sentPageNs: 0,
  left: emptySide(),
  right: emptySide(),
});

const scratch = new Uint8Array(XR_MAX_BYTES);
const view = new DataView(scratch.buffer);
const blockBytes = (kind: number): number => (kind === 0 ? 0 : kind === 1 ? HAND_BYTES : POSE_BYTES);

/** Whether bytes that start like one of our packets request an e-stop, whatever else is wrong with them. */
export function xrAsksEstop(bytes: Uint8Array, length: number): boolean {
  return length >= 4 && hasMagic(bytes) && (bytes[3]! & FLAG.estop) !== 0;
}

/** The page's stamps of a packet that is not decoded yet; null when it is too short. */
export function xrStamps(
  bytes: Uint8Array,
  length: number,
): Pick<XrPacket, 'takenPageNs' | 'sentPageNs'> | null {
  if (length < XR_HEADER_BYTES) return null;
  const header = new DataView(bytes.buffer, bytes.byteOffset, length);
  return { takenPageNs: header.getFloat64(8, true), sentPageNs: header.getFloat64(16, true) };
}

const hasMagic = (bytes: Uint8Array): boolean =>
  bytes[0] === 0x58 && bytes[1] === 0x52 && bytes[2] === VERSION;

/** Leaves `out` untouched on rejection. Hot path: allocates nothing, never throws. */
export function decodeXr(bytes: Uint8Array, length: number, out: XrPacket): XrRefusal | null {
  if (length < XR_HEADER_BYTES || bytes.length < length) return 'short';
  if (!hasMagic(bytes)) return 'bad-magic';
  if (length > XR_MAX_BYTES) return 'malformed';
  for (let i = 0; i < length; i++) scratch[i] = bytes[i]!;
  const left = scratch[24]!;
  const right = scratch[28]!;
  if (left >= XR_KINDS.length || right >= XR_KINDS.length) return 'malformed';
  if (length !== XR_HEADER_BYTES + blockBytes(left) + blockBytes(right)) return 'malformed';
  const takenPageNs = view.getFloat64(8, true);
  const sentPageNs = view.getFloat64(16, true);
  if (!Number.isFinite(takenPageNs + sentPageNs)) return 'non-finite';
  const at = XR_HEADER_BYTES + blockBytes(left);
  const bad = checkBlock(XR_HEADER_BYTES, left) ?? checkBlock(at, right);
  if (bad !== null) return bad;
  const flags = scratch[3]!;
  out.seq = view.getUint32(4, true);
  out.takenPageNs = takenPageNs;
  out.sentPageNs = sentPageNs;
  out.estop = (flags & FLAG.estop) !== 0;
  out.visible = (flags & FLAG.visible) !== 0;
  readSide(24, XR_HEADER_BYTES, (flags & FLAG.leftTracked) !== 0, out.left);
  readSide(28, at, (flags & FLAG.rightTracked) !== 0, out.right);
  return null;
}

function checkBlock(at: number, kind: number): XrRefusal | null {
  if (kind === 0) return null;
  for (let i = 0; i < 3; i++) {
    const metres = view.getFloat32(at + 4 * i, true);
    if (!Number.isFinite(metres)) return 'non-finite';
    if (Math.abs(metres) > MAX_ROOM_M) return 'bad-range';
  }
  if (!(Math.abs(normAt(at + 12) - 1) <= MAX_NORM_ERROR)) return 'bad-quaternion';
  if (kind === 1)
    for (let i = 0; i < XR_JOINTS - 1; i++)
      if (!(Math.abs(normAt(at + POSE_BYTES + i * JOINT_BYTES + 6) - 1) <= MAX_NORM_ERROR))
        return 'bad-quaternion';
  return null;
}

function normAt(at: number): number {
  let sum = 0;
  for (let i = 0; i < 4; i++) sum += (view.getInt16(at + 2 * i, true) / UNIT) ** 2;
  return Math.sqrt(sum);
}

function readSide(head: number, at: number, tracked: boolean, out: XrSide): void {
  out.kind = XR_KINDS[scratch[head]!]!;
  out.tracked = tracked && out.kind !== 'none';
  out.trigger = scratch[head + 1]! / 255;
  out.grip = scratch[head + 2]! / 255;
  out.buttons = scratch[head + 3]!;
  if (out.kind === 'none') return;
  const { jointsM, jointQuats } = out;
  for (let i = 0; i < 3; i++) jointsM[i] = view.getFloat32(at + 4 * i, true);
  readQuat(at + 12, jointQuats, 0);
  if (out.kind === 'controller') return;
  for (let joint = 1; joint < XR_JOINTS; joint++) {
    const from = at + POSE_BYTES + (joint - 1) * JOINT_BYTES;
    for (let i = 0; i < 3; i++)
      jointsM[3 * joint + i] = jointsM[i]! + view.getInt16(from + 2 * i, true) * OFFSET_M;
    readQuat(from + 6, jointQuats, 4 * joint);
  }
}

function readQuat(at: number, out: Float64Array, to: number): void {
  const norm = normAt(at) * UNIT;
  for (let i = 0; i < 4; i++) out[to + i] = view.getInt16(at + 2 * i, true) / norm;
}

/** Writes one packet and returns its length. Numbers must be finite and quaternions of unit length. */
export function encodeXr(packet: XrPacket, out: Uint8Array): number {
  const { left, right } = packet;
  scratch[0] = 0x58;
  scratch[1] = 0x52;
  scratch[2] = VERSION;
  scratch[3] =
    (packet.estop ? FLAG.estop : 0) |
    (packet.visible ? FLAG.visible : 0) |
    (left.tracked ? FLAG.leftTracked : 0) |
    (right.tracked ? FLAG.rightTracked : 0);
  view.setUint32(4, packet.seq, true);
  view.setFloat64(8, packet.takenPageNs, true);
  view.setFloat64(16, packet.sentPageNs, true);
  const length = writeSide(28, writeSide(24, XR_HEADER_BYTES, left), right);
  for (let i = 0; i < length; i++) out[i] = scratch[i]!;
  return length;
}

function writeSide(head: number, at: number, side: XrSide): number {
  const { kind, jointsM, jointQuats } = side;
  scratch[head] = XR_KINDS.indexOf(kind);
  scratch[head + 1] = asByte(side.trigger);
  scratch[head + 2] = asByte(side.grip);
  scratch[head + 3] = side.buttons;
  if (kind === 'none') return at;
  for (let i = 0; i < 3; i++) view.setFloat32(at + 4 * i, jointsM[i]!, true);
  writeQuat(at + 12, jointQuats, 0);
  if (kind === 'controller') return at + POSE_BYTES;
  for (let joint = 1; joint < XR_JOINTS; joint++) {
    const to = at + POSE_BYTES + (joint - 1) * JOINT_BYTES;
    for (let i = 0; i < 3; i++)
      view.setInt16(to + 2 * i, asInt16((jointsM[3 * joint + i]! - jointsM[i]!) / OFFSET_M), true);
    writeQuat(to + 6, jointQuats, 4 * joint);
  }
  return at + HAND_BYTES;
}

const asByte = (share: number): number => Math.round(255 * Math.max(0, Math.min(1, share)));
const asInt16 = (value: number): number => Math.round(Math.max(-UNIT, Math.min(UNIT, value)));

function writeQuat(at: number, quats: Float64Array, from: number): void {
  for (let i = 0; i < 4; i++) view.setInt16(at + 2 * i, asInt16(quats[from + i]! * UNIT), true);
}

/**
 * What the console prepends to a packet that it forwards: stamps on the operator's clock and whose hand it
 * is.
 */
export interface XrEnvelope {
  /** Operator clock; NaN while the page's clock is unknown. */
  takenNs: number;
  sentNs: number;
  /** Increases when control passes to another page. */
  stream: number;
}

export const XR_ENVELOPE_BYTES = 20;
const envelopeBytes = new Uint8Array(XR_ENVELOPE_BYTES);
const envelopeView = new DataView(envelopeBytes.buffer);

/** Hot path. */
export function decodeEnvelope(bytes: Uint8Array, length: number, out: XrEnvelope): 'short' | null {
  if (length < XR_ENVELOPE_BYTES) return 'short';
  for (let i = 0; i < XR_ENVELOPE_BYTES; i++) envelopeBytes[i] = bytes[i]!;
  out.takenNs = envelopeView.getFloat64(0, true);
  out.sentNs = envelopeView.getFloat64(8, true);
  out.stream = envelopeView.getUint32(16, true);
  return null;
}

export function encodeEnvelope(envelope: XrEnvelope, out: Uint8Array, at: number): number {
  envelopeView.setFloat64(0, envelope.takenNs, true);
  envelopeView.setFloat64(8, envelope.sentNs, true);
  envelopeView.setUint32(16, envelope.stream, true);
  out.set(envelopeBytes, at);
  return at + XR_ENVELOPE_BYTES;
}
