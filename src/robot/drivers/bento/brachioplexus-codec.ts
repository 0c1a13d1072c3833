/**
 * brachIOplexus and Unity's Virtual Bento: six kinds of datagram, bytes `FF FF type [length] data… checksum`.
 *
 * | type | content | direction | bytes | length byte | data |
 * |---|---|---|---|---|---|
 * | 0 | scene | to the arm | 45 | 38 (40 in the document; both are accepted) | index, frame rate, camera, limits |
 * | 1 | control | to the arm | 25 | 20 | per joint: id, u16 speed, motor state |
 * | 2 | update | to the arm | 43 | 38 | camera, limits |
 * | 3 | camera request | to the arm | 4 | none | |
 * | 4 | feedback | from the arm | 35 | 30 | per joint: id, signed position, u16 speed |
 * | 5 | camera position | from the arm | 23 | 18 | camera |
 *
 * u16: little-endian. Signed: u16 magnitude, then 0 if negative, else 1. Camera: x, y, z, then Euler x, y, z.
 * Limits: u16 minimum and maximum per joint. Checksum: low byte of the inverted sum of all bytes except
 * header and checksum.
 */
const BRACHIOPLEXUS_JOINTS = 5;
export const BRACHIOPLEXUS_MAX_BYTES = 45;
export const BRACHIOPLEXUS_TO_ARM_PORT = 30004;
export const BRACHIOPLEXUS_FROM_ARM_PORT = 30005;
/** Control and feedback are each sent with this period. */
export const BRACHIOPLEXUS_PERIOD_MS = 15;

export const PACKET = {
  scene: 0,
  control: 1,
  update: 2,
  cameraRequest: 3,
  feedback: 4,
  cameraPosition: 5,
} as const;
export type PacketType = (typeof PACKET)[keyof typeof PACKET];

/** Motor states. 3 leaves a joint as it is: never send it to stop. 4 and above stop. */
export const MOTOR = { stop: 0, up: 1, down: 2, keep: 3 } as const;

/** All fields a packet may hold, in wire units; `type` says which apply. Filled in place. */
export interface BrachioplexusPacket {
  type: PacketType;
  sceneIndex: number;
  frameRate: number;
  /** Position x, y, z, then rotation x, y, z: −65535 … 65535. */
  readonly camera: Int32Array;
  /** Minimum and maximum per joint. */
  readonly limits: Uint16Array;
  /** Magnitudes. */
  readonly speeds: Uint16Array;
  readonly states: Uint8Array;
  /** −65535 … 65535. */
  readonly positions: Int32Array;
}

export type BrachioplexusRejection =
  | 'short'
  | 'bad-header'
  | 'unknown-type'
  | 'bad-size'
  | 'bad-checksum'
  | 'bad-length'
  | 'bad-joint-id';

export const emptyBrachioplexus = (type: PacketType = PACKET.control): BrachioplexusPacket => ({
  type,
  sceneIndex: 0,
  frameRate: 0,
  camera: new Int32Array(6),
  limits: new Uint16Array(2 * BRACHIOPLEXUS_JOINTS),
  speeds: new Uint16Array(BRACHIOPLEXUS_JOINTS),
  states: new Uint8Array(BRACHIOPLEXUS_JOINTS),
  positions: new Int32Array(BRACHIOPLEXUS_JOINTS),
});

const HEADER = 255;
const SIZES = [45, 25, 43, 4, 35, 23] as const;
/** What brachIOplexus actually sends; its document says 40 for a scene. */
const LENGTHS = [38, 20, 38, -1, 30, 18] as const;
const SCENE_LENGTH_IN_DOCUMENT = 40;
const CONTROL_STRIDE = 4;
const FEEDBACK_STRIDE = 6;

/** Sum without header and last byte, inverted. */
function checksum(bytes: Uint8Array, length: number): number {
  let sum = 0;
  for (let i = 2; i < length - 1; i++) sum += bytes[i]!;
  return ~sum & 255;
}

/**
 * Null if the packet is valid; otherwise the reason, and `out` is untouched. Hot path: allocates nothing,
 * never throws.
 */
export function decodeBrachioplexus(
  bytes: Uint8Array,
  length: number,
  out: BrachioplexusPacket,
): BrachioplexusRejection | null {
  if (length < 4 || bytes.length < length) return 'short';
  if (bytes[0] !== HEADER || bytes[1] !== HEADER) return 'bad-header';
  const type = bytes[2]!;
  if (type > PACKET.cameraPosition) return 'unknown-type';
  if (length !== SIZES[type]) return 'bad-size';
  if (checksum(bytes, length) !== bytes[length - 1]) return 'bad-checksum';
  if (!isLength(type, bytes[3]!)) return 'bad-length';
  if (type === PACKET.control && !areIds(bytes, CONTROL_STRIDE)) return 'bad-joint-id';
  if (type === PACKET.feedback && !areIds(bytes, FEEDBACK_STRIDE)) return 'bad-joint-id';
  out.type = type as PacketType;
  if (type === PACKET.control) readControl(bytes, out);
  else if (type === PACKET.feedback) readFeedback(bytes, out);
  else if (type === PACKET.scene) {
    out.sceneIndex = bytes[4]!;
    out.frameRate = bytes[5]!;
    readCamera(bytes, 6, out.camera);
    readLimits(bytes, 24, out.limits);
  } else if (type === PACKET.update) {
    readCamera(bytes, 4, out.camera);
    readLimits(bytes, 22, out.limits);
  } else if (type === PACKET.cameraPosition) readCamera(bytes, 4, out.camera);
  return null;
}

/** Writes one packet and returns its length; `out` has room for `BRACHIOPLEXUS_MAX_BYTES`. Hot path. */
export function encodeBrachioplexus(packet: BrachioplexusPacket, out: Uint8Array): number {
  const { type } = packet;
  const length = SIZES[type];
  out[0] = out[1] = HEADER;
  out[2] = type;
  if (type !== PACKET.cameraRequest) out[3] = LENGTHS[type];
  if (type === PACKET.control) writeControl(packet, out);
  else if (type === PACKET.feedback) writeFeedback(packet, out);
  else if (type === PACKET.scene) {
    out[4] = packet.sceneIndex;
    out[5] = packet.frameRate;
    writeCamera(packet.camera, out, 6);
    writeLimits(packet.limits, out, 24);
  } else if (type === PACKET.update) {
    writeCamera(packet.camera, out, 4);
    writeLimits(packet.limits, out, 22);
  } else if (type === PACKET.cameraPosition) writeCamera(packet.camera, out, 4);
  out[length - 1] = checksum(out, length);
  return length;
}

function isLength(type: number, length: number): boolean {
  if (type === PACKET.cameraRequest) return true;
  return length === LENGTHS[type] || (type === PACKET.scene && length === SCENE_LENGTH_IN_DOCUMENT);
}

function areIds(bytes: Uint8Array, stride: number): boolean {
  for (let i = 0; i < BRACHIOPLEXUS_JOINTS; i++) if (bytes[4 + i * stride] !== i) return false;
  return true;
}

const u16 = (bytes: Uint8Array, at: number): number => bytes[at]! | (bytes[at + 1]! << 8);

/** Both ends test the sign byte for 0 only. */
const signed = (bytes: Uint8Array, at: number): number =>
  bytes[at + 2] === 0 ? -u16(bytes, at) : u16(bytes, at);

function putU16(value: number, out: Uint8Array, at: number): void {
  out[at] = value & 255;
  out[at + 1] = value >> 8;
}

function putSigned(value: number, out: Uint8Array, at: number): void {
  putU16(Math.abs(value), out, at);
  out[at + 2] = value < 0 ? 0 : 1;
}

function readControl(bytes: Uint8Array, out: BrachioplexusPacket): void {
  for (let i = 0, at = 4; i < BRACHIOPLEXUS_JOINTS; i++, at += CONTROL_STRIDE) {
    out.speeds[i] = u16(bytes, at + 1);
    out.states[i] = bytes[at + 3]!;
  }
}

function writeControl(packet: BrachioplexusPacket, out: Uint8Array): void {
  for (let i = 0, at = 4; i < BRACHIOPLEXUS_JOINTS; i++, at += CONTROL_STRIDE) {
    out[at] = i;
    putU16(packet.speeds[i]!, out, at + 1);
    out[at + 3] = packet.states[i]!;
  }
}

function readFeedback(bytes: Uint8Array, out: BrachioplexusPacket): void {
  for (let i = 0, at = 4; i < BRACHIOPLEXUS_JOINTS; i++, at += FEEDBACK_STRIDE) {
    out.positions[i] = signed(bytes, at + 1);
    out.speeds[i] = u16(bytes, at + 4);
  }
}

function writeFeedback(packet: BrachioplexusPacket, out: Uint8Array): void {
  for (let i = 0, at = 4; i < BRACHIOPLEXUS_JOINTS; i++, at += FEEDBACK_STRIDE) {
    out[at] = i;
    putSigned(packet.positions[i]!, out, at + 1);
    putU16(packet.speeds[i]!, out, at + 4);
  }
}

function readCamera(bytes: Uint8Array, at: number, out: Int32Array): void {
  for (let i = 0; i < 6; i++) out[i] = signed(bytes, at + 3 * i);
}

function writeCamera(camera: Int32Array, out: Uint8Array, at: number): void {
  for (let i = 0; i < 6; i++) putSigned(camera[i]!, out, at + 3 * i);
}

function readLimits(bytes: Uint8Array, at: number, out: Uint16Array): void {
  for (let i = 0; i < 2 * BRACHIOPLEXUS_JOINTS; i++) out[i] = u16(bytes, at + 2 * i);
}

function writeLimits(limits: Uint16Array, out: Uint8Array, at: number): void {
  for (let i = 0; i < 2 * BRACHIOPLEXUS_JOINTS; i++) putU16(limits[i]!, out, at + 2 * i);
}
