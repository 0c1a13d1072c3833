import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { ExportJob } from '../messages/console.ts';
import { ExportRunner, readProgress } from './export-job.ts';

describe('progress of an export', () => {
  it('is read from the export’s output', () => {
    assert.equal(readProgress('20260101-120000-001: 30 of 60 pictures encoded').progress, 0.5);
    assert.equal(readProgress('encoding ███ 25 %').progress, 0.25);
    assert.equal(readProgress('{"done":1,"total":4,"message":"x"}').progress, 0.25);
    assert.equal(readProgress('a: episode 0, 100 rows of 3.2 s in 1.1 s').progress, null);
    assert.equal(readProgress('farhand: no such folder').message, 'no such folder');
    assert.equal(readProgress('9 of 3').progress, null);
  });

  it('reports an export that cannot run as failed, with its message, and can start another', async () => {
    const jobs: ExportJob[] = [];
    const ended = () => jobs.some(({ state }) => state === 'failed' || state === 'done');
    const runner = new ExportRunner((job) => jobs.push(job));
    assert.equal(runner.start('nonsense', [], '/nowhere'), true);
    assert.equal(runner.start('nonsense', [], '/nowhere'), false, 'one at a time');
    for (let i = 0; i < 1000 && !ended(); i++) await new Promise((resolve) => setTimeout(resolve, 50));
    assert.equal(runner.job.state, 'failed');
    assert.match(runner.job.message, /export/);
    assert.equal(runner.start('nonsense', [], '/nowhere'), true);
    runner.close();
  });
});
