import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, describe, it } from 'node:test';
import type { ExportJob } from '../messages/console.ts';
import { LeRobotWriter } from '../record/lerobot/dataset-writer.ts';
import { scoreDataset } from '../record/lerobot/score.ts';
import { emptyInfo, rowOf, START_NS } from '../record/test-episode.ts';
import { listDatasets, wordsOf } from './datasets-api.ts';
import { ExportRunner } from './export-job.ts';

describe('datasets on the Record page', () => {
  const dir = mkdtempSync(path.join(tmpdir(), 'farhand-datasets-'));
  after(() => rmSync(dir, { recursive: true, force: true }));

  const edit = async (body: Parameters<typeof wordsOf>[1]): Promise<ExportJob> => {
    let runner: ExportRunner | null = null;
    const job = await new Promise<ExportJob>((resolve) => {
      runner = new ExportRunner((each) => each.state !== 'running' && resolve(each));
      assert.ok(runner.run(body.edit, ['dataset', ...wordsOf(dir, body)], dir));
    });
    (runner as ExportRunner | null)?.close();
    return job;
  };
  const tasksOf = async (name: string): Promise<string[]> =>
    (await scoreDataset(path.join(dir, name))).map(({ tasks, rows }) => `${tasks.join()} ${rows}`);

  // Seven processes, one after the other.
  it('are listed, and edited by the same commands as on the command line', { timeout: 300_000 }, async () => {
    const writer = await LeRobotWriter.open(path.join(dir, 'cups'), {
      ...{ fps: 10, codec: 'h264', maxGapS: 1, version: '0.0.0' },
    });
    for (const id of ['a', 'b', 'c']) {
      const rows = Array.from({ length: 20 }, (_, i) => rowOf(i, 6, new Map(), START_NS + i * 1e8));
      await writer.add({
        info: { ...emptyInfo(id, 6, []), rateHz: 10 },
        rows,
        frames: async function* () {},
      });
    }
    writer.close();
    mkdirSync(path.join(dir, 'other'));
    writeFileSync(path.join(dir, 'other', 'info.json'), '{}');
    assert.deepEqual(listDatasets(dir), [{ name: 'cups', fps: 10, episodes: 3, rows: 60 }]);
    const name = 'cups';
    const done = (job: ExportJob) => assert.equal(job.state, 'done', job.message);
    done(await edit({ edit: 'relabel', name, episodes: [1], task: '--out=/tmp "quoted" -x' }));
    done(await edit({ edit: 'trim', name, episode: 2, fromS: 0.5, toS: 1.5 }));
    done(await edit({ edit: 'split', name, episodes: [1, 2], into: 'part' }));
    done(await edit({ edit: 'delete', name, episodes: [0, 2] }));
    done(await edit({ edit: 'stats', name }));
    done(await edit({ edit: 'merge', name, other: 'part', into: 'all' }));
    const relabelled = '--out=/tmp "quoted" -x';
    assert.deepEqual(await tasksOf('cups'), [`${relabelled} 20`]);
    assert.deepEqual(await tasksOf('part'), [`${relabelled} 20`, 'put the cup down 10']);
    assert.equal((await tasksOf('all')).length, 3);
    const failed = await edit({ edit: 'delete', name, episodes: [7] });
    assert.deepEqual([failed.state, /no episode 7/.test(failed.message)], ['failed', true]);
  });
});
