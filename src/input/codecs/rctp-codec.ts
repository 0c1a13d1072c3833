/**
 * RCTP: one hand, one datagram, little-endian, packed. Only the port identifies the hand.
 *
 * | at | type | what |
 * |---|---|---|
 * | 0 | 4 bytes | "RCTP" |
 * | 4 | float64 | sender's time since its start, seconds |
 * | 12 | float32 × 3 | position, metres |
 * | 24 | float32 × 4 | quaternion x, y, z, w |
 * | 40 | float32 | gripper, 0 closed … 1 open |
 * | 44 | uint8 | bit 0 tracking valid, bit 1 e-stop; ours: bit 2 arm, bit 3 reset |
 *
 * Anything after that is ignored.
 */
export const RCTP_BYTES = 45;
export const RCTP_RIGHT_PORT = 8888;
export const RCTP_LEFT_PORT = 8889;

const MAGIC = [0x52, 0x43, 0x54, 0x50] as const;
const TRACKING = 1;
const ESTOP = 2;
/** Not part of the protocol: for inputs that allow it (`armFlags`). */
const ARM = 4;
const RESET = 8;
const MAX_NORM_ERROR = 0.05;
/** Deviation from unit length within float32 precision; below it the quaternion stays as sent. */
const FLOAT32_NORM_ERROR = 1e-6;

/** In the sender's own frame: see the input's `vrFrame`. */
export interface RctpPacket {
  timestampS: number;
  positionM: Float64Array;
  quatXyzw: Float64Array;
  /** 0 closed … 1 open, as sent: the opposite of `HandSample`. */
  gripper: number;
  tracking: boolean;
  estop: boolean;
  arm: boolean;
  reset: boolean;
}

export type RctpRefusal = 'short' | 'magic' | 'non-finite' | 'bad-quaternion';

export function emptyRctp(): RctpPacket {
  return {
    timestampS: 0,
    positionM: new Float64Array(3),
    quatXyzw: new Float64Array([0, 0, 0, 1]),
    gripper: 0,
    tracking: false,
    estop: false,
    arm: false,
    reset: false,
  };
}

const scratch = new Uint8Array(RCTP_BYTES);
const view = new DataView(scratch.buffer);

/**
 * Null when all of `out` is valid. After `non-finite` and `bad-quaternion` its flags and time are as sent and
 * the rest must not be used; after `short` and `magic` it is untouched. Hot path: allocates nothing, never
 * throws.
 */
export function decodeRctp(bytes: Uint8Array, length: number, out: RctpPacket): RctpRefusal | null {
  if (length < RCTP_BYTES || bytes.length < RCTP_BYTES) return 'short';
  for (let i = 0; i < 4; i++) if (bytes[i] !== MAGIC[i]) return 'magic';
  // A view of the datagram itself would allocate an object per packet.
  for (let i = 4; i < RCTP_BYTES; i++) scratch[i] = bytes[i]!;
  const flags = scratch[44]!;
  out.tracking = (flags & TRACKING) !== 0;
  out.estop = (flags & ESTOP) !== 0;
  out.arm = (flags & ARM) !== 0;
  out.reset = (flags & RESET) !== 0;
  out.timestampS = view.getFloat64(4, true);
  const { positionM, quatXyzw } = out;
  for (let i = 0; i < 3; i++) positionM[i] = view.getFloat32(12 + 4 * i, true);
  for (let i = 0; i < 4; i++) quatXyzw[i] = view.getFloat32(24 + 4 * i, true);
  out.gripper = view.getFloat32(40, true);
  const x = quatXyzw[0]!;
  const y = quatXyzw[1]!;
  const z = quatXyzw[2]!;
  const w = quatXyzw[3]!;
  // Any NaN or infinity among the numbers makes the sum NaN or infinite.
  const sum = positionM[0]! + positionM[1]! + positionM[2]! + out.gripper + out.timestampS;
  const norm = Math.sqrt(x * x + y * y + z * z + w * w);
  if (!Number.isFinite(sum) || !Number.isFinite(norm)) return 'non-finite';
  if (Math.abs(norm - 1) > MAX_NORM_ERROR) return 'bad-quaternion';
  if (Math.abs(norm - 1) > FLOAT32_NORM_ERROR) for (let i = 0; i < 4; i++) quatXyzw[i]! /= norm;
  return null;
}

/** Writes one packet and returns its length; the caller makes sure that the numbers are finite. */
export function encodeRctp(packet: RctpPacket, out: Uint8Array): number {
  for (let i = 0; i < 4; i++) scratch[i] = MAGIC[i]!;
  view.setFloat64(4, packet.timestampS, true);
  for (let i = 0; i < 3; i++) view.setFloat32(12 + 4 * i, packet.positionM[i]!, true);
  for (let i = 0; i < 4; i++) view.setFloat32(24 + 4 * i, packet.quatXyzw[i]!, true);
  view.setFloat32(40, packet.gripper, true);
  const { tracking, estop, arm, reset } = packet;
  scratch[44] = (tracking ? TRACKING : 0) | (estop ? ESTOP : 0) | (arm ? ARM : 0) | (reset ? RESET : 0);
  out.set(scratch);
  return RCTP_BYTES;
}
