import { TeleopError } from '../core/errors.ts';
import type { RgbPicture } from './source.ts';

type JpegTurbo = typeof import('@julusian/jpeg-turbo');

/** JPEG in both directions with libjpeg-turbo, on the calling thread. */
export interface JpegCoder {
  /** A new buffer each time. */
  encode(picture: RgbPicture, quality: number): Uint8Array;
  /** Null for what is no picture. */
  decode(jpeg: Uint8Array): RgbPicture | null;
}

export async function loadJpegCoder(): Promise<JpegCoder> {
  try {
    const { default: turbo } = (await import('@julusian/jpeg-turbo')) as unknown as { default: JpegTurbo };
    return coder(turbo);
  } catch (cause) {
    throw new TeleopError(
      'native-unavailable',
      `libjpeg-turbo is not available: ${(cause as Error).message}`,
      {
        hint: 'Install it with `npm install @julusian/jpeg-turbo`, or use a source that gives JPEG and leave its pictures as they are.',
        cause,
      },
    );
  }
}

const bufferOf = (bytes: Uint8Array): Buffer => Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);

function coder(turbo: JpegTurbo): JpegCoder {
  let scratch = Buffer.alloc(0);
  return {
    encode({ pixels, widthPx, heightPx }, quality) {
      const format = {
        format: turbo.FORMAT_RGB,
        width: widthPx,
        height: heightPx,
        subsampling: turbo.SAMP_420,
        quality,
      };
      const size = turbo.bufferSize(format);
      if (scratch.length < size) scratch = Buffer.alloc(size);
      return Uint8Array.from(turbo.compressSync(bufferOf(pixels), scratch, format));
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
