import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { permissionsOf } from './permissions.ts';
import { subjects } from './subjects.ts';

describe('who may ask whom for a robot', () => {
  it('lets operators speak in their own name and hear the others, about their robots only', () => {
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

  it('lets nobody ask who cannot hold a robot', () => {
    for (const role of ['robot', 'viewer'] as const) {
      const { pub, sub } = permissionsOf(role, 'vi', ['arm']);
      assert.deepEqual(
        [...pub, ...sub].filter((subject) => subject.startsWith('farhand.ask')),
        [],
      );
    }
  });

  it('passes questions and answers between a site and the fleet, about its robots only', () => {
    const { pub, sub } = permissionsOf('site', 'hall', ['arm']);
    for (const allowed of [pub, sub])
      assert.deepEqual(
        allowed.filter((subject) => subject.startsWith('farhand.ask')),
        [subjects.ask('arm', '*')],
      );
  });
});
