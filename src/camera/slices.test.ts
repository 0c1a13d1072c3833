import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { REASONS, type Reason } from '../core/counters.ts';
import { SliceAssembler } from './slice-assembler.ts';
import { MAX_SLICE_BYTES, maxJpegBytes, type SliceVariant, sliceJpeg } from './slices.ts';

interface Vector {
  name: string;
  frameId: number;
  order: 'little' | 'big';
  firstSection: number;
  jpegBytes: number;
  jpeg_sha256: string;
  packets: { len: number; header: string; head4: string; tail4: string; sha256: string }[];
}

const { cases } = (
  JSON.parse(readFileSync('protocol/vectors/jpeg-slices.json', 'utf8')) as { ur3_video: { cases: Vector[] } }
).ur3_video;

const LITTLE: SliceVariant = { order: 'little', first: 0 };
const MS = 1e6;
const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex');
const sha256 = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex');

/** SOI, a pattern that is not JPEG inside, EOI: as in the vectors. */
function picture(bytes: number, seed = 3): Uint8Array {
  const jpeg = Uint8Array.from({ length: bytes }, (_, i) => ((i - 2) * 7 + seed) % 255);
  jpeg.set([0xff, 0xd8]);
  jpeg.set([0xff, 0xd9], bytes - 2);
  return jpeg;
}

function cut(jpeg: Uint8Array, frameId: number, variant = LITTLE): Uint8Array[] {
  const packets: Uint8Array[] = [];
  const packet = new Uint8Array(MAX_SLICE_BYTES);
  const rejected = sliceJpeg(jpeg, frameId, variant, packet, (length) =>
    packets.push(packet.slice(0, length)),
  );
  assert.equal(rejected, null);
  return packets;
}

function bench() {
  const pictures: Uint8Array[] = [];
  const remarks: Reason[] = [];
  const assembler = new SliceAssembler(
    (jpeg) => pictures.push(jpeg),
    (reason) => remarks.push(reason),
  );
  let nowNs = 1e9;
  const feed = (packet: Uint8Array, stepNs = 1e5): Reason | null => {
    nowNs += stepNs;
    const dirty = new Uint8Array(packet.length + 32).fill(0xd9);
    dirty.set(packet);
    const reason = assembler.ingest(dirty, packet.length, nowNs);
    dirty.fill(0);
    return reason;
  };
  return { assembler, pictures, remarks, feed };
}

describe('slices of a JPEG', () => {
  for (const vector of cases)
    it(`match the vector ${vector.name} and reassemble to the same picture`, () => {
      const jpeg = picture(vector.jpegBytes);
      assert.equal(sha256(jpeg), vector.jpeg_sha256);
      const variant = { order: vector.order, first: vector.firstSection };
      const packets = cut(jpeg, vector.frameId, variant);
      assert.deepEqual(
        packets.map((packet) => ({
          len: packet.length,
          header: hex(packet.subarray(0, 9)),
          head4: hex(packet.subarray(9, 13)),
          tail4: hex(packet.subarray(-4)),
          sha256: sha256(packet),
        })),
        vector.packets,
      );
      const { feed, pictures, assembler } = bench();
      for (const packet of packets) assert.equal(feed(packet), null);
      assert.deepEqual(pictures.map(hex), [hex(jpeg)]);
      assert.deepEqual(assembler.variant, variant);
    });

  it('never wrap the section: rejects a picture that is too large', () => {
    const scratch = new Uint8Array(MAX_SLICE_BYTES);
    for (const first of [0, 1]) {
      const sections: number[] = [];
      const emit = () => sections.push(scratch[8]!);
      assert.equal(
        sliceJpeg(picture(maxJpegBytes(first)), 1, { order: 'little', first }, scratch, emit),
        null,
      );
      assert.deepEqual([sections[0], sections.at(-1)], [first, 255]);
      const over = picture(maxJpegBytes(first) + 1);
      assert.equal(sliceJpeg(over, 1, { order: 'little', first }, scratch, emit), 'oversize');
    }
  });
});

describe('SliceAssembler', () => {
  it('assembles slices in any order, with duplicates', () => {
    const variants = [0, 1].flatMap((first) =>
      (['little', 'big'] as const).map((order) => ({ order, first })),
    );
    fc.assert(
      fc.property(
        fc.constantFrom(...variants),
        fc.integer({ min: 2, max: 2 ** 40 }),
        fc.integer({ min: 4, max: 20_000 }),
        fc.infiniteStream(fc.nat(1000)),
        (variant, frameId, size, chance) => {
          const jpeg = picture(size);
          const packets = cut(jpeg, frameId, variant);
          const doubled = [...packets, ...packets].sort(() => (chance.next().value % 3) - 1);
          const { feed, pictures } = bench();
          // The sender's variant is learnt from its first frame, which must arrive in order.
          for (const packet of cut(picture(4), frameId - 1, variant)) feed(packet);
          const before = pictures.length;
          for (const packet of doubled) feed(packet, 1e4);
          assert.deepEqual(pictures.slice(before).map(hex), [hex(jpeg)]);
        },
      ),
      { numRuns: 150 },
    );
  });

  it('drops and counts a frame with a lost slice', () => {
    const { feed, pictures, remarks } = bench();
    const [first, second] = [picture(5000, 1), picture(5000, 2)];
    for (const packet of cut(first, 1).toSpliced(1, 1)) feed(packet);
    for (const packet of cut(second, 2)) feed(packet);
    assert.deepEqual(pictures.map(hex), [hex(second)]);
    assert.deepEqual(remarks, ['frame-incomplete']);
    assert.equal(feed(cut(first, 1)[1]!), 'too-old');
  });

  it('drops a frame after 100 ms and does not deliver its late slices as a frame', () => {
    const { feed, pictures, remarks } = bench();
    const packets = cut(picture(5000), 9);
    feed(packets[0]!);
    for (const packet of packets.slice(1)) feed(packet, 101 * MS);
    assert.equal(pictures.length, 0);
    assert.ok(remarks.includes('frame-incomplete'));
  });

  it('delivers a frame again when it continues after a false end', () => {
    const jpeg = picture(4000);
    // The second slice ends like a picture; nothing inside contradicts it.
    jpeg.set([0xff, 0xd9], 2 * 1431 - 2);
    const { feed, pictures, remarks } = bench();
    for (const packet of cut(jpeg, 1)) feed(packet);
    assert.equal(hex(pictures.at(-1)!), hex(jpeg));
    assert.deepEqual(remarks, ['false-end']);
  });

  it('ignores the end marker of a thumbnail', () => {
    const jpeg = picture(4000);
    // SOI, then an APP1 segment of 3000 bytes that contains EOI where a slice ends.
    jpeg.set([0xff, 0xe1, 3000 >> 8, 3000 & 255], 2);
    jpeg.set([0xff, 0xd9], 1431 - 2);
    jpeg.set([0xff, 0xda, 0, 2], 4 + 3000);
    for (let i = 4 + 3004; i < 3998; i++) jpeg[i] = 7;
    const { feed, pictures, remarks } = bench();
    for (const packet of cut(jpeg, 1)) feed(packet);
    assert.deepEqual(pictures.map(hex), [hex(jpeg)]);
    assert.deepEqual(remarks, []);
  });

  it('accepts a restarted sender only after one second of silence', () => {
    const { feed, pictures } = bench();
    const jpeg = picture(3000);
    for (const packet of cut(jpeg, 5000)) feed(packet);
    for (const packet of cut(jpeg, 1)) assert.equal(feed(packet), 'too-old');
    const [head, ...rest] = cut(jpeg, 1);
    feed(head!, 1001 * MS);
    for (const packet of rest) feed(packet);
    assert.equal(pictures.length, 2);
  });

  it('detects a new byte order when the sender changes', () => {
    const { feed, pictures, assembler } = bench();
    const jpeg = picture(3000);
    for (const id of [100, 101, 102]) for (const packet of cut(jpeg, id)) feed(packet);
    for (const id of [1, 2, 3, 4])
      for (const packet of cut(jpeg, id, { order: 'big', first: 1 })) feed(packet, id === 1 ? 600 * MS : MS);
    assert.deepEqual(assembler.variant, { order: 'big', first: 1 });
    assert.ok(pictures.length >= 6, `${pictures.length} pictures`);
  });

  it('rejects garbage with a reason and recovers within a second', () => {
    const known = new Set<string>(REASONS);
    fc.assert(
      fc.property(fc.array(fc.uint8Array({ maxLength: 1500 }), { maxLength: 60 }), (garbage) => {
        const { feed, pictures } = bench();
        for (const bytes of garbage) {
          const reason = feed(bytes);
          assert.ok(reason === null || known.has(reason));
          if (bytes.length <= 9) assert.equal(reason, 'short');
          if (bytes.length > 1440) assert.equal(reason, 'oversize');
        }
        const before = pictures.length;
        const jpeg = picture(4000);
        for (const id of [70, 71, 72])
          for (const packet of cut(jpeg, id)) feed(packet, id === 70 ? 400 * MS : MS);
        assert.equal(hex(pictures.at(-1)!), hex(jpeg));
        assert.ok(pictures.length > before);
      }),
      { numRuns: 300 },
    );
  });

  it('rejects frame number 0', () => {
    const packet = cut(picture(100), 1)[0]!;
    packet.fill(0, 0, 8);
    assert.equal(bench().feed(packet), 'bad-range');
  });
});
