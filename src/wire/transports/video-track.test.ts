import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { readReports } from './video-track.ts';

const SSRC = 0x6661_7300;

function reports(hex: string): string[] {
  const found: string[] = [];
  readReports(Buffer.from(hex.replaceAll(' ', ''), 'hex'), SSRC, {
    keyWanted: () => found.push('key'),
    lost: (share) => found.push(`lost ${share}`),
  });
  return found;
}

const receiverReport = (ssrc: string) =>
  `81c90007 00000001 ${ssrc} 40000003 00000010 00000000 00000000 00000000`;

describe('RTCP of a video', () => {
  it('understands receiver reports and requests for a key picture', () => {
    assert.deepEqual(reports(receiverReport('66617300')), ['lost 0.25']);
    assert.deepEqual(reports(`${receiverReport('66617300')} 81ce0002 00000001 66617300`), [
      'lost 0.25',
      'key',
    ]);
    assert.deepEqual(reports('84ce0004 00000001 00000000 66617300 01000000'), ['key']);
  });

  it('ignores reports on other streams and other kinds', () => {
    assert.deepEqual(reports(receiverReport('66617301')), []);
    assert.deepEqual(reports('81cd0003 00000001 66617300 00010000'), []);
  });

  it('never reads beyond what arrived', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 80 }), (bytes) => {
        readReports(bytes, SSRC, { keyWanted() {}, lost: (share) => assert.ok(share >= 0 && share < 1) });
      }),
    );
  });
});
