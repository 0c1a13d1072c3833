import assert from 'node:assert/strict';
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { before, describe, it } from 'node:test';
import type { EpisodeRow } from '../../src/messages/recording.ts';
import { exportPack } from '../../src/record/export/export-pack.ts';
import { findEpisodes } from '../../src/record/export/sources.ts';
import { filesBelow } from '../../src/record/lerobot/dataset-folder.ts';
import { startOf } from '../../src/record/test-episode.ts';
import { EpisodeWriter } from '../../src/record/writer.ts';
import { needs } from '../needs.ts';
import { type EpisodeShape, sourceEpisode } from '../record/source-episode.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { until } from '../until.ts';
import { farhand, startFarhand } from './farhand.ts';

/** Writes an episode as a recorder does. */
function record(
  dir: string,
  shape: EpisodeShape,
  edit: (row: EpisodeRow) => EpisodeRow = (row) => row,
): string {
  const source = sourceEpisode(shape);
  const file = path.join(dir, `${shape.id}.mcap`);
  const start = startOf(source.info);
  const writer = new EpisodeWriter(file, start);
  for (const row of source.rows) {
    const shown = Object.entries(row.frames).map(([camera, { captureNs }]) => [
      camera,
      source.received.get(camera)!.find((frame) => frame.captureNs === captureNs)!,
    ]);
    writer.row(edit(row), start.startNs + row.timeNs, new Map(shown as [string, never][]));
    writer.flushIfDue(start.startNs + row.timeNs);
  }
  writer.close(source.info);
  return file;
}

describe('farhand export and farhand dataset', { skip: needs('ffmpeg') }, () => {
  let dir = '';
  let first = '';
  let dataset = '';

  before(() => {
    dir = temporaryFolder();
    dataset = path.join(dir, 'dataset');
    first = record(dir, { id: '20260921-141320-001', seconds: 1, cameras: ['front', 'wrist'] });
  });

  it('exports a dataset that satisfies every rule, and skips episodes already in it', async () => {
    const made = await farhand(['export', 'lerobot', dataset, '--from', first]);
    assert.equal(made.code, 0, made.stderr);
    assert.match(made.stdout, /episode 0, 30 rows of 1\.0 s.*\n.*checked, no violations/);
    const again = await farhand(['export', 'lerobot', dataset, '--from', dir, '--json']);
    assert.equal(again.code, 0, again.stderr);
    const { episodes, checked } = JSON.parse(again.stdout) as {
      episodes: { episode: null }[];
      checked: boolean;
    };
    assert.deepEqual([episodes[0]?.episode, checked], [null, true]);
    const info = await farhand(['dataset', 'info', dataset]);
    assert.match(info.stdout, /1 episodes, 30 rows, 1\.0 s\ntask 0: put the cup down/);
    assert.equal((await farhand(['dataset', 'check', dataset])).code, 0);
  });

  it('survives a kill: the dataset stays valid and the next export continues', async () => {
    const long = record(dir, { id: '20260921-141320-002', seconds: 12, cameras: ['front', 'wrist'] });
    const child = startFarhand(['export', 'lerobot', dataset, '--from', long]);
    const isEncoding = () => filesBelow(dataset).some((name) => name.endsWith('file-001.mp4.tmp'));
    await until('encoding', () => isEncoding() || child.process.exitCode !== null, child.stderr);
    child.process.kill('SIGKILL');
    assert.equal(await child.exited, null, 'it was still running');
    const kept = await farhand(['dataset', 'check', dataset, '--json']);
    assert.equal(kept.code, 0, kept.stdout);
    const short = record(dir, { id: '20260921-141320-003', seconds: 0.5, cameras: ['front', 'wrist'] });
    const next = await farhand(['export', 'lerobot', dataset, '--from', short]);
    assert.equal(next.code, 0, next.stderr);
    assert.match(next.stdout, /episode 1, 15 rows/);
    assert.deepEqual(
      filesBelow(dataset).filter((name) => /tmp$|^\./.test(name)),
      [],
    );
  });

  it('exports corrections alone: what a person drove after taking over, each stretch as an episode', async () => {
    const folder = temporaryFolder();
    try {
      const isPerson = ({ timeNs }: EpisodeRow) => timeNs >= 1e9 && timeNs < 2e9;
      const file = record(folder, { id: '20260921-141320-004', seconds: 3 }, (row) =>
        isPerson(row) ? { ...row, source: 'person', intervention: true } : { ...row, source: 'policy' },
      );
      const from = ['--corrections', '--json', '--from', file];
      const made = await farhand(['export', 'lerobot', path.join(folder, 'dataset'), ...from]);
      assert.equal(made.code, 0, made.stderr);
      const { episodes, checked } = JSON.parse(made.stdout) as {
        episodes: { id: string; rows: number }[];
        checked: boolean;
      };
      assert.deepEqual(
        [checked, ...episodes.map(({ id, rows }) => `${id} ${rows}`)],
        [true, '20260921-141320-004-correction-1 30'],
      );
      const pack = (name: string, episode: string) =>
        findEpisodes([episode], folder).then((episodes) =>
          exportPack({
            ...{ file: path.join(folder, name), episodes, fps: null, maxGapS: 1, onlyCorrections: true },
            ...{ widthPx: 16, heightPx: 16, pictureEvery: 1, decode: () => new Uint8Array(3 * 16 * 16) },
          }),
        );
      assert.equal((await pack('a.npz', file)).rows, 30);
      assert.equal((await pack('b.npz', first)).episodes, 0);
      assert.deepEqual(
        readdirSync(folder).filter((name) => name.includes('.npz')),
        ['a.npz'],
      );
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  });

  it('skips and counts rows whose pictures were lost to damage', async () => {
    const folder = temporaryFolder();
    try {
      const file = record(folder, { id: '20260921-141320-003', seconds: 3, cameras: ['front'] });
      const bytes = readFileSync(file);
      const at = bytes.indexOf(Buffer.from([0xff, 0xd8, 0xff]), bytes.length >> 1);
      bytes[at + 30]! ^= 0xff;
      writeFileSync(file, bytes);
      assert.equal((await farhand(['recover', file])).code, 3);
      const recovered = file.replace('.mcap', '.recovered.mcap');
      const made = await farhand(['export', 'lerobot', path.join(folder, 'dataset'), '--from', recovered]);
      assert.equal(made.code, 0, made.stderr);
      assert.match(
        made.stdout,
        /episode 0, 90 rows.*; skipped \d+ recorded rows.*\n.*checked, no violations/,
      );
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  });

  it('reports the rule and the file of a violation', async () => {
    const broken = path.join(dataset, 'meta/stats.json');
    rmSync(broken);
    const { code, stdout } = await farhand(['dataset', 'check', dataset]);
    assert.equal(code, 1);
    assert.match(stdout, /^stats: meta\/stats\.json: missing/);
  });

  it('suggests installing ffmpeg when it is missing', async () => {
    const before = process.env['PATH'];
    process.env['PATH'] = dir;
    try {
      const { code, stderr } = await farhand(['export', 'lerobot', path.join(dir, 'none'), '--from', first]);
      assert.equal(code, 1);
      assert.match(stderr, /encoder-failed.*\n.*[Ii]nstall ffmpeg/);
    } finally {
      process.env['PATH'] = before;
    }
  });

  it('exports an episode as CSV with its pictures', async () => {
    const { code, stderr } = await farhand([
      'export',
      'csv',
      path.join(dir, 'csv'),
      '--from',
      first,
      '--pictures',
    ]);
    assert.equal(code, 0, stderr);
    const lines = readFileSync(path.join(dir, 'csv', '20260921-141320-001.csv'), 'utf8')
      .trim()
      .split('\r\n');
    assert.equal(lines.length, 101);
    const [header = '', ...rows] = lines;
    const cells = (line: string) =>
      Object.fromEntries(header.split(',').map((name, i) => [name, line.split(',')[i]]));
    const row = cells(rows[23]!);
    assert.deepEqual(
      [row['index'], row['time_s'], row['one_way_ms'], row['supervisor']],
      ['23', '0.23', '3.2', 'engaged'],
    );
    assert.equal(Number(row['command.joint_2_rad']), Math.sin(23 / 50 + 1));
    assert.equal(readdirSync(path.join(dir, 'csv', '20260921-141320-001', 'front')).length, 30);
  });

  it('rejects a missing recording and a folder that is not a dataset', async () => {
    const none = await farhand(['export', 'lerobot', dataset, '--from', path.join(dir, 'nothing.mcap')]);
    assert.equal(none.code, 2);
    assert.match(none.stderr, /file-missing/);
    assert.match((await farhand(['dataset', 'check', dir])).stdout, /^file-missing: meta\/info\.json/);
  });
});
