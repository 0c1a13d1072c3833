import assert from 'node:assert/strict';
import path from 'node:path';
import { describe, it } from 'node:test';
import { pathToFileURL } from 'node:url';

interface Admission {
  share: number;
  hasBrowser: boolean;
  hasDeadlines: boolean;
}

const { admits, runAdmitted, shareOf } = (await import(
  pathToFileURL(path.resolve('scripts/testing/admission.mjs')).href
)) as {
  admits: (file: Admission, running: Admission[], cores: number) => boolean;
  runAdmitted: (files: Admission[], cores: number, run: (file: Admission) => Promise<void>) => Promise<void>;
  shareOf: (cost?: { ms: number; cpuMs: number }) => number;
};

const file = (share: number, more: Partial<Admission> = {}): Admission => ({
  ...{ share, hasBrowser: false, hasDeadlines: false },
  ...more,
});

describe('test files of the second tier', () => {
  it('that were never measured run one per core', () => {
    assert.equal(shareOf(undefined), 1);
    assert.equal(admits(file(1), [file(1)], 2), true);
    assert.equal(admits(file(1), [file(1), file(1)], 2), false);
  });

  it('that mostly wait run beside more than one per core, up to three quarters of all cores', () => {
    assert.equal(shareOf({ ms: 10_000, cpuMs: 2000 }), 0.2);
    assert.equal(admits(file(0.2), [file(0.6), file(0.6)], 2), true);
    assert.equal(admits(file(0.4), [file(0.6), file(0.6)], 2), false);
    assert.equal(admits(file(0.01), [file(0), file(0), file(0), file(0)], 2), false, 'two per core at most');
  });

  it('with device deadlines never run beside more than one per core', () => {
    const bus = file(0.1, { hasDeadlines: true });
    assert.equal(admits(bus, [file(0.1), file(0.1)], 2), false);
    assert.equal(admits(file(0.1), [bus, file(0.1)], 2), false);
  });

  it('with a browser run on half the cores at most', () => {
    const page = file(0.1, { hasBrowser: true });
    assert.equal(admits(page, [page], 2), false);
    assert.equal(admits(page, [page], 4), true);
    assert.equal(admits(file(0.1), [page], 2), true);
  });

  it('all run, one alone where it needs everything', async () => {
    const files = [file(5), file(0.1), file(0.1, { hasDeadlines: true }), file(1), file(0.3)];
    const ran: Admission[] = [];
    let running = 0;
    await runAdmitted(files, 1, async (one) => {
      assert.ok(++running <= 2);
      await Promise.resolve();
      ran.push(one);
      running--;
    });
    assert.deepEqual(new Set(ran), new Set(files));
  });
});
