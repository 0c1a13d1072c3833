import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { permissionsOf } from './permissions.ts';
import { subjects } from './subjects.ts';

describe('permissions for hand-over requests', () => {
  it('let operators send in their own name and receive from others, for their robots only', () => {
    const { pub, sub } = permissionsOf('operator', 'ann', ['arm']);
    assert.deepEqual(
      pub.filter((subject) => subject.startsWith('farhand.ask')),
      [subjects.ask('arm', 'ann')],
    );
    assert.deepEqual(
      sub.filter((subject) => subject.startsWith('farhand.ask')),
      [subjects.ask('arm', '*')],
    );
  });

  it('exclude roles that cannot hold a robot', () => {
    for (const role of ['robot', 'viewer'] as const) {
      const { pub, sub } = permissionsOf(role, 'vi', ['arm']);
      assert.deepEqual(
        [...pub, ...sub].filter((subject) => subject.startsWith('farhand.ask')),
        [],
      );
    }
  });

  it('pass requests and answers between a site and the fleet, for its robots only', () => {
    const { pub, sub } = permissionsOf('site', 'hall', ['arm']);
    for (const allowed of [pub, sub])
      assert.deepEqual(
        allowed.filter((subject) => subject.startsWith('farhand.ask')),
        [subjects.ask('arm', '*')],
      );
  });
});
