import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, it } from 'node:test';
import { CdrReader } from '@foxglove/cdr';
import { McapIndexedReader, McapStreamReader } from '@mcap/core';
import { temporaryFolder } from '../../test/temporary-folder.ts';
import type { EpisodeRow } from '../messages/recording.ts';
import { emptyTraceRecord } from '../messages/trace-record.ts';
import { labelEpisode, listEpisodes, newEpisodeId } from './episodes.ts';
import { frames, readEpisode, readFrame, readInfo, readJson, readStart } from './reader.ts';
import { MessageEncoder } from './schemas.ts';
import { emptyInfo, received, rowOf, START_NS, startOf, WALL_NS } from './test-episode.ts';
import { EpisodeWriter } from './writer.ts';

const dir = temporaryFolder('writer');

/** Rows every 10 ms; a new picture from each camera every third row. */
function writeEpisode(id: string, count: number, cameras: string[], joints = 6): EpisodeRow[] {
  const info = emptyInfo(id, joints, cameras);
  const writer = new EpisodeWriter(path.join(dir, `${id}.mcap`), startOf(info));
  const rows: EpisodeRow[] = [];
  for (let i = 0; i < count; i++) {
    const sampledNs = START_NS + i * 10e6;
    const pictures = new Map(cameras.map((name, c) => [name, received(name, Math.floor(i / 3), c)]));
    const row = rowOf(i, joints, pictures, sampledNs);
    writer.row(row, sampledNs, pictures);
    writer.flushIfDue(sampledNs);
    rows.push(row);
  }
  writer.trace({ ...emptyTraceRecord(), seq: 7 }, START_NS);
  writer.event(START_NS, 'start', 'by the test');
  writer.close({ ...info, rows: count, durationS: (count - 1) / 100, complete: true });
  return rows;
}

describe('an episode file', () => {
  it('returns the rows and pictures that were written', async () => {
    const rows = writeEpisode('two', 100, ['front', 'wrist']);
    const file = path.join(dir, 'two.mcap');
    const read = await readEpisode(file);
    assert.deepEqual(read.rows, rows);
    assert.equal(read.info.complete, true);
    assert.equal(read.info.rows, 100);
    const seen = [];
    for await (const frame of frames(file, 'wrist')) seen.push(frame);
    assert.equal(seen.length, 34);
    assert.deepEqual(seen[5]?.bytes, received('wrist', 5, 1).bytes);
    const { captureNs } = rows[20]!.frames['front']!;
    assert.deepEqual(await readFrame(file, 'front', captureNs), received('front', 6, 0).bytes);
    assert.equal(await readFrame(file, 'front', captureNs + 1), null);
    assert.equal(await readFrame(file, 'nowhere', captureNs), null);
    assert.deepEqual((await readStart(file))['rig'], { name: 'test' });
    assert.equal((await readJson(file, 'trace'))[0]?.value['seq'], 7);
    assert.equal((await readJson(file, 'event'))[0]?.value['event'], 'start');
  });

  it('keeps the torque from outside, as a foreign reader finds it in JointState.effort', async () => {
    const info = emptyInfo('touch', 6, []);
    const file = path.join(dir, 'touch.mcap');
    const writer = new EpisodeWriter(file, startOf(info));
    const effort = [0, 0.25, -1.5, 0, 0, 0.125, ...(info.hasGripper ? [20] : [])];
    const row = { ...rowOf(0, 6, new Map(), START_NS), effort };
    writer.row(row, START_NS, new Map());
    writer.close({ ...info, hasEffort: true, rows: 1, complete: true });
    const read = await readEpisode(file);
    assert.deepEqual([read.rows[0]?.effort, read.info.hasEffort], [effort, true]);
    const payload = new MessageEncoder().jointState(5n, ['a', 'b'], [1, 2], [5, 6], [3, 4]);
    const cdr = new CdrReader(payload);
    cdr.int32();
    cdr.uint32();
    cdr.string();
    assert.deepEqual(cdr.stringArray(), ['a', 'b']);
    assert.deepEqual([...cdr.float64Array()], [1, 2]);
    assert.deepEqual([...cdr.float64Array()], [5, 6]);
    assert.deepEqual([...cdr.float64Array()], [3, 4]);
  });

  it('records a hand of 17 joints without a gripper or cameras', async () => {
    const rows = writeEpisode('hand', 30, [], 17);
    const { rows: read, info } = await readEpisode(path.join(dir, 'hand.mcap'));
    assert.deepEqual(read, rows);
    assert.equal(info.hasGripper, false);
  });

  it('is readable by the reference library, with every checksum correct', async () => {
    writeEpisode('lib', 50, ['front']);
    const bytes = new Uint8Array(readFileSync(path.join(dir, 'lib.mcap')));
    const stream = new McapStreamReader({ validateCrcs: true });
    stream.append(bytes);
    let messages = 0;
    for (let record = stream.nextRecord(); record !== undefined; record = stream.nextRecord())
      if (record.type === 'Message') messages++;
    assert.equal(messages, 50 * 4 + 17 + 2);
    assert.ok(stream.done());
    const indexed = await McapIndexedReader.Initialize({ readable: readableOf(bytes) });
    assert.equal(indexed.header.profile, 'ros2');
    assert.equal(indexed.statistics?.messageCount, BigInt(50 * 4 + 17 + 2));
    const times: bigint[] = [];
    for await (const message of indexed.readMessages({ topics: ['/farhand/camera/front'] }))
      times.push(message.logTime);
    assert.equal(times.length, 17);
    assert.equal(times[1], WALL_NS + 30_000_000n);
  });

  it('keeps a label in a file beside it', async () => {
    writeEpisode('labelled', 5, []);
    const file = path.join(dir, 'labelled.mcap');
    await labelEpisode(file, { label: 'success' });
    assert.equal((await readInfo(file)).label, 'success');
    const listed = (await listEpisodes(dir)).map(({ id }) => id);
    assert.deepEqual(listed, [...listed].sort());
    assert.ok(listed.includes('labelled'));
  });

  it('is rejected and not listed when it is not an MCAP file', async () => {
    const file = path.join(dir, 'zz.mcap');
    writeFileSync(file, 'not an mcap file at all');
    await assert.rejects(() => readInfo(file), { code: 'file-unreadable' });
    assert.ok(!(await listEpisodes(dir)).some(({ id }) => id === 'zz'));
  });

  it('gets a unique id within its second', () => {
    const at = new Date(Date.UTC(2026, 10, 15, 9, 5, 3));
    const taken = new Set(['20261115-090503-001']);
    assert.equal(
      newEpisodeId(at, (id) => taken.has(id)),
      '20261115-090503-002',
    );
  });
});

const readableOf = (bytes: Uint8Array) => ({
  size: async () => BigInt(bytes.length),
  read: async (offset: bigint, size: bigint) => bytes.slice(Number(offset), Number(offset + size)),
});
