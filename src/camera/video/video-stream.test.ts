import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { TeleopError } from '../../core/errors.ts';
import type { EncodedPicture, EncoderHandlers, EncoderSettings, H264Encoder } from './h264-encoder.ts';
import { VideoStream } from './video-stream.ts';

/** An encoder that answers when the test says so. */
class ManualEncoder {
  readonly settings: EncoderSettings;
  readonly handlers: EncoderHandlers;
  readonly taken: { jpegs: readonly Uint8Array[]; captureNs: number; isKey: boolean }[] = [];
  isClosed = false;
  #first = true;

  get inside(): number {
    return this.taken.length;
  }

  constructor(settings: EncoderSettings, handlers: EncoderHandlers) {
    this.settings = settings;
    this.handlers = handlers;
  }

  encode(jpegs: readonly Uint8Array[], captureNs: number, isKey: boolean): boolean {
    this.taken.push({ jpegs, captureNs, isKey: isKey || this.#first });
    this.#first = false;
    return true;
  }

  finish(): void {
    for (const { captureNs, isKey } of this.taken.splice(0))
      this.handlers.encoded({ captureNs, isKey, bytes: Buffer.from([this.settings.kbitS & 0xff]) });
  }

  close(): void {
    this.isClosed = true;
  }
}

function stage(cameras: string[]) {
  const encoders: ManualEncoder[] = [];
  const sent: EncodedPicture[] = [];
  const problems: string[] = [];
  const stream = new VideoStream(
    { cameras, fpsHz: 30, mostKbitS: 2000 },
    {
      send: (picture) => sent.push(picture) && null,
      failed: ({ message }) => void problems.push(message),
    },
    (settings, handlers) => {
      const encoder = new ManualEncoder(settings, handlers);
      encoders.push(encoder);
      return encoder as unknown as H264Encoder;
    },
  );
  const jpeg = Uint8Array.of(1);
  const offer = (camera: string, frame: number) => stream.offer(camera, jpeg, frame * 33e6, frame * 33e6);
  return { stream, encoders, sent, problems, offer };
}

describe('a video stream', () => {
  it('changes its rate without a missing picture: the new encoder takes over with a key picture', () => {
    const { stream, encoders, sent, offer } = stage(['front']);
    const numbers = () => sent.map(({ captureNs }) => Math.round(captureNs / 33e6));
    for (let frame = 1; frame <= 60; frame++) {
      if (frame === 50) stream.rate.lost(0.5, 50 * 33e6);
      offer('front', frame);
      encoders[0]!.finish();
    }
    assert.equal(encoders.length, 2);
    // It starts late, and what it encodes first is older than what was sent.
    encoders[1]!.finish();
    offer('front', 61);
    assert.equal(encoders[0]!.isClosed, true);
    encoders[1]!.finish();
    assert.equal(sent.at(-1)!.isKey, true);
    assert.deepEqual(
      numbers(),
      Array.from({ length: 61 }, (_, i) => i + 1),
    );
  });

  it('starts no encoder before the last one has run for a while', () => {
    const { stream, encoders, offer } = stage(['front']);
    for (let frame = 1; frame <= 40; frame++) {
      stream.rate.lost(0.5, frame * 33e6);
      offer('front', frame);
      for (const encoder of encoders) encoder.finish();
    }
    assert.equal(encoders.length, 1);
  });

  it('keeps only the newest picture for an encoder that is slow', () => {
    const { stream, encoders, sent, offer } = stage(['front']);
    for (let frame = 1; frame <= 4; frame++) offer('front', frame);
    for (let i = 0; i < 3; i++) encoders[0]!.finish();
    assert.deepEqual(
      sent.map(({ captureNs }) => Math.round(captureNs / 33e6)),
      [1, 4],
    );
    assert.equal(stream.counts.skipped, 2);
    // It could not read a picture: others follow it after a while.
    offer('front', 5);
    offer('front', 30);
    encoders[0]!.finish();
    assert.equal(Math.round(sent.at(-1)!.captureNs / 33e6), 30);
  });

  it('joins pictures of two cameras that belong together, and no others', () => {
    const { encoders, offer } = stage(['left', 'right']);
    offer('left', 1);
    assert.equal(encoders.length, 0);
    offer('right', 1);
    assert.equal(encoders[0]!.taken[0]!.jpegs.length, 2);
    offer('right', 10);
    assert.equal(encoders[0]!.taken.length, 1, 'the left picture is too old');
  });

  it('answers a lost picture with a key picture', () => {
    const { stream, encoders, sent, offer } = stage(['front']);
    for (let frame = 1; frame <= 20; frame++) {
      if (frame === 10) stream.requestKey();
      offer('front', frame);
      encoders[0]!.finish();
    }
    const keys = sent.filter(({ isKey }) => isKey).map(({ captureNs }) => Math.round(captureNs / 33e6));
    assert.deepEqual(keys, [1, 10]);
  });

  it('reports an encoder that fails, gives pictures back meanwhile, and starts another later', () => {
    const { encoders, problems, offer } = stage(['front']);
    assert.equal(offer('front', 1), true);
    encoders[0]!.handlers.failed(new TeleopError('camera-failed', 'it ended', { hint: '' }));
    assert.deepEqual(problems, ['it ended']);
    assert.equal(offer('front', 2), false);
    assert.equal(offer('front', 1000), true);
    assert.equal(encoders.length, 2);
  });
});
