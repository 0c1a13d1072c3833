/** The parts of ITU-T T.81 annex B needed to tell a complete picture from a fragment. */
const SOI = 0xd8;
const EOI = 0xd9;
const SOS = 0xda;
const COM = 0xfe;
const STAMP = 'farhand-capture-ns ';
const MAX_STAMP_DIGITS = 17;
const MAX_STAMP_BYTES = STAMP.length + 2 * MAX_STAMP_DIGITS + 1;

export const startsJpeg = (bytes: Uint8Array, at = 0): boolean => bytes[at] === 0xff && bytes[at + 1] === SOI;

export const endsJpeg = (bytes: Uint8Array, length = bytes.length): boolean =>
  length >= 2 && bytes[length - 2] === 0xff && bytes[length - 1] === EOI;

/**
 * Whether the last two bytes are the end of the picture. `unknown`: the content is not structured like a
 * JPEG, so its end cannot be determined.
 */
export function jpegEnd(bytes: Uint8Array): 'whole' | 'cut' | 'unknown' {
  if (!startsJpeg(bytes) || !endsJpeg(bytes)) return 'cut';
  if (bytes[2] !== 0xff) return 'unknown';
  let at = 2;
  while (at < bytes.length) {
    if (bytes[at] !== 0xff) return 'unknown';
    const marker = bytes[at + 1] ?? 0;
    if (marker === 0xff) at++;
    else if (marker === EOI) return at + 2 === bytes.length ? 'whole' : 'unknown';
    else {
      const end = at + 2 + lengthAt(bytes, at + 2);
      if (end > bytes.length) return 'cut';
      at = marker === SOS ? afterScan(bytes, end) : end;
    }
  }
  return 'cut';
}

const lengthAt = (bytes: Uint8Array, at: number): number => ((bytes[at] ?? 0) << 8) | (bytes[at + 1] ?? 0);

/** The next marker after entropy-coded data: FF not followed by 00 or RST0…7. */
function afterScan(bytes: Uint8Array, from: number): number {
  let at = bytes.indexOf(0xff, from);
  while (at >= 0) {
    const next = bytes[at + 1] ?? 0;
    if (next !== 0 && (next < 0xd0 || next > 0xd7)) return at;
    at = bytes.indexOf(0xff, at + 1);
  }
  return bytes.length;
}

/**
 * Adds the capture time in a comment right after SOI, which every decoder skips, followed by the time the
 * picture was ready to be sent, if given.
 */
export function withStamp(jpeg: Uint8Array, captureNs: number, encodedNs?: number): Uint8Array {
  const text = `${STAMP}${captureNs}${encodedNs === undefined ? '' : ` ${encodedNs}`}`;
  const out = new Uint8Array(jpeg.length + 4 + text.length);
  out.set([0xff, SOI, 0xff, COM, 0, text.length + 2]);
  for (let i = 0; i < text.length; i++) out[6 + i] = text.charCodeAt(i);
  out.set(jpeg.subarray(2), 6 + text.length);
  return out;
}

/** Reads what `withStamp` wrote; NaN if absent. */
export function stampsOf(jpeg: Uint8Array): { captureNs: number; encodedNs: number } {
  const none = { captureNs: Number.NaN, encodedNs: Number.NaN };
  if (!startsJpeg(jpeg) || jpeg[2] !== 0xff || jpeg[3] !== COM) return none;
  const length = lengthAt(jpeg, 4) - 2;
  if (length <= STAMP.length || length > MAX_STAMP_BYTES) return none;
  const text = String.fromCharCode(...jpeg.subarray(6, 6 + length));
  if (!text.startsWith(STAMP)) return none;
  const [capture = '', encoded = ''] = text.slice(STAMP.length).split(' ');
  return { captureNs: stampNs(capture), encodedNs: stampNs(encoded) };
}

/** A capture time in decimal digits; NaN for anything else. */
export function stampNs(text: string): number {
  return /^\d{1,17}$/.test(text) && Number(text) > 0 ? Number(text) : Number.NaN;
}
