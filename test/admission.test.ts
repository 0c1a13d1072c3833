import assert from 'node:assert/strict';
import path from 'node:path';
import { describe, it } from 'node:test';
import { pathToFileURL } from 'node:url';

interface Admission {
  hasBrowser: boolean;
  isBackground?: boolean;
  isLight?: boolean;
}

const { admits, runAdmitted } = (await import(
  pathToFileURL(path.resolve('scripts/testing/admission.mjs')).href
)) as {
  admits: (file: Admission, running: Admission[], cores: number) => boolean;
  runAdmitted: (files: Admission[], cores: number, run: (file: Admission) => Promise<void>) => Promise<void>;
};

const plain = (): Admission => ({ hasBrowser: false });
const page = (): Admission => ({ hasBrowser: true });
const background = (): Admission => ({ hasBrowser: false, isBackground: true });
const light = (): Admission => ({ hasBrowser: false, isLight: true });

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

  it('that nothing hurries run beside those, one at a time, and on free cores', () => {
    assert.equal(admits(background(), [plain(), page()], 2), true);
    assert.equal(admits(background(), [plain(), page(), background()], 2), false);
    assert.equal(admits(plain(), [plain(), background()], 2), true);
    assert.equal(admits(background(), [background()], 2), true);
    assert.equal(admits(background(), [background(), background()], 2), false);
  });

  it('that mostly wait run beside those, one at a time', () => {
    assert.equal(admits(light(), [plain(), page()], 2), true);
    assert.equal(admits(light(), [plain(), page(), background()], 2), true);
    assert.equal(admits(light(), [plain(), light()], 2), false);
    assert.equal(admits(plain(), [plain(), light()], 2), true);
    assert.equal(admits(plain(), [plain(), page(), light()], 2), false);
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
