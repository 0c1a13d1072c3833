/**
 * Pictures for ffmpeg's standard input. Matroska, because it states each picture's length and time: ffmpeg
 * then starts with a picture when its last byte arrives, instead of when the next one begins.
 */

const bytesOf = (hex: string): Buffer => Buffer.from(hex, 'hex');

/** A length in the eight-byte form. */
function lengthOf(bytes: number): Buffer {
  const out = Buffer.alloc(8);
  out.writeBigUInt64BE(BigInt(bytes) | (1n << 56n));
  return out;
}

const element = (id: string, ...body: Uint8Array[]): Buffer => {
  const bytes = Buffer.concat(body);
  return Buffer.concat([bytesOf(id), lengthOf(bytes.length), bytes]);
};

function number(value: number): Buffer {
  const out = Buffer.alloc(8);
  out.writeBigUInt64BE(BigInt(value));
  return out;
}

/** The decoder reads the true size from the first picture. */
const anySize = element('e0', element('b0', number(16)), element('ba', number(16)));

const track = (index: number): Buffer =>
  element(
    'ae',
    element('d7', number(index + 1)),
    element('73c5', number(index + 1)),
    element('83', number(1)),
    element('86', Buffer.from('V_MJPEG')),
    anySize,
  );

/** What comes before the first picture. `views`: pictures that belong to one instant. */
export function matroskaHeader(views: number): Buffer {
  const format = element(
    '1a45dfa3',
    element('4282', Buffer.from('matroska')),
    element('4287', number(4)),
    element('4285', number(2)),
  );
  const unknownLength = bytesOf('01ffffffffffffff');
  const milliseconds = element('1549a966', element('2ad7b1', number(1e6)));
  const tracks = element('1654ae6b', ...Array.from({ length: views }, (_, index) => track(index)));
  return Buffer.concat([format, bytesOf('18538067'), unknownLength, milliseconds, tracks]);
}

/** The pictures of one instant, one per view. */
export function matroskaPictures(timeMs: number, jpegs: readonly Uint8Array[]): Buffer {
  const blocks = jpegs.map((jpeg, index) => element('a3', Buffer.from([0x81 + index, 0, 0, 0x80]), jpeg));
  return element('1f43b675', element('e7', number(timeMs)), ...blocks);
}
