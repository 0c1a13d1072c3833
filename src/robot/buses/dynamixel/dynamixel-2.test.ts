import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { PacketParser } from '../servo/packet-parser.ts';
import * as packets from '../servo/packets.ts';
import { putValue, signedAt } from '../servo/values.ts';
import { hardwareErrorText } from './control-table.ts';
import { crc16 } from './crc.ts';
import {
  DYNAMIXEL_2,
  fastStatusPacket,
  INSTRUCTION,
  MAX_PACKET_BYTES,
  rebootPacket,
  statusPacket,
} from './dynamixel-2.ts';
import { FastStatus } from './fast-status.ts';

const packet = (id: number, instruction: number, params?: ArrayLike<number>) =>
  packets.packet(DYNAMIXEL_2, id, instruction, params);
const pingPacket = (id: number) => packets.pingPacket(DYNAMIXEL_2, id);
const encodePacket = (out: Uint8Array, params: Uint8Array) =>
  DYNAMIXEL_2.encode(out, 1, INSTRUCTION.write, params, params.length);

function valueBytes(value: number, size: number): Uint8Array {
  const bytes = new Uint8Array(size);
  putValue(bytes, 0, value, size);
  return bytes;
}

interface Input {
  id?: number;
  addr?: number;
  len?: number;
  ids?: number[];
  value?: number;
  value_bytes?: string;
  values?: Record<string, number>;
  items?: [number, number, number][];
  err?: number;
  model?: number;
  fw?: number;
}
interface Vector {
  name: string;
  direction: 'encode' | 'decode';
  input: Input;
  expected_hex: string;
}
const vectors = JSON.parse(readFileSync('test/data/drivers/dynamixel.json', 'utf8')) as Vector[];
const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex').toUpperCase();
const bytesOf = (text: string): Uint8Array => Uint8Array.from(Buffer.from(text.replaceAll(' ', ''), 'hex'));

const SIZES: Record<string, number> = { '116': 4, '112': 4, '102': 2, '64': 1, '98': 1, '11': 1 };

function encoded(name: string, input: Input): Uint8Array {
  const { id = 0, addr = 0, len = 0, ids = [], value = 0, values, items } = input;
  if (name.startsWith('ping')) return pingPacket(id);
  if (name.startsWith('reboot')) return rebootPacket(id);
  if (name.startsWith('clear')) return packet(id, INSTRUCTION.clear, [0x01, 0x44, 0x58, 0x4c, 0x22]);
  if (name.startsWith('read_')) return packets.readPacket(DYNAMIXEL_2, id, addr, len);
  if (name.startsWith('bulk_read'))
    return packets.bulkReadPacket(
      DYNAMIXEL_2,
      INSTRUCTION.bulkRead,
      items!.map(([item, address, size]) => ({ id: item, address, size })),
    );
  const sync = name.startsWith('fast') ? INSTRUCTION.fastSyncRead : INSTRUCTION.syncRead;
  if (name.includes('sync_read')) return packets.syncReadPacket(DYNAMIXEL_2, sync, addr, len, ids);
  if (values)
    return packets.syncWritePacket(
      DYNAMIXEL_2,
      addr,
      len,
      Object.keys(values).map(Number),
      Object.values(values),
    );
  if (ids.length > 0)
    return packets.syncWritePacket(
      DYNAMIXEL_2,
      addr,
      len,
      ids,
      ids.map(() => value),
    );
  const data = input.value_bytes ? bytesOf(input.value_bytes) : valueBytes(value, SIZES[addr]!);
  return packets.writePacket(DYNAMIXEL_2, id, addr, data);
}

/** All packets in `stream`, copied. */
function parsed(stream: Uint8Array, cuts: readonly number[] = []) {
  const found: { id: number; instruction: number; error: number; params: Uint8Array }[] = [];
  const parser = new PacketParser(DYNAMIXEL_2, ({ id, instruction, error, params, paramBytes }) => {
    found.push({ id, instruction, error, params: params.slice(0, paramBytes) });
  });
  let from = 0;
  for (const cut of [...cuts, stream.length]) {
    // A hostile reader: the buffer of each read is reused and overwritten.
    const part = stream.slice(from, Math.max(from, cut));
    parser.push(part);
    part.fill(0xfd);
    from = Math.max(from, cut);
  }
  return { found, parser };
}

describe('Dynamixel vectors', () => {
  for (const { name, direction, input, expected_hex } of vectors)
    it(name, () => {
      const expected = bytesOf(expected_hex);
      if (direction === 'encode') {
        assert.equal(hex(encoded(name, input)), hex(expected));
        return;
      }
      const { found, parser } = parsed(expected);
      assert.equal(found.length, 1);
      assert.equal(parser.stats.garbageBytes, 0);
      const { id, error, params } = found[0]!;
      assert.equal(found[0]!.instruction, INSTRUCTION.status);
      if (input.values) {
        const seen: Record<string, number> = {};
        const fast = new FastStatus([3, 7, 4], 4, (from, _error, data, at) => {
          seen[from] = signedAt(data, at, 4);
        });
        assert.equal(fast.take(params, params.length), 3);
        assert.deepEqual(seen, input.values);
        return;
      }
      assert.equal(id, input.id);
      assert.equal(error, input.err);
      if (input.value !== undefined) assert.equal(signedAt(params, 0, 4), input.value);
      if (input.model !== undefined)
        assert.deepEqual([...params], [input.model & 255, input.model >> 8, input.fw]);
    });
});

describe('Dynamixel CRC', () => {
  it('is CRC-16/BUYPASS', () => {
    assert.equal(crc16(Buffer.from('123456789'), 0, 9), 0xfee8);
  });
});

/** Bytes that make stuffing likely. */
const awkward = fc
  .uint8Array({ maxLength: 60 })
  .chain((plain) =>
    fc
      .array(fc.constantFrom(0xff, 0xff, 0xfd, 0xfd, 0, 1), { maxLength: 60 })
      .map((nasty) => Uint8Array.from([...nasty, ...plain, ...nasty])),
  );
const anyId = fc.integer({ min: 0, max: 252 });

describe('Dynamixel packets', () => {
  it('decode ∘ encode is the identity, however the bytes are split', () => {
    fc.assert(
      fc.property(
        fc.array(fc.tuple(anyId, awkward), { minLength: 1, maxLength: 4 }),
        fc.array(fc.nat(600), { maxLength: 6 }),
        (sent, cuts) => {
          const stream = Buffer.concat(sent.map(([id, params]) => packet(id, INSTRUCTION.write, params)));
          const { found, parser } = parsed(
            stream,
            cuts.map((cut) => Math.min(cut, stream.length)).sort((a, b) => a - b),
          );
          assert.deepEqual(
            found.map(({ id, params }) => [id, hex(params)]),
            sent.map(([id, params]) => [id, hex(params)]),
          );
          assert.deepEqual(parser.stats, { packets: sent.length, garbageBytes: 0, badChecksum: 0 });
        },
      ),
    );
  });

  it('never contain a header after their own', () => {
    fc.assert(
      fc.property(anyId, awkward, (id, params) => {
        const text = hex(packet(id, INSTRUCTION.syncWrite, params));
        for (let at = 8; at < text.length - 4; at += 2)
          assert.ok(!text.startsWith('FFFFFD', at) || text.startsWith('FD', at + 6), text);
      }),
    );
  });

  it('round-trip status errors and data', () => {
    fc.assert(
      fc.property(anyId, fc.nat(255), awkward, (id, error, data) => {
        const { found } = parsed(statusPacket(id, error, data));
        assert.deepEqual(found, [
          { id, instruction: INSTRUCTION.status, error, params: Uint8Array.from(data) },
        ]);
      }),
    );
  });

  it('that do not fit are rejected, not truncated', () => {
    const out = new Uint8Array(20);
    assert.equal(encodePacket(out, new Uint8Array(10)), 20);
    assert.equal(encodePacket(out, new Uint8Array(11)), -1);
    assert.equal(encodePacket(out, Uint8Array.of(0, 0, 0, 0, 0, 0, 0, 255, 255, 253)), -1);
    assert.equal(encodePacket(new Uint8Array(9), new Uint8Array(0)), -1);
    assert.throws(() => packet(1, INSTRUCTION.write, new Uint8Array(MAX_PACKET_BYTES)), /too long/);
  });

  it('leave room for worst-case stuffing of a sync write', () => {
    const sync = new packets.SyncWrite(
      DYNAMIXEL_2,
      116,
      4,
      Array.from({ length: 17 }, () => 0xfd),
    );
    for (let i = 0; i < 17; i++) sync.set(i, -1);
    const length = sync.encode();
    const { found } = parsed(sync.bytes.slice(0, length));
    assert.equal(found.length, 1);
    assert.equal(found[0]!.params.length, 4 + 17 * 5);
  });
});

describe('Dynamixel parser on bad input', () => {
  const status = statusPacket(5, 0, [1, 2, 3, 4]);

  it('finds a packet after garbage, a torn packet and a bad CRC', () => {
    const torn = status.slice(0, 9);
    const bad = Uint8Array.from(status);
    bad[9]! ^= 1;
    for (const noise of [[0xff, 0xff, 0xfd], [0xff], [1, 2, 3], torn, bad, [0xff, 0xff, 0xff, 0xfd, 0]]) {
      const { found, parser } = parsed(Buffer.concat([Uint8Array.from(noise), status, status]));
      assert.ok(found.length >= 1, hex(Uint8Array.from(noise)));
      assert.deepEqual(found.at(-1)!.params, Uint8Array.of(1, 2, 3, 4));
      assert.ok(parser.stats.garbageBytes > 0);
    }
  });

  it('recognises the echo of a sent packet', () => {
    const { found } = parsed(Buffer.concat([pingPacket(5), status]));
    assert.deepEqual(
      found.map(({ instruction }) => instruction),
      [INSTRUCTION.ping, INSTRUCTION.status],
    );
  });

  it('does not wait forever on a false length', () => {
    const lying = Uint8Array.of(0xff, 0xff, 0xfd, 0, 1, 0xf0, 0x03, 0x55);
    const { parser, found } = parsed(lying);
    assert.equal(found.length, 0);
    parser.reset();
    parser.push(status);
    assert.equal(parser.stats.packets, 1);
    // A length beyond every packet is not a header.
    const huge = Uint8Array.of(0xff, 0xff, 0xfd, 0, 1, 0xff, 0xff);
    assert.equal(parsed(Buffer.concat([huge, status])).found.length, 1);
  });

  it('rejects a status without an error byte', () => {
    const { found, parser } = parsed(packet(1, INSTRUCTION.status));
    assert.equal(found.length, 0);
    assert.equal(parser.stats.badChecksum, 1);
  });

  it('survives mutated streams: never throws, invents no packet, counts every byte', () => {
    fc.assert(
      fc.property(
        fc.array(fc.tuple(anyId, awkward), { minLength: 1, maxLength: 5 }),
        fc.array(fc.tuple(fc.nat(2000), fc.nat(255)), { minLength: 1, maxLength: 4 }),
        fc.array(fc.nat(2000), { maxLength: 5 }),
        (sent, flips, cuts) => {
          const packets = sent.map(([id, params]) => statusPacket(id, 0, params));
          const stream = Buffer.concat(packets);
          for (const [at, byte] of flips) stream[at % stream.length] = byte;
          const { found, parser } = parsed(
            stream,
            cuts.map((cut) => Math.min(cut, stream.length)).sort((a, b) => a - b),
          );
          const known = new Set(sent.map(([id, params]) => `${id} ${hex(params)}`));
          // A 16-bit CRC lets one in 65,536 corrupted frames through.
          const strangers = found.filter(({ id, params }) => !known.has(`${id} ${hex(params)}`));
          assert.ok(strangers.length <= 1);
          parser.reset();
          assert.ok(parser.stats.garbageBytes <= stream.length);
          parser.push(status);
          assert.ok(parser.stats.packets >= 1);
        },
      ),
    );
  });

  it('bounds its buffer on any input', () => {
    const { parser } = parsed(new Uint8Array(1e6).fill(0xff));
    parser.reset();
    assert.equal(parser.stats.garbageBytes, 1e6);
    parser.push(status);
    assert.equal(parser.stats.packets, 1);
  });
});

describe('fast sync read replies', () => {
  const data = (value: number) => valueBytes(value, 4);
  const ids = [3, 7, 4];
  const collect = () => {
    const seen: [number, number, number][] = [];
    const fast = new FastStatus(ids, 4, (id, error, bytes, at) =>
      seen.push([id, error, signedAt(bytes, at, 4)]),
    );
    return { seen, fast };
  };

  it('are not stuffed', () => {
    const nasty = Uint8Array.of(0xff, 0xff, 0xfd, 0xfd);
    const answer = fastStatusPacket(ids.map((id) => ({ id, error: 0, data: nasty })));
    assert.equal(answer.length, 8 + 3 * 8);
    const { found } = parsed(answer);
    const { seen, fast } = collect();
    assert.equal(fast.take(found[0]!.params, found[0]!.params.length), 3);
    assert.deepEqual(new Set(seen.map(([, , value]) => value)), new Set([signedAt(nasty, 0, 4)]));
  });

  it('from other motors, in another order or of another length are rejected', () => {
    for (const [wrong, size] of [
      [[3, 4, 7], 4],
      [[3, 7], 4],
      [[3, 7, 4, 5], 4],
      [[3, 7, 4], 2],
    ] as const) {
      const answer = fastStatusPacket(wrong.map((id) => ({ id, error: 0, data: new Uint8Array(size) })));
      const { seen, fast } = collect();
      const { params } = parsed(answer).found[0]!;
      assert.equal(fast.take(params, params.length), 0);
      assert.deepEqual(seen, []);
    }
  });

  it('carry each motor’s alert', () => {
    const answer = fastStatusPacket(ids.map((id, i) => ({ id, error: i === 1 ? 0x80 : 0, data: data(i) })));
    const { seen, fast } = collect();
    const { params } = parsed(answer).found[0]!;
    fast.take(params, params.length);
    assert.deepEqual(seen, [
      [3, 0, 0],
      [7, 0x80, 1],
      [4, 0, 2],
    ]);
  });
});

describe('error texts', () => {
  it('names hardware errors', () => {
    assert.equal(hardwareErrorText(0), '');
    assert.equal(hardwareErrorText(0x21), 'input voltage out of range, overload');
    assert.equal(hardwareErrorText(0x40), 'hardware error 64');
  });
});
