/** Width and height from a JPEG's frame header; null if it has none. */
export function jpegSize(bytes: Uint8Array): { widthPx: number; heightPx: number } | null {
  if (bytes[0] !== 0xff || bytes[1] !== 0xd8) return null;
  let at = 2;
  while (at + 9 < bytes.length) {
    if (bytes[at] !== 0xff) return null;
    const marker = bytes[at + 1]!;
    if (marker === 0xff) {
      at++;
      continue;
    }
    const length = bytes[at + 2]! * 256 + bytes[at + 3]!;
    // SOF0 to SOF15, except DHT, JPG and DAC.
    if (marker >= 0xc0 && marker <= 0xcf && marker !== 0xc4 && marker !== 0xc8 && marker !== 0xcc)
      return {
        heightPx: bytes[at + 5]! * 256 + bytes[at + 6]!,
        widthPx: bytes[at + 7]! * 256 + bytes[at + 8]!,
      };
    if (length < 2) return null;
    at += 2 + length;
  }
  return null;
}
