/**
 * Datagrams of the sealed link begin with "FH", the seal version and a letter. Frames have their own version,
 * 1; the first seal shared that digit.
 */
export const SEAL_VERSION = 2;
export const SEAL_TAG_BYTES = 4;

const F = 0x46;
const H = 0x48;
const ZERO = 0x30;

export const LETTER = {
  init: 0x69, // i
  accept: 0x6a, // j
  knock: 0x6b, // k
  cookie: 0x6f, // o
  packet: 0x78, // x
} as const;

export function writeSealTag(letter: number, out: Uint8Array): void {
  out[0] = F;
  out[1] = H;
  out[2] = ZERO + SEAL_VERSION;
  out[3] = letter;
}

/** Seal version of a datagram; 0: not a sealed-link datagram. */
export function sealVersion(bytes: Uint8Array, length: number): number {
  if (length < SEAL_TAG_BYTES || bytes[0] !== F || bytes[1] !== H) return 0;
  const version = bytes[2]! - ZERO;
  const letter = bytes[3]!;
  if (version === 1)
    return letter === LETTER.init || letter === LETTER.accept || letter === LETTER.packet ? 1 : 0;
  return version >= SEAL_VERSION && version <= 9 ? version : 0;
}
