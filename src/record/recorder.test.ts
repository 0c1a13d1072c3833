import assert from 'node:assert/strict';
import fs, { chmodSync, existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import path from 'node:path';
import { describe, it } from 'node:test';
import { needs } from '../../test/needs.ts';
import { temporaryFolder } from '../../test/temporary-folder.ts';
import { ManualClock } from '../core/time/clock.ts';
import type { EpisodeInfo, ReceivedFrame } from '../messages/recording.ts';
import { emptyRow, RING_ROW, type RingRow } from '../messages/ring-row.ts';
import { readEpisode, readJson } from './reader.ts';
import { EpisodeRecorder, type RecorderParts } from './recorder.ts';
import { received, WALL_NS } from './test-episode.ts';

const root = temporaryFolder('recorder');

/** A recorder on a manual clock that advances with its rows. */
function bench(name: string, parts: Partial<RecorderParts> = {}) {
  const dir = path.join(root, name);
  const clock = new ManualClock(5e9);
  const saved: { info: EpisodeInfo; file: string }[] = [];
  let skipped = 0;
  let seq = 0;
  const all: RecorderParts = {
    dir,
    task: '',
    startsAtEngagement: false,
    robot: 'test',
    joints: ['a', 'b'],
    hasGripper: true,
    cameras: [],
    rateHz: 100,
    rig: {},
    version: '0.0.0',
    owner: { pid: 1, host: 'here' },
    join: { staleNs: 150e6, missingNs: 1000e6 },
    limits: {},
    minFreeBytes: 0,
    newestAt: () => null,
    clock,
    wallNs: () => WALL_NS + BigInt(clock.nowNs()),
    onSkipped: (rows) => {
      skipped += rows;
    },
    onSaved: (info, file) => saved.push({ info, file }),
    ...parts,
  };
  const recorder = new EpisodeRecorder(all);
  const run = (count: number, change: Partial<RingRow> = {}) => {
    for (let i = 0; i < count; i++) {
      clock.advanceBy(10e6);
      const row = { ...RING_ROW.plain(emptyRow(2)), seq: ++seq, sampledNs: clock.nowNs(), ...change };
      recorder.row(row);
      recorder.tick();
    }
  };
  return {
    dir,
    clock,
    recorder,
    saved,
    run,
    skipped: () => skipped,
    demand: (bytes: number) => {
      all.minFreeBytes = bytes;
    },
    lose: (rows: number) => {
      seq += rows;
    },
  };
}
const ENGAGED = { engaged: true, supervisor: 'engaged' } as const;

/** Every write fails like one to a full disk while `work` runs. */
function onFullDisk(work: () => void): void {
  const { writevSync } = fs;
  fs.writevSync = () => {
    throw Object.assign(new Error('ENOSPC: no space left on device, writev'), { code: 'ENOSPC' });
  };
  syncBuiltinESMExports();
  try {
    work();
  } finally {
    fs.writevSync = writevSync;
    syncBuiltinESMExports();
  }
}

describe('EpisodeRecorder', () => {
  it('names a full disk also in the tick that looks after the file', () => {
    const { clock, recorder, run } = bench('full');
    recorder.request({ kind: 'record', action: 'start' });
    run(50, ENGAGED);
    clock.advanceBy(2e9);
    onFullDisk(() => run(1, ENGAGED));
    assert.equal(recorder.status.state, 'failed');
    assert.match(recorder.status.message, /the disk is full/);
  });

  it('goes through idle, recording and reset, and names its files', async () => {
    const { recorder, run, saved } = bench('states', { task: 'first' });
    assert.equal(recorder.status.state, 'idle');
    run(5);
    recorder.request({ kind: 'record', action: 'start', task: 'stack' });
    run(50, ENGAGED);
    assert.deepEqual([recorder.status.state, recorder.status.rows], ['recording', 50]);
    recorder.request({ kind: 'record', action: 'stop', label: 'success' });
    assert.equal(recorder.status.state, 'reset');
    run(20);
    recorder.toggle();
    run(10);
    recorder.toggle();
    assert.equal(saved.length, 2);
    const { rows, info } = await readEpisode(saved[0]!.file);
    assert.equal(rows.length, 50);
    assert.deepEqual([info.task, info.label, info.rows, info.complete], ['stack', 'success', 50, true]);
    assert.match(info.id, /^\d{8}-\d{6}-\d{3}$/);
    const events = (await readJson(saved[0]!.file, 'event')).map(({ value }) => value['event']);
    assert.deepEqual(events, ['start', 'supervisor', 'stop']);
  });

  it('starts with each engagement when configured to', () => {
    const { recorder, run, saved } = bench('auto', { startsAtEngagement: true });
    run(10);
    assert.equal(recorder.status.state, 'idle');
    run(10, ENGAGED);
    run(5, { supervisor: 'hold' });
    run(10, ENGAGED);
    assert.deepEqual([recorder.status.state, recorder.status.rows], ['recording', 25]);
    recorder.request({ kind: 'record', action: 'stop' });
    run(10, ENGAGED);
    assert.equal(recorder.status.state, 'reset');
    run(1);
    run(10, ENGAGED);
    recorder.close();
    assert.deepEqual(
      saved.map(({ info }) => info.rows),
      [25, 10],
    );
  });

  it('skips and counts rows that lack a frame, including rows lost in the ring', async () => {
    let frame: ReceivedFrame | null = null;
    const { recorder, run, saved, skipped, clock, lose } = bench('frames', {
      cameras: ['front'],
      newestAt: () => frame,
    });
    recorder.request({ kind: 'record', action: 'start' });
    run(7);
    frame = { ...received('front', 0, 0), captureOperatorNs: clock.nowNs(), arrivedNs: clock.nowNs() };
    run(10);
    run(10);
    lose(3);
    run(1);
    assert.equal(skipped(), 10);
    recorder.request({ kind: 'record', action: 'stop' });
    const { info } = await readEpisode(saved[0]!.file);
    assert.deepEqual([info.rows, info.skippedRows, info.staleRows], [21, 10, 6]);
    assert.equal(info.quality!.skippedShare, 10 / 31);
  });

  it('saves nothing for an episode without rows and reports why', () => {
    const { recorder, run, dir } = bench('none', { cameras: ['front'] });
    recorder.request({ kind: 'record', action: 'start' });
    run(20);
    recorder.request({ kind: 'record', action: 'stop' });
    assert.match(recorder.status.message, /no frame arrived from camera "front"/);
    assert.deepEqual(readdirSync(dir), []);
  });

  it('leaves no file of a discarded episode', () => {
    const { recorder, run, dir, saved } = bench('discard');
    recorder.request({ kind: 'record', action: 'start' });
    run(20);
    recorder.request({ kind: 'record', action: 'discard' });
    assert.deepEqual([readdirSync(dir), saved.length, recorder.status.state], [[], 0, 'reset']);
  });

  it('moves an episode that violates the limits to refused/', async () => {
    const { recorder, run, dir, saved } = bench('refused', { limits: { minRows: 100 } });
    recorder.request({ kind: 'record', action: 'start' });
    run(20);
    recorder.request({ kind: 'record', action: 'stop' });
    assert.equal(saved[0]!.file, path.join(dir, 'refused', `${saved[0]!.info.id}.mcap`));
    assert.match(recorder.status.message, /was rejected: 20 rows, fewer than 100/);
    assert.deepEqual((await readEpisode(saved[0]!.file)).info.quality!.refusedBy, [
      '20 rows, fewer than 100',
    ]);
  });

  it('reports a failed write, keeps running and can start again', () => {
    const blocked = path.join(root, 'blocked');
    writeFileSync(blocked, 'a file where the folder should be');
    const { recorder, run } = bench('blocked');
    recorder.request({ kind: 'record', action: 'start' });
    run(10);
    assert.equal(recorder.status.state, 'failed');
    assert.match(recorder.status.message, /Cannot start a recording in .*blocked: .*record\.dir=FOLDER/);
    rmSync(blocked);
    recorder.request({ kind: 'record', action: 'start' });
    run(10);
    assert.deepEqual([recorder.status.state, recorder.status.message], ['recording', '']);
    recorder.close();
  });

  it('reports on saving that its folder was deleted', () => {
    const { recorder, run, dir } = bench('gone');
    recorder.request({ kind: 'record', action: 'start' });
    run(30);
    rmSync(dir, { recursive: true });
    recorder.request({ kind: 'record', action: 'stop' });
    assert.equal(recorder.status.state, 'failed');
    assert.match(recorder.status.message, /Cannot save the recording/);
  });

  it('stops while there is enough space to complete the file', async () => {
    const { recorder, run, saved, demand } = bench('nearly-full');
    recorder.request({ kind: 'record', action: 'start' });
    run(150);
    demand(Number.MAX_SAFE_INTEGER);
    run(150);
    assert.equal(recorder.status.state, 'failed');
    assert.match(recorder.status.message, /nearly full. The episode was saved/);
    recorder.request({ kind: 'record', action: 'start' });
    assert.match(recorder.status.message, /Cannot start a recording in .*: the disk is nearly full/);
    assert.equal((await readEpisode(saved[0]!.file)).info.complete, true);
  });

  it('fails in a folder without write permission', {
    skip: needs('an ordinary user'),
  }, () => {
    const { recorder, dir } = bench('read-only');
    mkdirSync(dir);
    chmodSync(dir, 0o500);
    recorder.request({ kind: 'record', action: 'start' });
    assert.equal(recorder.status.state, 'failed');
    assert.ok(existsSync(dir));
  });
});
