import assert from 'node:assert/strict';
import {
  copyFileSync,
  existsSync,
  readFileSync,
  renameSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import { before, describe, it } from 'node:test';
import { McapIndexedReader, McapStreamReader } from '@mcap/core';
import { temporaryFolder } from '../../test/temporary-folder.ts';
import { McapFile } from './mcap/index-reader.ts';
import { frames, readEpisode } from './reader.ts';
import { finishEpisode, recoverEpisode, recoveryPath } from './recover.ts';
import { emptyInfo, received, rowOf, START_NS, startOf } from './test-episode.ts';
import { EpisodeWriter } from './writer.ts';

const dir = temporaryFolder('recover');
const whole = path.join(dir, 'whole.mcap');
const COUNT = 400;

before(() => {
  const info = emptyInfo('whole', 6, ['front', 'wrist']);
  const writer = new EpisodeWriter(whole, startOf(info));
  for (let i = 0; i < COUNT; i++) {
    const sampledNs = START_NS + i * 10e6;
    const pictures = new Map(
      info.cameras.map((name, c) => [name, received(name, Math.floor(i / 3), c, 8000)]),
    );
    writer.row(rowOf(i, 6, pictures, sampledNs), sampledNs, pictures);
    writer.flushIfDue(sampledNs);
  }
  writer.close({ ...info, rows: COUNT, durationS: (COUNT - 1) / 100 });
});

const damaged = (name: string, change: (bytes: Buffer) => Buffer): string => {
  const file = path.join(dir, name);
  writeFileSync(file, change(readFileSync(whole)));
  return file;
};

/** Every row of a recovered file has its pictures and equals the original. */
async function assertSound(file: string): Promise<number> {
  const [{ rows, info }, original] = [await readEpisode(file), await readEpisode(whole)];
  assert.equal(info.complete, true);
  assert.equal(info.rows, rows.length);
  for (const camera of info.cameras) {
    const captures = new Set<number>();
    for await (const { captureNs } of frames(file, camera)) captures.add(captureNs);
    for (const row of rows) {
      assert.deepEqual(row, original.rows[row.index]);
      assert.ok(captures.has(row.frames[camera]!.captureNs), `picture of ${camera} in row ${row.index}`);
    }
  }
  return rows.length;
}

/**
 * Message count according to the format's reference library, by index and in order, with every checksum
 * verified.
 */
async function messagesIn(bytes: Uint8Array): Promise<number> {
  const stream = new McapStreamReader({ validateCrcs: true });
  stream.append(bytes);
  let inOrder = 0;
  for (let record = stream.nextRecord(); record !== undefined; record = stream.nextRecord())
    if (record.type === 'Message') inOrder++;
  const indexed = await McapIndexedReader.Initialize({
    readable: {
      size: async () => BigInt(bytes.length),
      read: async (offset: bigint, size: bigint) => bytes.slice(Number(offset), Number(offset + size)),
    },
  });
  let byIndex = 0;
  for await (const _ of indexed.readMessages()) byIndex++;
  assert.equal(byIndex, inOrder);
  assert.equal(indexed.statistics?.messageCount, BigInt(inOrder));
  return inOrder;
}

describe('recovery', () => {
  for (const share of [0.999, 0.75, 0.5, 0.1])
    it(`keeps everything before a cut at ${share * 100} %`, async () => {
      const file = path.join(dir, `cut-${share}.mcap.part`);
      copyFileSync(whole, file);
      truncateSync(file, Math.floor(readFileSync(whole).length * share));
      const found = recoverEpisode(file, recoveryPath(file), '0.0.0');
      assert.equal(found.path, path.join(dir, `cut-${share}.mcap`));
      const rows = await assertSound(found.path);
      assert.equal(rows, found.rows);
      // Numbers are flushed every 0.1 s, so at most the last chunk is lost.
      assert.ok(rows >= COUNT * share - 25, `${rows} rows of ${COUNT * share}`);
      assert.equal(found.hadEnd, share > 0.99 && found.truncatedBytes === 0);
    });

  it('completes a truncated file in place, wherever it was cut', async () => {
    const bytes = readFileSync(whole);
    const mcap = new McapFile(whole);
    const chunks = mcap.index().chunks.filter(({ channels }) => channels.size > 1);
    mcap.close();
    const { offset, length } = chunks[chunks.length >> 1]!;
    // In the chunk, at its end, and in the index that follows it.
    for (const cut of [offset + 5, offset + length - 1, offset + length, offset + length + 20]) {
      const part = path.join(dir, 'place.mcap.part');
      writeFileSync(part, bytes.subarray(0, cut));
      const found = finishEpisode(part, '0.0.0');
      assert.ok(!existsSync(part));
      assert.equal(await assertSound(found.path), found.rows);
      const recovered = readFileSync(found.path);
      assert.deepEqual(recovered.subarray(0, offset), bytes.subarray(0, offset));
      assert.equal(await messagesIn(recovered), found.keptMessages);
      rmSync(found.path);
    }
  });

  it('completes a file that is also damaged by copying it', async () => {
    const part = damaged('both.mcap.part', (bytes) => {
      bytes[bytes.length >> 2]! ^= 0x55;
      return bytes.subarray(0, bytes.length >> 1);
    });
    const found = finishEpisode(part, '0.0.0');
    assert.equal(found.damagedChunks, 1);
    assert.ok(!existsSync(part));
    assert.equal(await messagesIn(readFileSync(found.path)), found.keptMessages);
  });

  it('skips a damaged chunk and counts it', async () => {
    const file = path.join(dir, 'index.mcap');
    copyFileSync(whole, file);
    const mcap = new McapFile(file);
    const chunk = mcap.index().chunks.filter(({ channels }) => channels.has(0))[10]!;
    mcap.close();
    damaged('flip.mcap', (bytes) => {
      bytes[chunk.offset + chunk.length - 300]! ^= 0x40;
      return bytes;
    });
    const found = recoverEpisode(
      path.join(dir, 'flip.mcap'),
      recoveryPath(path.join(dir, 'flip.mcap')),
      '0.0.0',
    );
    assert.equal(path.basename(found.path), 'flip.recovered.mcap');
    assert.equal(found.damagedChunks, 1);
    assert.ok(found.lostRows > 0 && found.lostRows < 30, `${found.lostRows}`);
    const { rows } = await readEpisode(found.path);
    assert.equal(rows.length + found.lostRows, COUNT);
  });

  it('finds the next chunk after garbage and after missing bytes', async () => {
    const noise = damaged('noise.mcap', (bytes) => bytes.fill(0x06, 300_000, 380_000));
    const hole = damaged('hole.mcap', (bytes) =>
      Buffer.concat([bytes.subarray(0, 300_000), bytes.subarray(380_123)]),
    );
    for (const file of [noise, hole]) {
      const found = recoverEpisode(file, recoveryPath(file), '0.0.0');
      const { rows } = await readEpisode(found.path);
      assert.ok(rows.length > COUNT * 0.8 && rows.length < COUNT, `${rows.length}`);
      assert.equal(rows.at(-1)!.index, COUNT - 1);
    }
  });

  it('reads the channels from the summary when the start is damaged', async () => {
    const file = damaged('headless.mcap', (bytes) => bytes.fill(0, 0, 9000));
    const found = recoverEpisode(file, recoveryPath(file), '0.0.0');
    assert.ok(found.keptMessages > COUNT * 4 * 0.8, `${found.keptMessages}`);
    const { rows, info } = await readEpisode(found.path);
    assert.equal(info.robot, 'test');
    assert.ok(rows.length > COUNT * 0.8, `${rows.length}`);
  });

  it('rejects a file too short to be a recording', () => {
    for (const bytes of [0, 5, 20, 36]) {
      const file = damaged(`stub-${bytes}.mcap`, (all) => all.subarray(0, bytes));
      assert.throws(() => recoverEpisode(file, `${file}.out`, '0.0.0'), { code: 'file-unreadable' });
      renameSync(file, `${file}.part`);
      assert.throws(() => finishEpisode(`${file}.part`, '0.0.0'), { code: 'file-unreadable' });
    }
  });

  it('reports when nothing can be recovered, and leaves no file behind', () => {
    const file = path.join(dir, 'empty.mcap.part');
    writeFileSync(file, readFileSync(whole).subarray(0, 500));
    assert.throws(() => recoverEpisode(file, recoveryPath(file), '0.0.0'), { code: 'file-unreadable' });
    assert.throws(() => readFileSync(`${recoveryPath(file)}.recovering`), { code: 'ENOENT' });
  });

  it('never throws on any single flipped byte of the structure', () => {
    const original = readFileSync(whole);
    const into = path.join(dir, 'fuzz.out');
    for (let at = 8; at < original.length; at += 61_007) {
      const file = damaged('fuzz.mcap', (bytes) => {
        bytes[at]! ^= 0xff;
        return bytes;
      });
      const { keptMessages } = recoverEpisode(file, into, '0.0.0');
      assert.ok(keptMessages > COUNT * 4 * 0.8, `byte ${at}: ${keptMessages}`);
    }
  });
});
