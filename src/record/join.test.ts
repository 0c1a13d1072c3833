import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import type { ReceivedFrame } from '../messages/recording.ts';
import { emptyRow, RING_ROW } from '../messages/ring-row.ts';
import { joinFrames, type NewestAt, rowFrom } from './join.ts';

const LIMITS = { staleNs: 150e6, missingNs: 1000e6 };
const CAMERAS = ['front', 'wrist'];

const frame = (camera: string, captureNs: number, arrivedNs: number): ReceivedFrame => ({
  camera,
  captureNs,
  encoding: 'jpeg',
  bytes: new Uint8Array([captureNs & 0xff]),
  captureOperatorNs: captureNs,
  uncertaintyNs: 0,
  arrivedNs,
});

/** A slow reference implementation of the rule. */
const newestOf =
  (frames: readonly ReceivedFrame[]): NewestAt =>
  (camera, sampledNs) => {
    const arrived = frames.filter((one) => one.camera === camera && one.arrivedNs <= sampledNs);
    return arrived.reduce<ReceivedFrame | null>(
      (best, one) => (best === null || one.arrivedNs >= best.arrivedNs ? one : best),
      null,
    );
  };

const feed = fc.array(
  fc.record({
    camera: fc.constantFrom(...CAMERAS),
    captureNs: fc.integer({ min: 0, max: 3e9 }),
    transitNs: fc.integer({ min: 0, max: 5e8 }),
  }),
  { maxLength: 40 },
);
const instants = fc.array(fc.integer({ min: 0, max: 4e9 }), { minLength: 1, maxLength: 40 });

describe('joinFrames', () => {
  it('uses no frame that arrived after the row, and one per camera or none at all', () => {
    fc.assert(
      fc.property(feed, instants, (made, times) => {
        const frames = made.map(({ camera, captureNs, transitNs }) =>
          frame(camera, captureNs, captureNs + transitNs),
        );
        for (const sampledNs of times) {
          const joined = joinFrames(sampledNs, CAMERAS, newestOf(frames), LIMITS);
          for (const picture of joined.pictures.values()) assert.ok(picture.arrivedNs <= sampledNs);
          if (joined.missing !== null) continue;
          assert.deepEqual(Object.keys(joined.frames), CAMERAS);
          for (const camera of CAMERAS) {
            const picture = joined.pictures.get(camera)!;
            const reported = joined.frames[camera]!;
            // The row's metadata and the picture belong to the same frame.
            assert.equal(reported.captureNs, picture.captureNs);
            assert.equal(reported.ageNs, sampledNs - picture.captureNs);
            assert.equal(reported.stale, reported.ageNs > LIMITS.staleNs);
            assert.ok(reported.ageNs <= LIMITS.missingNs);
            // Nothing newer had arrived.
            for (const other of frames)
              if (other.camera === camera && other.arrivedNs <= sampledNs)
                assert.ok(other.arrivedNs <= picture.arrivedNs);
          }
        }
      }),
    );
  });

  it('rejects a frame from the future, whatever the cache returns', () => {
    const liar: NewestAt = (camera, sampledNs) => frame(camera, sampledNs, sampledNs + 1);
    assert.equal(joinFrames(1e9, CAMERAS, liar, LIMITS).missing, 'front');
  });

  it('keeps and flags a stale frame, and treats a much older one as missing', () => {
    const of = (ageNs: number) =>
      joinFrames(5e9, ['front'], () => frame('front', 5e9 - ageNs, 5e9 - ageNs + 1e6), LIMITS);
    assert.deepEqual([of(100e6).isStale, of(100e6).missing], [false, null]);
    assert.deepEqual([of(300e6).isStale, of(300e6).missing], [true, null]);
    assert.equal(of(1001e6).missing, 'front');
  });

  it('computes the age from the arrival time until the clock offset is known', () => {
    const unknown = { ...frame('front', 9e12, 4.9e9), captureOperatorNs: Number.NaN };
    const { frames, missing } = joinFrames(5e9, ['front'], () => unknown, LIMITS);
    assert.equal(missing, null);
    assert.equal(frames['front']!.ageNs, 0.1e9);
    assert.equal(frames['front']!.captureNs, 9e12);
  });
});

describe('ring rows', () => {
  it('unpack to the row that was packed', () => {
    const row = emptyRow(3);
    Object.assign(row, { seq: 9, sampledNs: 5, engaged: true, supervisor: 'hold' });
    row.commandRad.set([1, 2, 3]);
    row.stateRad.set([4, 5, 6]);
    row.limitedBy = 'collision';
    const out = emptyRow(3);
    out.packed.set(row.packed);
    assert.deepEqual(RING_ROW.plain(out), RING_ROW.plain(row));
    const saved = rowFrom(out, {}, 2, 3);
    assert.deepEqual([saved.index, saved.timeNs, saved.oneWayNs, saved.commandRad], [2, 2, null, [1, 2, 3]]);
  });
});
