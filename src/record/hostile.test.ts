import assert from 'node:assert/strict';
import { rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, it } from 'node:test';
import { crc32 } from 'node:zlib';
import { temporaryFolder } from '../../test/temporary-folder.ts';
import { TeleopError } from '../core/errors.ts';
import { McapFile } from './mcap/index-reader.ts';
import { Opcode } from './mcap/records.ts';
import { Scanner } from './mcap/scan.ts';
import { captures, readEpisode, readInfo, readJson, readStart } from './reader.ts';
import { recoverEpisode } from './recover.ts';
import { TOPICS } from './schemas.ts';

/**
 * Files crafted to waste a reader's time. The cost is measured in bytes read, which machine load cannot
 * change.
 */

const dir = temporaryFolder('hostile');

const SIZE = 300_000;
/** A file may be read at most this many times over, plus a constant for its two ends. */
const MOST_READS = 16;

const MAGIC = Buffer.from([0x89, 0x4d, 0x43, 0x41, 0x50, 0x30, 0x0d, 0x0a]);
const u16 = (value: number) => Buffer.from(Uint16Array.of(value).buffer);
const u32 = (value: number) => Buffer.from(Uint32Array.of(value).buffer);
const u64 = (value: number) => Buffer.from(BigUint64Array.of(BigInt(value)).buffer);
const text = (value: string) => Buffer.concat([u32(Buffer.byteLength(value)), Buffer.from(value)]);
const record = (opcode: number, ...parts: Buffer[]) => {
  const body = Buffer.concat(parts);
  return Buffer.concat([Buffer.from([opcode]), u64(body.length), body]);
};
/** A chunk header that claims `bytes` of records with a wrong checksum. */
const chunkHead = (bytes: number, crc = 1) =>
  Buffer.concat([
    Buffer.from([Opcode.CHUNK]),
    u64(40 + bytes),
    ...[u64(0), u64(0), u64(bytes), u32(crc), u32(0), u64(bytes)],
  ]);
const chunk = (records: Buffer) => Buffer.concat([chunkHead(records.length, crc32(records)), records]);
const schema = (id: number) => record(Opcode.SCHEMA, u16(id), text('s'), text('e'), u32(0));
const channel = (id: number, topic: string) =>
  record(Opcode.CHANNEL, u16(id), u16(0), text(topic), text('json'), u32(0));
const message = (id: number, data: Buffer, sequence = 0) =>
  record(Opcode.MESSAGE, u16(id), u32(sequence), u64(0), u64(0), data);
const metadata = (name: string, json: string) =>
  record(Opcode.METADATA, text(name), u32(12 + Buffer.byteLength(json)), text('json'), text(json));
const footer = (summaryStart: number) =>
  Buffer.concat([record(Opcode.FOOTER, u64(summaryStart), u64(0), u32(0)), MAGIC]);
const repeat = (unit: (at: number) => Buffer, from = MAGIC.length): Buffer => {
  const parts: Buffer[] = [];
  for (let at = from; at < SIZE; ) {
    const next = unit(at);
    parts.push(next);
    at += next.length;
  }
  return Buffer.concat(parts);
};
const whole = (...parts: Buffer[]) => Buffer.concat([MAGIC, ...parts]);
/** A file with a footer whose summary holds `entries`. */
const ended = (data: Buffer, entries: Buffer) => {
  const start = MAGIC.length + data.length;
  return Buffer.concat([MAGIC, data, entries, footer(start)]);
};
const info = (more: object) =>
  JSON.stringify({ robot: 'r', joints: ['a'], cameras: [], rateHz: 100, rows: 1, ...more });
const row = (more: object) =>
  Buffer.from(
    JSON.stringify({
      index: 0,
      timeNs: 0,
      seq: 0,
      engaged: true,
      supervisor: 'engaged',
      frames: {},
      ...more,
    }),
  );

const chunkIndex = (offset: number, length: number, channels: number[] = []) =>
  record(
    Opcode.CHUNK_INDEX,
    ...[u64(0), u64(0), u64(offset), u64(length), u32(channels.length * 10)],
    ...channels.flatMap((id) => [u16(id), u64(0)]),
    ...[u64(0), text(''), u64(0), u64(0)],
  );

const FILES: Record<string, () => Buffer> = {
  'chunk heads that each claim the rest of the file': () =>
    whole(repeat((at) => chunkHead(Math.max(0, SIZE - at - 200)))),
  'the same, each followed by a whole chunk': () =>
    whole(
      channel(0, 't'),
      repeat((at) =>
        Buffer.concat([chunkHead(Math.max(0, SIZE - at - 300)), chunk(message(0, Buffer.from('{}')))]),
      ),
    ),
  'small whole chunks with a stray byte between them': () =>
    whole(repeat(() => Buffer.concat([chunk(schema(1)), Buffer.from([0xff])]))),
  'only the opcode byte of a chunk': () => whole(Buffer.alloc(SIZE, Opcode.CHUNK)),
  'records without a body': () => whole(repeat(() => record(Opcode.ATTACHMENT))),
  'message indexes without a chunk': () => whole(repeat(() => record(Opcode.MESSAGE_INDEX, u16(0), u32(0)))),
  'chunks within chunks': () => {
    let inner = chunk(schema(1));
    while (inner.length < SIZE) inner = chunk(Buffer.concat([inner, Buffer.alloc(inner.length >> 3)]));
    return whole(inner);
  },
  'an index that lists one large metadata record repeatedly': () => {
    const large = metadata('farhand.episode', info({ task: 'x'.repeat(SIZE >> 1) }));
    const entry = record(
      Opcode.METADATA_INDEX,
      u64(MAGIC.length),
      u64(large.length),
      text('farhand.episode'),
    );
    return ended(
      large,
      repeat(() => entry, SIZE >> 1),
    );
  },
  'an index that lists one large chunk repeatedly': () => {
    const data = Buffer.concat([
      metadata('farhand.episode', info({})),
      channel(0, TOPICS.row),
      channel(1, TOPICS.command),
    ]);
    const large = chunk(message(0, Buffer.alloc(SIZE >> 1, 0x20)));
    return ended(
      Buffer.concat([data, large]),
      repeat(() => chunkIndex(MAGIC.length + data.length, large.length), SIZE >> 1),
    );
  },
  'an index of chunks beyond the end of the file': () =>
    ended(
      metadata('farhand.episode', info({})),
      repeat(() => chunkIndex(2 ** 52, 2 ** 52)),
    ),
  'a summary that is the whole file': () => Buffer.concat([MAGIC, repeat(() => channel(0, 't')), footer(1)]),
  'lengths near the largest number': () =>
    whole(repeat(() => Buffer.concat([Buffer.from([Opcode.CHUNK]), Buffer.alloc(40, 0xff)]))),
};

/** Every function that opens a recording; each may fail only with a `TeleopError`. */
async function open(file: string): Promise<void> {
  const into = `${file}.out`;
  const readers = [
    () => readInfo(file),
    () => readEpisode(file),
    () => readStart(file),
    () => readJson(file, 'row'),
    () => captures(file, 'front'),
    async () => recoverEpisode(file, into, '0.0.0'),
    async () => recoverEpisode(into, `${into}.2`, '0.0.0'),
  ];
  for (const read of readers)
    try {
      await read();
    } catch (error) {
      if (!(error instanceof TeleopError)) throw error;
    }
  for (const each of [into, `${into}.2`]) rmSync(each, { force: true });
}

describe('a hostile file', () => {
  for (const [name, make] of Object.entries(FILES))
    it(`is read in linear time: ${name}`, async () => {
      const file = path.join(dir, 'crafted.mcap');
      writeFileSync(file, make());
      const mcap = new McapFile(file);
      try {
        const sink = { metadata() {}, message() {}, chunk() {}, messageIndex() {} };
        const found = new Scanner(mcap, sink).run();
        const scanned = mcap.readBytes;
        assert.ok(scanned < MOST_READS * mcap.sizeBytes, `scan: ${scanned} bytes of ${mcap.sizeBytes}`);
        assert.ok(found.damagedBytes + found.truncatedBytes + found.unsearchedBytes <= mcap.sizeBytes);
        const index = mcap.index();
        for (const entry of index.chunks) for (const _ of mcap.messages(entry));
        const indexed = mcap.readBytes - scanned;
        assert.ok(indexed < MOST_READS * mcap.sizeBytes, `index: ${indexed} bytes of ${mcap.sizeBytes}`);
      } catch (error) {
        if (!(error instanceof TeleopError)) throw error;
      } finally {
        mcap.close();
      }
      await open(file);
    });

  const LIES: Record<string, [start: string, rows: Buffer[]]> = {
    'a rate of 10^15 rows per second and an equally large gap': [
      info({ rateHz: 1e15 }),
      [row({ seq: 0 }), row({ seq: 1e15 })],
    ],
    'no rate': [info({ rateHz: 0 }), [row({})]],
    'joints that are not a list': [info({ joints: { length: 1e9 } }), [row({})]],
    'no joints': [info({ joints: null }), [row({})]],
    null: ['null', [Buffer.from('null')]],
    'rows with the wrong structure': [
      info({}),
      [Buffer.from('[]'), Buffer.from('"x"'), row({ frames: null }), row({ frames: { a: null } })],
    ],
    'a row of a million cameras': [
      info({}),
      [row({ frames: Object.fromEntries(Array.from({ length: 200_000 }, (_, i) => [i, { ageNs: 1 }])) })],
    ],
    'deep nesting': [`{"robot":${'['.repeat(100_000)}${']'.repeat(100_000)}}`, [row({})]],
    'a prototype': ['{"__proto__":{"robot":"r"},"joints":["a"]}', [row({})]],
    'an object in place of each value': [
      JSON.stringify({
        robot: 'r',
        joints: ['a'],
        task: {},
        label: {},
        cameras: {},
        rateHz: {},
        skippedRows: {},
        quality: { refusedBy: {} },
      }),
      [row({ seq: {}, index: {}, timeNs: {} })],
    ],
  };
  const array = (value: number) =>
    Buffer.concat([Buffer.from([0, 1, 0, 0]), u32(0), u32(0), u32(1), Buffer.alloc(4), f64(value)]);
  const f64 = (value: number) => Buffer.from(Float64Array.of(value).buffer);
  const joints = Buffer.concat([
    Buffer.from([0, 1, 0, 0]),
    ...[u32(0), u32(0), u32(0), u32(0), u32(1), Buffer.alloc(4), f64(0), u32(0), u32(0)],
  ]);
  for (const [name, [start, rows]] of Object.entries(LIES))
    it(`with false contents yields an error or an empty episode: ${name}`, async () => {
      const file = path.join(dir, 'lies.mcap');
      const messages = rows.flatMap((data, i) => [
        message(1, array(0), i),
        message(2, joints, i),
        message(0, data, i),
      ]);
      const topics = [TOPICS.row, TOPICS.command, TOPICS.state].map((topic, i) => channel(i, topic));
      for (const at of ['farhand.episode', 'farhand.summary']) {
        writeFileSync(file, whole(metadata(at, start), ...topics, chunk(Buffer.concat(messages))));
        await open(file);
      }
    });
});
