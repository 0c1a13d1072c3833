const IDR = 5;

/** Replaces the length before each NAL unit by a start code, in place: both are four bytes long. */
export function toAnnexB(units: Uint8Array): Uint8Array {
  const view = new DataView(units.buffer, units.byteOffset, units.byteLength);
  for (let at = 0; at + 4 <= units.length; ) {
    const length = view.getUint32(at);
    view.setUint32(at, 1);
    at += 4 + length;
  }
  return units;
}

/** Whether a picture can be decoded without those before it. Its first bytes are enough: parameters are short. */
export function isKeyPicture(annexB: Uint8Array): boolean {
  for (let at = 0; at + 4 < annexB.length; at++)
    if (annexB[at] === 0 && annexB[at + 1] === 0 && annexB[at + 2] === 1) {
      const type = annexB[at + 3]! & 0x1f;
      if (type === IDR) return true;
      if (type === 1) return false;
    }
  return false;
}
