/** Two's complement in 1, 2 or 4 bytes. Hot path. */
export function putValue(
  out: Uint8Array,
  at: number,
  value: number,
  size: number,
  isLittleEndian = true,
): void {
  for (let i = 0; i < size; i++) out[at + (isLittleEndian ? i : size - 1 - i)] = (value >> (8 * i)) & 0xff;
}

/** Hot path. */
export function unsignedAt(bytes: Uint8Array, at: number, size: number, isLittleEndian = true): number {
  let value = 0;
  for (let i = 0; i < size; i++) value |= bytes[at + (isLittleEndian ? i : size - 1 - i)]! << (8 * i);
  return value >>> 0;
}

/** Hot path. */
export function signedAt(bytes: Uint8Array, at: number, size: number, isLittleEndian = true): number {
  const shift = 32 - 8 * size;
  return (unsignedAt(bytes, at, size, isLittleEndian) << shift) >> shift;
}
