import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { sideRequestSchema } from '../messages/desk-requests.ts';
import type { VideoEvent } from '../messages/video-event.ts';
import { VideoGate } from './video-sampling.ts';

const EVENT: VideoEvent = {
  kind: 'video',
  camera: 'front',
  captureNs: 5e12,
  encodedNs: 5e12 + 4e6,
  receivedNs: 1e9,
  decodedNs: 1e9 + 3e6,
  displayedNs: null,
  pageUncertaintyNs: 2e5,
};

describe('video events', () => {
  it('are accepted when valid and rejected with any invalid field', () => {
    const of = (change: object) => sideRequestSchema.safeParse({ ...EVENT, ...change }).data ?? null;
    assert.deepEqual(of({}), EVENT);
    const wrong = [
      { more: 'fields' },
      { kind: 'record' },
      { camera: 7 },
      { captureNs: null },
      { receivedNs: 'now' },
      { decodedNs: Number.NaN },
      { displayedNs: -1 },
      { encodedNs: 1e300 },
      { pageUncertaintyNs: undefined },
    ];
    for (const change of wrong) assert.equal(of(change), null, JSON.stringify(change));
  });

  it('come from the console while it reports, otherwise from the recorder', () => {
    const taken: string[] = [];
    const gate = new VideoGate(({ camera, receivedNs }) => taken.push(`${camera} ${receivedNs / 1e9}`));
    const at = (s: number, camera = 'front') => ({ ...EVENT, camera, receivedNs: s * 1e9 });
    gate.fromRecorder(at(1));
    gate.fromConsole(at(2));
    gate.fromRecorder(at(3));
    gate.fromRecorder(at(3, 'wrist'));
    gate.fromRecorder(at(5));
    assert.deepEqual(taken, ['front 1', 'front 2', 'wrist 3', 'front 5']);
  });
});
