import assert from 'node:assert/strict';
import path from 'node:path';
import { describe, it } from 'node:test';
import { pathToFileURL } from 'node:url';

interface Admission {
  hasBrowser: boolean;
}

const { admits, runAdmitted } = (await import(
  pathToFileURL(path.resolve('scripts/testing/admission.mjs')).href
)) as {
  admits: (file: Admission, running: Admission[], cores: number) => boolean;
  runAdmitted: (files: Admission[], cores: number, run: (file: Admission) => Promise<void>) => Promise<void>;
};

const plain = (): Admission => ({ hasBrowser: false });
const page = (): Admission => ({ hasBrowser: true });

describe('test files of the second tier', () => {
  it('run one per core', () => {
    assert.equal(admits(plain(), [plain()], 2), true);
    assert.equal(admits(plain(), [plain(), plain()], 2), false);
  });

  it('with a browser run on half the cores at most', () => {
    assert.equal(admits(page(), [page()], 2), false);
    assert.equal(admits(page(), [page()], 4), true);
    assert.equal(admits(plain(), [page()], 2), true);
    assert.equal(admits(page(), [], 1), true);
  });

  it('all run, those without a browser beside one with it', async () => {
    const files = [page(), page(), plain(), plain()];
    const ran: Admission[] = [];
    const running = new Set<Admission>();
    await runAdmitted(files, 2, async (one) => {
      running.add(one);
      assert.ok(running.size <= 2 && [...running].filter(({ hasBrowser }) => hasBrowser).length <= 1);
      await Promise.resolve();
      ran.push(one);
      running.delete(one);
    });
    assert.deepEqual(new Set(ran), new Set(files));
  });
});
