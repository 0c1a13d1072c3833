import assert from 'node:assert/strict';
import { copyFileSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { before, describe, it } from 'node:test';
import { McapIndexedReader } from '@mcap/core';
import { temporaryFolder } from '../../test/temporary-folder.ts';
import type { WorldTelemetry } from '../messages/telemetry.ts';
import { cutEpisode, deleteEpisode, restoreEpisode } from './deleted.ts';
import { isTakenIn, labelEpisode, listEpisodes } from './episodes.ts';
import { frames, readEpisode, readInfo, readJson, readWorld } from './reader.ts';
import { emptyInfo, received, rowOf, START_NS, startOf } from './test-episode.ts';
import { trimEpisode } from './trim.ts';
import { EpisodeWriter } from './writer.ts';

const root = temporaryFolder('trim');
const whole = path.join(root, 'whole.mcap');
const COUNT = 400;

const worldAt = (elapsedS: number): WorldTelemetry => ({
  ...{ task: 'sort', seed: 1, round: 1, elapsedS, limitS: 60, score: 0, outcome: 'running', held: -1 },
  ...{ baseM: [0, 0, 0], poses: [], contact: null },
});

/** Rows every 10 ms, a picture of each camera for three rows, the world every second, an event every half second. */
before(() => {
  const info = emptyInfo('whole', 6, ['front', 'wrist']);
  const writer = new EpisodeWriter(whole, startOf(info));
  for (let i = 0; i < COUNT; i++) {
    const sampledNs = START_NS + i * 10e6;
    const pictures = new Map(
      info.cameras.map((name, c) => [name, received(name, Math.floor(i / 3), c, 8000)]),
    );
    if (i % 100 === 0) writer.world(sampledNs, worldAt(i / 100));
    if (i % 50 === 0) writer.event(sampledNs, 'mark', String(i));
    writer.row(rowOf(i, 6, pictures, sampledNs), sampledNs, pictures);
    writer.flushIfDue(sampledNs);
  }
  writer.close({
    ...info,
    task: 'put the cup down',
    label: 'success',
    rows: COUNT,
    durationS: (COUNT - 1) / 100,
  });
});

describe('trimming a recording', () => {
  it('keeps exactly the rows in between, counted and timed from the first, with their pictures', async () => {
    const into = path.join(root, 'part.mcap');
    assert.equal(trimEpisode(whole, 1.005, 2.5, into, '0.0.0'), 150);
    const [part, original] = [await readEpisode(into), await readEpisode(whole)];
    assert.deepEqual(
      part.rows,
      original.rows
        .slice(101, 251)
        .map((row) => ({ ...row, index: row.index - 101, timeNs: row.timeNs - 1.01e9 })),
    );
    for (const camera of ['front', 'wrist']) {
      const [kept, all] = [new Map<number, Uint8Array>(), new Map<number, Uint8Array>()];
      for await (const { captureNs, bytes } of frames(into, camera)) kept.set(captureNs, bytes);
      for await (const { captureNs, bytes } of frames(whole, camera)) all.set(captureNs, bytes);
      const used = new Set(part.rows.map((row) => row.frames[camera]!.captureNs));
      assert.deepEqual([...kept.keys()], [...used], 'the pictures that rows refer to, no others');
      for (const [captureNs, bytes] of kept) assert.deepEqual(bytes, all.get(captureNs));
    }
  });

  it('describes the part: length, start, task, label and quality of its own rows', async () => {
    const into = path.join(root, 'described.mcap');
    trimEpisode(whole, 1, 2, into, '0.0.0');
    const info = await readInfo(into);
    assert.equal(info.id, 'described');
    assert.equal(info.complete, true);
    assert.equal(info.rows, 101);
    assert.ok(Math.abs(info.durationS - 1) < 1e-9);
    assert.equal(info.skippedRows, 0);
    assert.equal(info.startedAt, '2026-09-21T14:13:21.000Z');
    assert.deepEqual([info.task, info.label], ['put the cup down', 'success']);
    assert.deepEqual(info.quality?.figures?.endRad, (await readEpisode(into)).rows.at(-1)!.stateRad);
  });

  it('begins with the world as it was, and leaves out what happened before and after', async () => {
    const into = path.join(root, 'world.mcap');
    trimEpisode(whole, 1.5, 2.4, into, '0.0.0');
    assert.deepEqual(
      (await readWorld(into)).map(({ world }) => world.elapsedS),
      [1, 2],
    );
    assert.deepEqual(
      (await readJson(into, 'event')).map(({ value }) => value['detail']),
      ['150', '200'],
    );
  });

  it('is a sound file for the reference library, and can be trimmed again', async () => {
    const [once, twice, atOnce] = ['once', 'twice', 'at-once'].map((name) => path.join(root, `${name}.mcap`));
    trimEpisode(whole, 0.5, 3.5, once!, '0.0.0');
    trimEpisode(once!, 0.5, 1.5, twice!, '0.0.0');
    trimEpisode(whole, 1, 2, atOnce!, '0.0.0');
    assert.deepEqual((await readEpisode(twice!)).rows, (await readEpisode(atOnce!)).rows);
    const bytes = readFileSync(twice!);
    const reader = await McapIndexedReader.Initialize({
      readable: {
        size: async () => BigInt(bytes.length),
        read: async (offset: bigint, size: bigint) => bytes.subarray(Number(offset), Number(offset + size)),
      },
    });
    let messages = 0n;
    for await (const _ of reader.readMessages({ validateCrcs: true })) messages++;
    assert.equal(reader.statistics?.messageCount, messages);
  });

  it('rejects a part without motion, and leaves no file behind', () => {
    const into = path.join(root, 'none.mcap');
    assert.throws(() => trimEpisode(whole, 10, 20, into, '0.0.0'), { code: 'bad-option' });
    assert.throws(() => trimEpisode(whole, 1, 1, into, '0.0.0'), { code: 'bad-option' });
    assert.deepEqual(
      readdirSync(root).filter((name) => name.startsWith('none')),
      [],
    );
  });
});

describe('deleting recordings', () => {
  const folder = (name: string) => {
    const dir = path.join(root, name);
    mkdirSync(dir);
    copyFileSync(whole, path.join(dir, 'a.mcap'));
    return { dir, file: path.join(dir, 'a.mcap') };
  };
  const ids = async (dir: string) =>
    (await listEpisodes(dir)).map(({ id, rows, label }) => ({ id, rows, label }));

  it('takes an episode out of the list, and brings it back byte for byte with its label', async () => {
    const { dir, file } = folder('delete');
    await labelEpisode(file, { label: 'failure' });
    deleteEpisode(dir, 'a');
    assert.deepEqual(await ids(dir), []);
    assert.ok(isTakenIn(dir, 'a'), 'a new recording must not replace it');
    restoreEpisode(dir, 'a');
    assert.deepEqual(await ids(dir), [{ id: 'a', rows: COUNT, label: 'failure' }]);
    assert.deepEqual(readFileSync(file), readFileSync(whole));
    assert.throws(() => restoreEpisode(dir, 'a'), { code: 'file-missing' });
  });

  it('undoes any number of cuts, also after the rest was deleted', async () => {
    const { dir, file } = folder('cut');
    cutEpisode(dir, 'a', 1, 3, '0.0.0');
    cutEpisode(dir, 'a', 0.5, 1, '0.0.0');
    assert.deepEqual(await ids(dir), [{ id: 'a', rows: 51, label: 'success' }]);
    deleteEpisode(dir, 'a');
    assert.deepEqual(await ids(dir), []);
    restoreEpisode(dir, 'a');
    assert.deepEqual(readFileSync(file), readFileSync(whole));
  });

  it('keeps the recording when a cut fails, and touches no unfinished one', () => {
    const { dir, file } = folder('fails');
    assert.throws(() => cutEpisode(dir, 'a', 9, 10, '0.0.0'), { code: 'bad-option' });
    assert.deepEqual(readFileSync(file), readFileSync(whole));
    assert.ok(!existsSync(path.join(dir, 'deleted', 'a.mcap')));
    writeFileSync(path.join(dir, 'b.mcap.part'), readFileSync(whole).subarray(0, 5000));
    assert.throws(() => deleteEpisode(dir, 'b'), { code: 'bad-episode' });
    for (const id of ['', '../a', 'c']) assert.throws(() => deleteEpisode(dir, id), { code: 'file-missing' });
  });
});
