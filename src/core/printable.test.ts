import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { printable } from './printable.ts';

describe('printable', () => {
  it('leaves ordinary text as it is', () => {
    for (const text of ['', 'arm-1', 'Zürich → Ōsaka', '组 1', '👩‍🔧']) assert.equal(printable(text), text);
  });

  it('replaces what moves a cursor, forges a line or reverses text', () => {
    assert.equal(printable('a\u001b[2Jb\u009b31m'), 'a�[2Jb�31m');
    assert.equal(printable('one\r\ntwo\u2028three\u0000\u007f'), 'one��two�three��');
    assert.equal(printable('\u202egpj.exe\u2066'), '�gpj.exe�');
  });
});
