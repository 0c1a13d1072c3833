import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { ReceivedFrame } from '../messages/recording.ts';
import { FrameCache } from './cache.ts';

const S = 1e9;

function frame(camera: string, captureNs: number, arrivedNs: number): ReceivedFrame {
  return {
    camera,
    captureNs,
    encoding: 'jpeg',
    bytes: Uint8Array.of(0xff, 0xd8, 0xff, 0xd9),
    captureOperatorNs: captureNs,
    uncertaintyNs: 0,
    arrivedNs,
  };
}

describe('FrameCache', () => {
  it('finds the newest frame that had arrived at a given time', () => {
    const cache = new FrameCache();
    for (let i = 1; i <= 5; i++) cache.put(frame('front', i * 10, i * 10 + 5));
    assert.equal(cache.newestAt('front', 14), null);
    assert.equal(cache.newestAt('front', 15)?.captureNs, 10);
    assert.equal(cache.newestAt('front', 44)?.captureNs, 30);
    assert.equal(cache.newest('front')?.captureNs, 50);
    assert.equal(cache.newest('wrist'), null);
    assert.deepEqual(cache.cameras(), ['front']);
  });

  it('keeps the last picture of a silent camera and flags it as stale after one second', () => {
    const cache = new FrameCache();
    cache.put(frame('front', 1, 10 * S));
    assert.equal(cache.view('front', 11 * S)?.stale, false);
    assert.deepEqual(
      [cache.view('front', 11 * S + 1)?.stale, cache.view('front', 60 * S)?.frame.captureNs],
      [true, 1],
    );
    assert.equal(cache.view('front', 10.2 * S, 0.1 * S)?.stale, true);
    assert.equal(cache.view('wrist', 0), null);
  });

  it('holds a bounded number of frames', () => {
    const cache = new FrameCache(3);
    for (let i = 1; i <= 100; i++) cache.put(frame('front', i, i));
    assert.equal(cache.newestAt('front', 97), null);
    assert.equal(cache.newestAt('front', 98)?.captureNs, 98);
  });

  it('replaces a picture with a false end by the complete one', () => {
    const cache = new FrameCache();
    cache.put(frame('front', 7, 100));
    cache.put({ ...frame('front', 7, 110), bytes: new Uint8Array(9) });
    assert.equal(cache.newestAt('front', 105), null);
    assert.equal(cache.newest('front')?.bytes.length, 9);
  });
});
