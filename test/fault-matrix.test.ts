import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { DOCS_FILE, documentedFaults } from '../bench/faults/docs.ts';
import { FAULTS } from '../bench/faults/rows.ts';

const names = FAULTS.map(({ name }) => name);

describe('fault matrix', () => {
  it('matches docs/SAFETY.md row by row, as `npm run bench -- faults --write-docs` writes it', () => {
    assert.deepEqual(documentedFaults(readFileSync(DOCS_FILE, 'utf8')), names);
  });

  it('names every fault once', () => {
    assert.equal(new Set(names).size, names.length);
  });

  it('takes at most ten minutes', () => {
    const seconds = FAULTS.reduce((sum, fault) => sum + fault.seconds, 0);
    assert.ok(seconds <= 600, `${seconds} s`);
  });
});
