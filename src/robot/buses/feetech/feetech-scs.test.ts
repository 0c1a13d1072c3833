import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { PacketParser } from '../servo/packet-parser.ts';
import {
  packet,
  pingPacket,
  readPacket,
  SyncWrite,
  syncReadPacket,
  syncWritePacket,
  writePacket,
} from '../servo/packets.ts';
import { signedAt, unsignedAt } from '../servo/values.ts';
import { FEETECH_SCS, FEETECH_STS } from './feetech-scs.ts';

const hex = (bytes: Uint8Array): string =>
  [...bytes].map((byte) => byte.toString(16).padStart(2, '0').toUpperCase()).join(' ');
const bytesOf = (text: string): Uint8Array => Uint8Array.from(Buffer.from(text.replaceAll(' ', ''), 'hex'));

function parsed(stream: Uint8Array, cuts: readonly number[] = []) {
  const found: { id: number; error: number; params: number[] }[] = [];
  const parser = new PacketParser(FEETECH_STS, ({ id, error, params, paramBytes }) => {
    found.push({ id, error, params: [...params.subarray(0, paramBytes)] });
  });
  let from = 0;
  for (const cut of [...cuts, stream.length]) {
    // A hostile reader: the buffer of each read is reused and overwritten.
    const part = stream.slice(from, Math.max(from, cut));
    parser.push(part);
    part.fill(0xff);
    from = Math.max(from, cut);
  }
  return { found, parser };
}

/** Examples from Feetech's protocol manual, for the STS series. */
describe('examples from the Feetech manual', () => {
  const goal = [0x00, 0x08, 0x00, 0x00, 0xe8, 0x03];
  const instructions: [string, Uint8Array, string][] = [
    ['ping', pingPacket(FEETECH_STS, 1), 'FF FF 01 02 01 FB'],
    ['read the position', readPacket(FEETECH_STS, 1, 0x38, 2), 'FF FF 01 04 02 38 02 BE'],
    ['set the id of all servos', writePacket(FEETECH_STS, 0xfe, 5, [1]), 'FF FF FE 04 03 05 01 F4'],
    ['set a goal', writePacket(FEETECH_STS, 1, 0x2a, goal), 'FF FF 01 09 03 2A 00 08 00 00 E8 03 D5'],
    [
      'set the goals of four servos',
      packet(FEETECH_STS, 0xfe, FEETECH_STS.syncWrite, [
        0x2a,
        6,
        ...[1, 2, 3, 4].flatMap((id) => [id, ...goal]),
      ]),
      `FF FF FE 20 83 2A 06 ${[1, 2, 3, 4].map((id) => `0${id} 00 08 00 00 E8 03`).join(' ')} 58`,
    ],
    [
      'read two servos at once',
      syncReadPacket(FEETECH_STS, FEETECH_STS.syncRead!, 0x38, 8, [1, 2]),
      'FF FF FE 06 82 38 08 01 02 36',
    ],
  ];
  for (const [name, bytes, expected] of instructions)
    it(name, () => {
      assert.equal(hex(bytes), expected);
    });

  it('answers', () => {
    const { found, parser } = parsed(
      bytesOf(
        'FF FF 01 02 00 FC FF FF 01 04 00 18 05 DD FF FF 01 0A 00 00 08 00 00 00 00 79 1E 55 FF FF 02 0A 00 FF 07 00 00 00 00 77 23 53',
      ),
    );
    assert.deepEqual(found, [
      { id: 1, error: 0, params: [] },
      { id: 1, error: 0, params: [0x18, 0x05] },
      { id: 1, error: 0, params: [0, 8, 0, 0, 0, 0, 0x79, 0x1e] },
      { id: 2, error: 0, params: [0xff, 7, 0, 0, 0, 0, 0x77, 0x23] },
    ]);
    assert.equal(unsignedAt(Uint8Array.from(found[3]!.params), 0, 2), 2047);
    assert.deepEqual(parser.stats, { packets: 4, garbageBytes: 0, badChecksum: 0 });
  });
});

describe('Feetech packets', () => {
  const anyId = fc.integer({ min: 0, max: 253 });
  /** Bytes that look like headers. */
  const awkward = fc.array(fc.constantFrom(0xff, 0xff, 0xfe, 0, 2, 7), { maxLength: 40 });

  it('decode ∘ encode is the identity, however the bytes are split', () => {
    fc.assert(
      fc.property(
        fc.array(fc.tuple(anyId, fc.nat(0x7f), awkward), { minLength: 1, maxLength: 4 }),
        fc.array(fc.nat(200), { maxLength: 6 }),
        (sent, cuts) => {
          const stream = Buffer.concat(sent.map(([id, error, data]) => packet(FEETECH_STS, id, error, data)));
          const ends = cuts.map((cut) => Math.min(cut, stream.length)).sort((a, b) => a - b);
          const { found, parser } = parsed(stream, ends);
          assert.deepEqual(
            found,
            sent.map(([id, error, params]) => ({ id, error, params })),
          );
          assert.equal(parser.stats.garbageBytes, 0);
        },
      ),
    );
  });

  it('are found after noise, a truncated packet, a bad checksum and an impossible error', () => {
    const status = packet(FEETECH_STS, 5, 0, [1, 2]);
    const bad = Uint8Array.from(status);
    bad[5]! ^= 1;
    const impossible = packet(FEETECH_STS, 5, 0x80, [1, 2]);
    for (const noise of [[0xff], [0xff, 0xff], [1, 2, 3], status.slice(0, 5), bad, impossible]) {
      const { found, parser } = parsed(Buffer.concat([Uint8Array.from(noise), status, status]));
      assert.deepEqual(found.at(-1), { id: 5, error: 0, params: [1, 2] }, hex(Uint8Array.from(noise)));
      assert.ok(parser.stats.garbageBytes > 0);
    }
  });

  it('that do not fit are rejected, not truncated', () => {
    assert.equal(packet(FEETECH_STS, 1, 3, new Uint8Array(244)).length, 250);
    assert.throws(() => packet(FEETECH_STS, 1, 3, new Uint8Array(245)), /too long/);
    const ids = Array.from({ length: 60 }, (_, i) => i);
    assert.throws(() => syncWritePacket(FEETECH_STS, 42, 4, ids, ids), /too long/);
  });

  it('buffer at most two packets of garbage', () => {
    const { parser } = parsed(new Uint8Array(1e5).fill(0xff));
    parser.reset();
    assert.equal(parser.stats.garbageBytes, 1e5);
  });
});

describe('byte order', () => {
  it('is little-endian in the STS series and big-endian in the SCS series', () => {
    const first = (protocol: typeof FEETECH_STS) => {
      const sync = new SyncWrite(protocol, 42, 2, [7]);
      sync.set(0, 0x1234);
      return hex(sync.bytes.slice(0, sync.encode())).slice(21, 29);
    };
    assert.equal(first(FEETECH_STS), '07 34 12');
    assert.equal(first(FEETECH_SCS), '07 12 34');
  });

  it('applies to signed reads', () => {
    const bytes = Uint8Array.of(0xff, 0xfe, 0x12, 0x34);
    assert.equal(signedAt(bytes, 0, 2, false), -2);
    assert.equal(signedAt(bytes, 0, 2), -257);
    assert.equal(unsignedAt(bytes, 0, 4, false), 0xfffe1234);
    assert.equal(unsignedAt(bytes, 0, 4), 0x3412feff);
  });
});
