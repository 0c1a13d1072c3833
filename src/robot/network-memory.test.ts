import assert from 'node:assert/strict';
import { readdirSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, it } from 'node:test';
import { temporaryFolder } from '../../test/temporary-folder.ts';
import { keepPrior, loadPriors } from './network-memory.ts';

const prior = (usualMs: number) => ({ version: 1, needsMs: [30, 12], usualMs }) as const;

function inFolder(work: (folder: string) => void): void {
  const folder = temporaryFolder('networks');
  try {
    work(folder);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

describe('network memory', () => {
  it('starts empty and keeps one prior per network', () =>
    inFolder((folder) => {
      assert.deepEqual(loadPriors(path.join(folder, 'not-yet')), {});
      keepPrior('home', { ...prior(1), needsMs: [30, 12] }, folder);
      keepPrior('office', { ...prior(2), needsMs: [30, 12] }, folder);
      keepPrior('home', { ...prior(3), needsMs: [30, 12] }, folder);
      assert.deepEqual(loadPriors(folder), { office: prior(2), home: prior(3) });
      assert.deepEqual(readdirSync(folder), ['networks.json']);
    }));

  it('keeps a bounded number of networks and drops the oldest', () =>
    inFolder((folder) => {
      for (let i = 0; i < 70; i++) keepPrior(`n${i}`, { ...prior(i), needsMs: [] }, folder);
      const names = Object.keys(loadPriors(folder));
      assert.equal(names.length, 64);
      assert.equal(names.at(-1), 'n69');
      assert.ok(!names.includes('n5'));
    }));

  it('treats an unrecognised file as empty and skips a bad entry', () =>
    inFolder((folder) => {
      for (const text of ['', '{', '[]', 'null', '{"format":"other","networks":{"a":1}}']) {
        writeFileSync(path.join(folder, 'networks.json'), text);
        assert.deepEqual(loadPriors(folder), {});
      }
      const networks = { good: prior(1), bad: { version: 1, needsMs: [-5], usualMs: 1 } };
      writeFileSync(
        path.join(folder, 'networks.json'),
        JSON.stringify({ format: 'farhand-networks/1', networks }),
      );
      assert.deepEqual(loadPriors(folder), { good: prior(1) });
    }));
});
