import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { drawStrip, readStrip } from './bit-strip.ts';
import { emptyPicture, fillRect } from './drawing.ts';
import { loadJpegCoder } from './encoder.ts';
import { JpegSplitter } from './jpeg-splitter.ts';
import { jpegEnd, stampsOf, withStamp } from './jpeg-structure.ts';

const coder = await loadJpegCoder();

function picture(tone: number): Uint8Array {
  const pixels = emptyPicture(96, 64);
  fillRect(pixels, 0, 0, 96, 64, [tone, 255 - tone, 128]);
  fillRect(pixels, tone % 60, 10, 20, 20, [255, 0, 0]);
  return coder.encode(pixels, 75);
}

/** A picture with a complete second one in a header segment, as cameras embed thumbnails. */
function withThumbnail(jpeg: Uint8Array, thumbnail: Uint8Array): Uint8Array {
  const length = thumbnail.length + 2;
  const segment = Uint8Array.of(0xff, 0xe1, length >> 8, length & 255, ...thumbnail);
  return Uint8Array.of(0xff, 0xd8, ...segment, ...jpeg.subarray(2));
}

describe('JPEG', () => {
  it('survives encoding and decoding with small errors', () => {
    const back = coder.decode(picture(40))!;
    assert.deepEqual([back.widthPx, back.heightPx], [96, 64]);
    const corner = back.pixels.subarray(3 * (96 * 60 + 90), 3 * (96 * 60 + 90) + 3);
    for (const [i, tone] of [40, 215, 128].entries())
      assert.ok(Math.abs(corner[i]! - tone) < 12, `${corner}`);
    assert.equal(coder.decode(Uint8Array.of(0xff, 0xd8, 1, 2, 3)), null);
  });

  it('keeps the tones of a grey picture, as one component in a baseline file', () => {
    const [width, height] = [90, 50];
    const pixels = Uint8Array.from(
      { length: width * height },
      (_, i) => (i % width) + 2 * Math.floor(i / width),
    );
    const jpeg = coder.encodeGrey(pixels, width, height, 90);
    const frame = Buffer.from(jpeg).indexOf(Uint8Array.of(0xff, 0xc0));
    assert.equal(jpeg[frame + 9], 1, 'components');
    const back = coder.decode(jpeg)!;
    assert.deepEqual([back.widthPx, back.heightPx], [width, height]);
    for (let i = 0; i < pixels.length; i++)
      for (let c = 0; c < 3; c++) assert.ok(Math.abs(back.pixels[3 * i + c]! - pixels[i]!) < 8, `pixel ${i}`);
  });

  it('names the missing library and the alternative', async () => {
    const missing = () => Promise.reject(new Error('no prebuild'));
    await assert.rejects(loadJpegCoder('draw nothing', missing), {
      code: 'native-unavailable',
      message: 'libjpeg-turbo is not available: no prebuild',
      hint: 'Install it with `npm install @julusian/jpeg-turbo`, or draw nothing.',
    });
  });

  it('keeps a capture time in a comment that decoders skip', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: Number.MAX_SAFE_INTEGER }), (captureNs) => {
        const stamped = withStamp(picture(99), captureNs);
        assert.deepEqual(stampsOf(stamped), { captureNs, encodedNs: Number.NaN });
        const ready = withStamp(picture(99), captureNs, captureNs + 5);
        assert.deepEqual(stampsOf(ready), { captureNs, encodedNs: captureNs + 5 });
        assert.equal(jpegEnd(stamped), 'whole');
      }),
      { numRuns: 50 },
    );
    assert.equal(coder.decode(withStamp(picture(7), 123))!.widthPx, 96);
    assert.ok(Number.isNaN(stampsOf(picture(7)).captureNs));
    assert.ok(Number.isNaN(stampsOf(new Uint8Array(3)).captureNs));
  });

  it('distinguishes complete pictures from truncated ones', () => {
    const whole = picture(10);
    assert.equal(jpegEnd(whole), 'whole');
    assert.equal(jpegEnd(whole.subarray(0, whole.length - 1)), 'cut');
    const nested = withThumbnail(whole, picture(20));
    assert.equal(jpegEnd(nested), 'whole');
    const falseEnd = 6 + picture(20).length;
    assert.equal(jpegEnd(nested.subarray(0, falseEnd)), 'cut', 'the end of the thumbnail is not the end');
  });

  it('never throws on arbitrary bytes', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 300 }), (bytes) => {
        jpegEnd(bytes);
        stampsOf(bytes);
        coder.decode(Uint8Array.of(0xff, 0xd8, ...bytes, 0xff, 0xd9));
      }),
      { numRuns: 500 },
    );
  });
});

describe('JpegSplitter', () => {
  const pictures = [1, 80, 160, 240].map((tone) => withThumbnail(picture(tone), picture(255 - tone)));
  const between = new TextEncoder().encode('\r\n--frame\r\nContent-Type: image/jpeg\r\n\r\n');
  const stream = Uint8Array.from(pictures.flatMap((jpeg) => [...between, ...jpeg]));

  it('finds every picture, however the stream is split', () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 1, max: 3000 }), { minLength: 1, maxLength: 40 }), (sizes) => {
        const found: Uint8Array[] = [];
        const splitter = new JpegSplitter((jpeg) => found.push(jpeg));
        for (let at = 0, i = 0; at < stream.length; at += sizes[i++ % sizes.length]!) {
          const part = stream.slice(at, at + sizes[i % sizes.length]!);
          splitter.push(part);
          part.fill(0xee);
        }
        assert.deepEqual(found, pictures);
      }),
      { numRuns: 100 },
    );
  });

  it('finds every picture when fed byte by byte', () => {
    const found: Uint8Array[] = [];
    const splitter = new JpegSplitter((jpeg) => found.push(jpeg));
    for (const byte of stream) splitter.push(Uint8Array.of(byte));
    assert.deepEqual(found, pictures);
  });

  it('finds pictures after garbage and after a truncated picture', () => {
    const found: Uint8Array[] = [];
    const splitter = new JpegSplitter((jpeg) => found.push(jpeg));
    const garbage = fc.sample(fc.uint8Array({ minLength: 50, maxLength: 500 }), 100);
    for (const bytes of garbage) splitter.push(bytes);
    // Any picture the garbage seemed to start ends within a few real pictures.
    for (let i = 0; i < 60; i++) splitter.push(stream);
    splitter.push(pictures[0]!.subarray(0, 400));
    for (let i = 0; i < 3; i++) splitter.push(stream);
    assert.deepEqual(found.at(-1), pictures.at(-1));
  });
});

describe('bit strip', () => {
  it('survives JPEG encoding', () => {
    fc.assert(
      fc.property(fc.nat(0xffffffff), (value) => {
        const pixels = emptyPicture(320, 64);
        drawStrip(pixels, value);
        assert.equal(readStrip(coder.decode(coder.encode(pixels, 60))!), value);
      }),
      { numRuns: 50 },
    );
  });
});
