import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { permissionsOf } from './permissions.ts';
import { parseRecording, type Recording } from './recordings.ts';

const RECORDING: Recording = {
  ...{ robot: 'arm', episode: '20260921-141320-001', sizeBytes: 10, sha256: 'a'.repeat(64) },
  ...{ startedAt: '2026-09-21T14:13:20.000Z', durationS: 1, rows: 100, task: 'cup', label: null },
  ...{ places: [{ where: 'nats', verifiedAt: '2026-09-21T14:14:20.000Z' }], atRobot: true },
};

describe('an index entry of a recording', () => {
  it('is read back, and rejected if any part of it is invalid', () => {
    assert.deepEqual(parseRecording(JSON.stringify(RECORDING)), RECORDING);
    const wrong: object[] = [
      { sha256: 'A'.repeat(64) },
      { episode: '../../etc/passwd' },
      { episode: 'a.b' },
      { sizeBytes: -1 },
      { places: 'nats' },
      { extra: 1 },
    ];
    for (const change of wrong)
      assert.equal(parseRecording(JSON.stringify({ ...RECORDING, ...change })), null, JSON.stringify(change));
    for (const text of ['', 'null', '[]', '{', '\u0000']) assert.equal(parseRecording(text), null);
  });
});

describe('permissions for recordings', () => {
  it('allow consumers, purges and new streams only to administrators', () => {
    const forbidden = /\$JS\.API\.(CONSUMER|STREAM\.(CREATE|UPDATE|DELETE|PURGE|MSG))/;
    for (const role of ['robot', 'operator', 'viewer', 'site'] as const)
      for (const robots of [['arm'], ['*']]) {
        const { pub } = permissionsOf(role, 'me', robots);
        assert.deepEqual(
          pub.filter(
            (subject) => forbidden.test(subject) || subject === '>' || subject.startsWith('$JS.API.>'),
          ),
          [],
        );
      }
  });

  it('let a viewer write nothing', () => {
    const { pub } = permissionsOf('viewer', 'me', ['arm']);
    assert.deepEqual(
      pub.filter((subject) => subject.startsWith('$O.') || subject.startsWith('farhand.recording')),
      [],
    );
  });
});
