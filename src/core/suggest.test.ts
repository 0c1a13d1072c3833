import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { closest } from './suggest.ts';

const KNOWN = ['speedPercent', 'commandTimeoutMs', 'playout', 'driver', 'hz'];

describe('suggestion', () => {
  it('finds the word behind a typing error', () => {
    const typed = ['speedpercent', 'sppedPercent', 'speedPercnt', 'comandTimeoutMs', 'playuot', 'drivers'];
    const meant = ['speedPercent', 'speedPercent', 'speedPercent', 'commandTimeoutMs', 'playout', 'driver'];
    assert.deepEqual(
      typed.map((word) => closest(word, KNOWN)),
      meant,
    );
  });

  it('suggests nothing for an unrelated word', () => {
    assert.equal(closest('elephant', KNOWN), null);
    assert.equal(closest('anything', []), null);
  });

  it('returns only known words, and a known word for itself', () => {
    fc.assert(
      fc.property(fc.string(), fc.array(fc.string()), (word, known) => {
        const near = closest(word, known);
        assert.ok(near === null || known.includes(near));
        if (known.some((k) => k.toLowerCase() === word.toLowerCase()))
          assert.equal(near?.toLowerCase(), word.toLowerCase());
      }),
    );
  });

  it('corrects any single edit', () => {
    const word = 'commandTimeoutMs';
    fc.assert(
      fc.property(
        fc.nat(word.length - 1),
        fc.constantFrom('insert', 'delete', 'replace'),
        fc.constantFrom(...'xyz7_'),
        (at, edit, letter) => {
          const tail = word.slice(edit === 'insert' ? at : at + 1);
          const mistyped = word.slice(0, at) + (edit === 'delete' ? '' : letter) + tail;
          assert.equal(closest(mistyped, KNOWN), word);
        },
      ),
    );
  });
});
