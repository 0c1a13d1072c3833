import assert from 'node:assert/strict';
import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { temporaryFolder } from '../../test/temporary-folder.ts';
import { emptyTraceRecord, type TraceRecord } from '../messages/trace-record.ts';
import { type Disk, nodeDisk } from './disk.ts';
import { TraceFileWriter } from './file-writer.ts';
import { readTraceFile, readTraceParts } from './read-file.ts';
import type { TraceSession } from './stamps.ts';

const root = temporaryFolder('write');

const SESSION: TraceSession = {
  startedAt: new Date('2026-05-11T08:14:22Z'),
  session: 0xabcd,
  role: 'operator',
  stampSource: 'userspace',
  playout: 'fixed:60',
  rig: { name: 'Prüfstand' },
};
const FIRST = 'robot_trace_20260511-081422_0000abcd.jsonl';

function record(seq: number): TraceRecord {
  return { ...emptyTraceRecord(), session: 0xabcd, seq, outcome: 0, reason: -1, sampledNs: seq * 1e7 };
}

const range = (from: number, to: number) => Array.from({ length: to - from }, (_, i) => from + i);

async function seqsIn(dir: string) {
  const seqs: number[] = [];
  const infos = await readTraceParts(join(dir, FIRST), ({ seq }) => seqs.push(seq));
  return { seqs, infos };
}

/** Writes a few bytes at a time, fails on demand, and counts calls. */
class HostileDisk implements Disk {
  full = false;
  syncs = 0;
  create = nodeDisk.create;
  close = nodeDisk.close;
  isNamed = nodeDisk.isNamed;
  remove = nodeDisk.remove;

  write(fd: number, bytes: Buffer, start: number, length: number): number {
    if (this.full) throw Object.assign(new Error('no space left'), { code: 'ENOSPC' });
    return nodeDisk.write(fd, bytes, start, Math.min(length, 777));
  }

  sync(fd: number): void {
    this.syncs++;
    nodeDisk.sync(fd);
  }
}

describe('TraceFileWriter', () => {
  it('writes what the reader reads back', async () => {
    const dir = join(root, 'deep', 'plain');
    const writer = TraceFileWriter.open(dir, SESSION);
    assert.equal(writer.path, join(dir, FIRST));
    for (const seq of range(0, 2000)) writer.write(record(seq));
    assert.equal(writer.flush(0), 'ok');
    assert.equal((await seqsIn(dir)).infos[0]?.footer, null);
    assert.equal(writer.close(3), 'ok');
    assert.equal(writer.close(3), 'ok');
    const { seqs, infos } = await seqsIn(dir);
    assert.deepEqual(seqs, range(0, 2000));
    assert.deepEqual(infos[0]?.footer, { kind: 'footer', closed: 2000, ringDropped: 3, nextPart: null });
    assert.deepEqual(infos[0]?.header?.rig, SESSION.rig);
  });

  it('starts a new part before the size limit is exceeded', async () => {
    const dir = join(root, 'rotate');
    const writer = TraceFileWriter.open(dir, SESSION, { maxPartBytes: 5000 });
    for (const seq of range(0, 100)) writer.write(record(seq));
    writer.close(0);
    const { seqs, infos } = await seqsIn(dir);
    assert.deepEqual(seqs, range(0, 100));
    assert(infos.length > 2);
    assert.equal(readdirSync(dir).length, infos.length);
    for (const [i, info] of infos.entries()) {
      assert(statSync(info.path).size <= 5000);
      assert.equal(info.header?.part, i + 1);
      assert.equal(info.footer?.closed, info.commands);
      assert.equal(info.footer?.nextPart, i + 1 < infos.length ? i + 2 : null);
    }
  });

  it('syncs at most once a second, and only what is new', () => {
    const disk = new HostileDisk();
    const writer = TraceFileWriter.open(join(root, 'sync'), SESSION, { disk });
    for (const tick of range(0, 250)) {
      writer.write(record(tick));
      writer.flush(tick * 1e7);
    }
    assert.equal(disk.syncs, 3);
    for (const tick of range(250, 1000)) writer.flush(tick * 1e7);
    assert.equal(disk.syncs, 4);
    writer.close(0);
  });

  it('loses nothing while the disk fails temporarily', async () => {
    const dir = join(root, 'refuse');
    const disk = new HostileDisk();
    const writer = TraceFileWriter.open(dir, SESSION, { disk });
    for (const seq of range(0, 300)) {
      disk.full = seq % 50 > 20;
      writer.write(record(seq));
      assert.equal(writer.flush(0), disk.full ? 'fault' : 'ok');
      assert.equal(writer.failure?.code, disk.full ? 'file-unwritable' : undefined);
    }
    disk.full = false;
    writer.close(0);
    const { seqs, infos } = await seqsIn(dir);
    assert.deepEqual(seqs, range(0, 300));
    assert.deepEqual([infos[0]?.bad, infos[0]?.torn, writer.dropped], [0, 0, 0]);
  });

  it('counts the commands lost to a full disk and continues', async () => {
    const dir = join(root, 'full');
    const disk = new HostileDisk();
    const writer = TraceFileWriter.open(dir, SESSION, { disk });
    disk.full = true;
    for (const seq of range(0, 5000)) writer.write(record(seq));
    assert(writer.dropped > 0);
    disk.full = false;
    writer.write(record(5000));
    writer.close(7);
    const { seqs, infos } = await seqsIn(dir);
    assert.equal(seqs.at(-1), 5000);
    assert.equal(seqs.length + writer.dropped, 5001);
    assert.equal(infos[0]?.footer?.ringDropped, writer.dropped + 7);
  });

  it('stays in its part when the next one cannot be created', async () => {
    const dir = join(root, 'blocked');
    const writer = TraceFileWriter.open(dir, SESSION, { maxPartBytes: 2000 });
    writeFileSync(join(dir, FIRST.replace('.jsonl', '_2.jsonl')), 'not ours');
    for (const seq of range(0, 50)) writer.write(record(seq));
    assert.match(writer.failure?.message ?? '', /EEXIST/);
    writer.close(0);
    const info = await readTraceFile(join(dir, FIRST), () => {});
    assert.equal(info.commands, 50);
    assert.equal(readFileSync(join(dir, FIRST.replace('.jsonl', '_2.jsonl')), 'utf8'), 'not ours');
  });

  it('reports a fault when it cannot complete the file, and leaves no partial file behind', () => {
    const dir = join(root, 'end');
    const disk = new HostileDisk();
    const writer = TraceFileWriter.open(dir, SESSION, { disk });
    writer.write(record(1));
    disk.full = true;
    assert.equal(writer.close(0), 'fault');
    assert.equal(writer.close(0), 'ok');
    const other = { ...SESSION, session: 2 };
    assert.throws(() => TraceFileWriter.open(dir, other, { disk }), { code: 'file-unwritable' });
    assert.deepEqual(readdirSync(dir), [FIRST]);
  });
});
