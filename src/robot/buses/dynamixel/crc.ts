/** CRC-16 of Protocol 2.0: polynomial 0x8005, initial value 0, most significant bit first, nothing reflected. */
const TABLE = Uint16Array.from({ length: 256 }, (_, i) => {
  let crc = i << 8;
  for (let bit = 0; bit < 8; bit++) crc = (crc << 1) ^ (crc & 0x8000 ? 0x8005 : 0);
  return crc & 0xffff;
});

/** Over bytes `from` to `to` (exclusive); pass `crc` to continue. Hot path. */
export function crc16(bytes: Uint8Array, from: number, to: number, crc = 0): number {
  for (let i = from; i < to; i++) crc = ((crc << 8) & 0xff00) ^ TABLE[(crc >> 8) ^ bytes[i]!]!;
  return crc;
}
