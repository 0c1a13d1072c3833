import { TeleopError } from '../core/errors.ts';
import type { RgbPicture } from './source.ts';

type EncodeOptions = import('@julusian/jpeg-turbo').EncodeOptions;
type JpegTurbo = typeof import('@julusian/jpeg-turbo');

/** JPEG in both directions with libjpeg-turbo, on the calling thread. */
export interface JpegCoder {
  /** A new buffer each time. */
  encode(picture: RgbPicture, quality: number): Uint8Array;
  /** One byte per pixel, rows from the top. A new buffer each time. */
  encodeGrey(pixels: Uint8Array, widthPx: number, heightPx: number, quality: number): Uint8Array;
  /** Null if the bytes are not a picture. */
  decode(jpeg: Uint8Array): RgbPicture | null;
}

const load = async (): Promise<JpegTurbo> =>
  ((await import('@julusian/jpeg-turbo')) as unknown as { default: JpegTurbo }).default;

/** `without`: the alternative to installing the library. */
export async function loadJpegCoder(
  without = 'use a source that delivers JPEG and switch resizing and drawing off',
  loadTurbo = load,
): Promise<JpegCoder> {
  try {
    return coder(await loadTurbo());
  } catch (cause) {
    throw new TeleopError(
      'native-unavailable',
      `libjpeg-turbo is not available: ${(cause as Error).message}`,
      { hint: `Install it with \`npm install @julusian/jpeg-turbo\`, or ${without}.`, cause },
    );
  }
}

const bufferOf = (bytes: Uint8Array): Buffer => Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);

function coder(turbo: JpegTurbo): JpegCoder {
  let scratch = Buffer.alloc(0);
  const compress = (pixels: Uint8Array, format: EncodeOptions): Uint8Array => {
    const size = turbo.bufferSize(format);
    if (scratch.length < size) scratch = Buffer.alloc(size);
    return Uint8Array.from(turbo.compressSync(bufferOf(pixels), scratch, format));
  };
  return {
    encode({ pixels, widthPx: width, heightPx: height }, quality) {
      const kind = { format: turbo.FORMAT_RGB, subsampling: turbo.SAMP_420 };
      return compress(pixels, { ...kind, width, height, quality });
    },
    encodeGrey(pixels, width, height, quality) {
      const kind = { format: turbo.FORMAT_GRAY, subsampling: turbo.SAMP_GRAY };
      return compress(pixels, { ...kind, width, height, quality });
    },
    decode(jpeg) {
      try {
        const { data, width, height } = turbo.decompressSync(bufferOf(jpeg), { format: turbo.FORMAT_RGB });
        return { kind: 'rgb', pixels: data, widthPx: width, heightPx: height };
      } catch {
        return null;
      }
    },
  };
}
