import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Recording } from '../recordings.ts';
import { mergeEntry } from './merge-entry.ts';

const known: Recording = {
  ...{
    robot: 'arm',
    episode: 'a',
    sizeBytes: 5,
    sha256: 'a'.repeat(64),
    startedAt: 's',
    durationS: 1,
    rows: 2,
  },
  ...{ task: 't', label: null, atRobot: true },
  places: [{ where: 'nats', verifiedAt: 'v' }],
};

describe('an entry changed by another user', () => {
  it('gets its task, label and further places', () => {
    const s3 = { where: 's3://b/a', verifiedAt: 'w' };
    const changed = { ...known, rows: 9, task: 'u', label: 'success', places: [s3] };
    assert.deepEqual(mergeEntry(known, changed), {
      ...known,
      ...{ task: 'u', label: 'success', places: [...known.places, s3] },
    });
  });

  it('never describes another file', () => {
    assert.equal(mergeEntry(known, { ...known, sha256: 'b'.repeat(64) }), null);
    assert.equal(mergeEntry(known, { ...known, sizeBytes: 6 }), null);
  });
});
