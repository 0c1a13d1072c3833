import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { after, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { needs } from '../../../test/needs.ts';
import { until } from '../../../test/until.ts';
import type { TeleopError } from '../../core/errors.ts';
import { emptyPicture, fillDisc } from '../drawing.ts';
import { loadJpegCoder } from '../encoder.ts';
import { type EncodedPicture, H264Encoder } from './h264-encoder.ts';

const skip = needs('ffmpeg');
const SIZE = { widthPx: 320, heightPx: 240 };

/** Noise that changes with every picture: no rate is too high for it. */
async function pictures(count: number): Promise<Uint8Array[]> {
  const coder = await loadJpegCoder();
  let seed = 1;
  return Array.from({ length: count }, (_, i) => {
    const picture = emptyPicture(SIZE.widthPx, SIZE.heightPx);
    for (let p = 0; p < picture.pixels.length; p++) {
      seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0;
      picture.pixels[p] = 90 + (seed >>> 26);
    }
    fillDisc(picture, 20 + 3 * i, 120, 16, [255, 255, 255]);
    return coder.encode(picture, 80);
  });
}

/** Size and type of the pictures in a bare stream, as ffprobe sees them. */
function probe(units: readonly EncodedPicture[]): string[] {
  const start = Buffer.from([0, 0, 0, 1]);
  const bare: Buffer[] = [];
  for (const { bytes } of units)
    for (let at = 0; at < bytes.length; ) {
      const length = bytes.readUInt32BE(at);
      bare.push(start, bytes.subarray(at + 4, at + 4 + length));
      at += 4 + length;
    }
  const show = ['-show_entries', 'frame=pict_type,width,height', '-of', 'csv=p=0'];
  const args = ['-v', 'error', '-f', 'h264', ...show, '-i', 'pipe:0'];
  const { stdout, stderr } = spawnSync('ffprobe', args, { input: Buffer.concat(bare) });
  assert.equal(stderr.toString(), '');
  return stdout.toString().match(/^\d+,\d+,[A-Z]/gm) ?? [];
}

describe('H.264 by ffmpeg', { skip }, () => {
  const open: H264Encoder[] = [];
  after(() => {
    for (const encoder of open) encoder.close();
  });

  const start = (views: number, kbitS: number, ffmpeg = 'ffmpeg') => {
    const out: EncodedPicture[] = [];
    const failures: TeleopError[] = [];
    const handlers = {
      encoded: (picture: EncodedPicture) => void out.push(picture),
      failed: (error: TeleopError) => void failures.push(error),
    };
    const encoder = new H264Encoder({ views, fpsHz: 30, kbitS }, handlers, ffmpeg);
    open.push(encoder);
    return { encoder, out, failures };
  };

  it('gives one picture for each, at once, with its capture time, and key pictures on request', async () => {
    const { encoder, out, failures } = start(1, 800);
    for (const [i, jpeg] of (await pictures(24)).entries()) {
      assert.equal(encoder.encode([jpeg], 1000 + i, i === 10), true);
      // Nothing is held back until the next picture comes.
      await until(
        `picture ${i}`,
        () => out.length === i + 1,
        () => failures[0]?.message,
      );
    }
    assert.deepEqual(
      out.map(({ captureNs }) => captureNs),
      Array.from({ length: 24 }, (_, i) => 1000 + i),
    );
    assert.deepEqual(
      out.flatMap(({ isKey }, i) => (isKey ? [i] : [])),
      [0, 10],
    );
    const shown = probe(out);
    assert.equal(shown.length, 24);
    assert.equal(shown[0], '320,240,I');
    assert.equal(shown[10], '320,240,I');
    assert.equal(shown[11], '320,240,P');
  });

  it('puts a stereo pair side by side', async () => {
    const { encoder, out } = start(2, 800);
    const [left, right] = await pictures(2);
    encoder.encode([left!, right!], 1, false);
    await until('a picture', () => out.length === 1);
    assert.equal(probe(out)[0], '640,240,I');
  });

  it('keeps to its rate', async () => {
    const sizes: number[] = [];
    for (const kbitS of [300, 1200]) {
      const { encoder, out } = start(1, kbitS);
      for (const [i, jpeg] of (await pictures(30)).entries()) {
        encoder.encode([jpeg], i, false);
        await until('encoded', () => out.length === i + 1);
      }
      sizes.push((out.slice(5).reduce((sum, { bytes }) => sum + bytes.length, 0) / 25) * 8 * 0.03);
    }
    assert.ok(sizes[0]! < 400 && sizes[0]! > 150, `${sizes}`);
    assert.ok(sizes[1]! < 1500 && sizes[1]! > 700, `${sizes}`);
  });

  it('reports a missing program and a broken stream, once', async () => {
    const missing = start(1, 300, 'no-such-ffmpeg');
    await until('failed', () => missing.failures.length === 1);
    assert.match(missing.failures[0]!.message, /no-such-ffmpeg cannot be started/);
    const broken = start(1, 300, 'false');
    await until('failed', () => broken.failures.length === 1);
    await sleep(50);
    assert.equal(broken.failures.length, 1);
    assert.equal(broken.encoder.encode([new Uint8Array(4)], 1, false), false);
  });

  it('does not wait behind more than two pictures', async () => {
    const { encoder } = start(1, 300);
    const [jpeg] = await pictures(1);
    const taken = Array.from({ length: 6 }, (_, i) => encoder.encode([jpeg!], i, false));
    assert.equal(taken.filter(Boolean).length, 2);
  });
});
