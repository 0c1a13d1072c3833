import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { compressedVideo, rawAudio, readRawAudio, videoBytes, videoFrameId } from './messages.ts';

const wallNs = fc.bigInt({ min: 0n, max: 2n ** 61n });
const bytes = fc.uint8Array({ maxLength: 300 });

describe('Foxglove messages', () => {
  it('come back as they were written', () => {
    fc.assert(
      fc.property(wallNs, fc.string(), bytes, (time, id, data) => {
        const video = compressedVideo(time, id, data);
        assert.equal(videoFrameId(video), id);
        assert.deepEqual([...videoBytes(video)!], [...data]);
        const sound = readRawAudio(rawAudio(time, data, 16_000))!;
        assert.deepEqual([sound.wallNs, sound.rateHz, [...sound.samples]], [time, 16_000, [...data]]);
      }),
    );
  });

  it('of any other bytes are nothing, and never a failure', () => {
    fc.assert(
      fc.property(bytes, (data) => {
        videoFrameId(data);
        videoBytes(data, true);
        readRawAudio(data);
      }),
    );
    const whole = compressedVideo(1n, 'front:1', new Uint8Array(50));
    assert.equal(videoBytes(whole.subarray(0, 40)), null);
  });
});
