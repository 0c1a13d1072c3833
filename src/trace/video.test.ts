import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { parseTraceLine } from './stamps.ts';
import { emptyVideoRecord, VideoReportBuilder, videoLine, videoSegmentsNs, videoTotalNs } from './video.ts';

const MS = 1e6;
const FRAME = {
  camera: 'front',
  captureNs: 5e12 + 100 * MS,
  encodedNs: 5e12 + 104 * MS,
  receivedNs: 112 * MS,
  decodedNs: 115 * MS,
  displayedNs: 131 * MS,
  offsetNs: 5e12,
  uncertaintyNs: 0.2 * MS,
};

describe('video frames', () => {
  it('round-trip through a line; a damaged line is malformed', () => {
    assert.deepEqual(parseTraceLine(videoLine(FRAME)), { kind: 'video', frame: FRAME });
    const empty = emptyVideoRecord('wrist');
    assert.deepEqual(parseTraceLine(videoLine(empty)), { kind: 'video', frame: empty });
    const torn = videoLine(FRAME).replace('"front"', '7');
    assert.deepEqual(parseTraceLine(torn), { kind: 'bad', reason: 'malformed' });
    const bent = videoLine(FRAME).replace('112000000', '"soon"');
    assert.deepEqual(parseTraceLine(bent), { kind: 'bad', reason: 'malformed' });
  });

  it('have segments that add up from glass to glass', () => {
    const out = new Float64Array(4);
    videoSegmentsNs(FRAME, out);
    assert.deepEqual([...out], [4 * MS, 8 * MS, 3 * MS, 16 * MS]);
    assert.equal(videoTotalNs(FRAME), 31 * MS);
    videoSegmentsNs({ ...FRAME, encodedNs: Number.NaN }, out);
    assert.deepEqual([...out], [0, 12 * MS, 3 * MS, 16 * MS]);
  });

  it('are reported per camera', () => {
    const builder = new VideoReportBuilder();
    builder.add(FRAME);
    builder.add({ ...FRAME, displayedNs: 151 * MS });
    builder.add({ ...FRAME, camera: 'wrist', displayedNs: Number.NaN });
    const [front, wrist] = builder.finish();
    assert.equal(front?.frames, 2);
    assert.equal(front?.totalNs?.max, 51 * MS);
    assert.equal(front?.segmentsNs.transfer?.p50, 8 * MS);
    assert.equal(front?.clockUncertaintyNs?.max, 0.2 * MS);
    assert.equal(wrist?.totalNs, null);
    assert.equal(wrist?.segmentsNs.decode?.max, 3 * MS);
  });
});
