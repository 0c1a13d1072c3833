import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { camerasConfig } from './config.ts';
import { emptyPicture, fillRect } from './drawing.ts';
import { type JpegCoder, loadJpegCoder } from './encoder.ts';
import { Finisher } from './finisher.ts';
import { GripperBar } from './gripper-bar.ts';
import { toThird } from './resize.ts';

const coder = await loadJpegCoder();
const S = 1e9;
const camera = (values: Record<string, unknown>) =>
  camerasConfig.parse({ list: { front: values } }).list['front']!;
const noCoder = (): JpegCoder => {
  throw new Error('the coder must not be used');
};

function scene() {
  const picture = emptyPicture(192, 120);
  fillRect(picture, 0, 0, 192, 120, [10, 200, 90]);
  return picture;
}

const orange = (jpeg: Uint8Array): number => {
  const { pixels } = coder.decode(jpeg)!;
  let count = 0;
  for (let i = 0; i < pixels.length; i += 3)
    if (pixels[i]! > 200 && pixels[i + 1]! > 120 && pixels[i + 1]! < 220 && pixels[i + 2]! < 120) count++;
  return count;
};

describe('Finisher', () => {
  it('passes JPEG through unchanged when no processing is configured', () => {
    const bytes = coder.encode(scene(), 75);
    const finisher = new Finisher(camera({ gripperBar: true }), noCoder);
    assert.equal(finisher.finish({ kind: 'jpeg', bytes }, Number.NaN, 0), bytes);
  });

  it('resizes RGB and JPEG pictures to a third of the width and height', () => {
    const finisher = new Finisher(camera({ resizeToThird: true }), () => coder);
    for (const picture of [scene(), { kind: 'jpeg' as const, bytes: coder.encode(scene(), 75) }]) {
      const small = coder.decode(finisher.finish(picture, Number.NaN, 0)!)!;
      assert.deepEqual([small.widthPx, small.heightPx], [64, 40]);
      assert.ok(Math.abs(small.pixels[3 * 64 * 20 + 1]! - 200) < 10);
    }
  });

  it('accepts pictures that change size', () => {
    const finisher = new Finisher(camera({ resizeToThird: true }), () => coder);
    const sizes = [scene(), emptyPicture(192, 60), scene()].map(
      (picture) => coder.decode(finisher.finish(picture, Number.NaN, 0)!)!.heightPx,
    );
    assert.deepEqual(sizes, [40, 20, 40]);
  });

  it('averages nine pixels into one', () => {
    const picture = emptyPicture(9, 3);
    fillRect(picture, 3, 0, 3, 3, [90, 0, 9]);
    assert.deepEqual([...toThird(picture).pixels], [0, 0, 0, 90, 0, 9, 0, 0, 0]);
    fillRect(picture, 0, 0, 1, 1, [90, 0, 0]);
    assert.equal(toThird(picture).pixels[0], 10);
  });

  it('returns null for bytes that are not a picture', () => {
    const finisher = new Finisher(camera({ resizeToThird: true }), () => coder);
    assert.equal(finisher.finish({ kind: 'jpeg', bytes: Uint8Array.of(1, 2, 3) }, 0, 0), null);
  });

  it('draws the gripper bar during motion and 0.5 s after, filled in proportion to closing', () => {
    const finisher = new Finisher(camera({ gripperBar: true, quality: 95 }), () => coder);
    const at = (gripper: number, nowS: number) => orange(finisher.finish(scene(), gripper, nowS * S)!);
    assert.equal(at(0.2, 0), 0, 'nothing has moved yet');
    const [some, more] = [at(0.3, 0.1), at(0.9, 0.2)];
    assert.ok(some > 0 && more > 2 * some, `${some}, ${more}`);
    assert.ok(at(0.9, 0.6) > 0);
    assert.equal(at(0.9, 0.8), 0);
    assert.equal(at(0.903, 0.9), 0, 'jitter does not count as motion');
  });

  it('detects slow motion', () => {
    const bar = new GripperBar();
    let shown = 0;
    for (let i = 0; i < 100; i++) if (bar.update(0.002 * i, i * 0.033 * S)) shown++;
    assert.ok(shown > 90, `${shown}`);
    assert.equal(bar.update(Number.NaN, 99 * S), false);
  });
});
