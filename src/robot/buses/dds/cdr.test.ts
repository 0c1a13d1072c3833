import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { EncapsulationKind, CdrReader as FoxgloveReader, CdrWriter as FoxgloveWriter } from '@foxglove/cdr';
import fc from 'fast-check';
import { CdrReader, CdrWriter, ENCAPSULATION, payloadReader } from '../../../core/cdr.ts';
import {
  float64MultiArray,
  isTopicName,
  jointState,
  type MessageType,
  readMessageOf,
  ros2Topic,
} from './ros2.ts';

const bytesOf = (hex: string): Uint8Array => Uint8Array.from(Buffer.from(hex.replaceAll(/\s/g, ''), 'hex'));
const hexOf = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex');

function encode<T>(type: MessageType<T>, message: T): Uint8Array {
  const out = new CdrWriter(new Uint8Array(65_536).fill(0xee));
  out.begin(ENCAPSULATION.cdrLe);
  type.write(out, message);
  assert.ok(out.ok);
  return out.bytes.slice(0, out.length);
}

/** Written by CycloneDDS 0.10.2, little-endian. */
const CYCLONE_JOINT_STATE = bytesOf(`
  00010000 910afa6a 6bf5de06 05000000 68616e64 00000000
  03000000 08000000 6a6f696e745f3000 08000000 6a6f696e745f3100 08000000 6a6f696e745f3200
  03000000 0000000000002640 000000000000d03f 000000000000e03f
  03000000 00000000 000000000000f03f 000000000000f43f 000000000000f83f
  00000000`);
const JOINT_STATE = {
  stampNs: 0,
  frameId: 'hand',
  names: ['joint_0', 'joint_1', 'joint_2'],
  positions: [11, 0.25, 0.5],
  velocities: [1, 1.25, 1.5],
  efforts: [],
};

describe('CDR', () => {
  it('reads and writes a joint state byte for byte like CycloneDDS', () => {
    const message = readMessageOf(jointState, CYCLONE_JOINT_STATE)!;
    assert.deepEqual(
      {
        ...message,
        positions: [...Array.from(message.positions)],
        velocities: [...Array.from(message.velocities)],
      },
      { ...JOINT_STATE, stampNs: message.stampNs, efforts: new Float64Array(0) },
    );
    assert.equal(Math.floor(message.stampNs / 1e9), 0x6afa0a91);
    const out = new CdrWriter(new Uint8Array(256).fill(0xee));
    out.begin(ENCAPSULATION.cdrLe);
    jointState.write(out, { ...JOINT_STATE, stampNs: 0x6afa0a91 * 1e9 });
    const written = hexOf(out.bytes.slice(0, out.length));
    const theirs = hexOf(CYCLONE_JOINT_STATE);
    assert.equal(written.slice(0, 16), theirs.slice(0, 16), 'encapsulation and seconds');
    assert.equal(written.slice(24), theirs.slice(24), 'everything after the nanoseconds');
  });

  it('writes a command as computed by hand from the standard', () => {
    // No dimensions, offset 0, two numbers, padding to 8, 1.0 and −2.0.
    const expected = '00010000 00000000 00000000 02000000 00000000 000000000000f03f 00000000000000c0';
    assert.equal(hexOf(encode(float64MultiArray, { data: [1, -2] })), expected.replaceAll(' ', ''));
  });

  it('reads big-endian, dimensions and offset', () => {
    const bytes = bytesOf(`00000000
      00000001 00000002 7800 0000 00000003 00000003
      00000001 00000003 00000000 3ff0000000000000 4000000000000000 4008000000000000`);
    assert.deepEqual([...Array.from(readMessageOf(float64MultiArray, bytes)!.data)], [2, 3]);
  });

  it('rejects other encapsulations, missing bytes and unterminated text', () => {
    for (const kind of ['0002', '0003', '0007', '0100', 'ffff'])
      assert.equal(payloadReader(bytesOf(`${kind}0000 00000000`)), null, kind);
    assert.equal(payloadReader(bytesOf('0001')), null);
    for (let length = 4; length < CYCLONE_JOINT_STATE.length; length++)
      assert.equal(readMessageOf(jointState, CYCLONE_JOINT_STATE.slice(0, length)), null, `${length} bytes`);
    const reader = new CdrReader(bytesOf('02000000 6162'), 0, 6, true);
    assert.equal(reader.string(), '');
    assert.equal(reader.ok, false);
  });

  it('rejects impossible lengths', () => {
    const bytes = bytesOf('00010000 00000000 00000000 ffffffff 00000000');
    assert.equal(readMessageOf(float64MultiArray, bytes), null);
    assert.equal(readMessageOf(float64MultiArray, bytesOf('00010000 ffffffff 00000000')), null);
  });

  it('round-trips any message', () => {
    const numbers = fc.array(fc.double(), { maxLength: 40 });
    const text = fc.string({ unit: 'grapheme', maxLength: 20 }).filter((value) => !value.includes('\0'));
    fc.assert(
      fc.property(numbers, (data) => {
        const back = readMessageOf(float64MultiArray, encode(float64MultiArray, { data }))!;
        assert.deepEqual([...Array.from(back.data)], data);
      }),
    );
    fc.assert(
      fc.property(
        text,
        fc.array(text, { maxLength: 8 }),
        numbers,
        numbers,
        numbers,
        (frameId, names, p, v, e) => {
          const message = { stampNs: 5e9 + 7, frameId, names, positions: p, velocities: v, efforts: e };
          const back = readMessageOf(jointState, encode(jointState, message))!;
          assert.deepEqual(back.names, names);
          assert.equal(back.frameId, frameId);
          assert.equal(back.stampNs, message.stampNs);
          for (const [list, were] of [
            [back.positions, p],
            [back.velocities, v],
            [back.efforts, e],
          ] as const)
            assert.deepEqual([...Array.from(list)], were);
        },
      ),
    );
  });

  it('is decoded correctly by Foxglove’s library, which displays our recordings', () => {
    const text = fc.string({ unit: 'grapheme', maxLength: 20 }).filter((value) => !value.includes('\0'));
    const numbers = fc.array(fc.double(), { maxLength: 20 });
    fc.assert(
      fc.property(text, fc.array(text, { maxLength: 6 }), numbers, (frameId, names, positions) => {
        const message = { stampNs: 5e9 + 7, frameId, names, positions, velocities: [], efforts: [1] };
        const cdr = new FoxgloveReader(encode(jointState, message));
        assert.deepEqual(
          [cdr.int32(), cdr.uint32(), cdr.string(), cdr.stringArray()],
          [5, 7, frameId, names],
        );
        const lists = [cdr.float64Array(), cdr.float64Array(), cdr.float64Array()];
        assert.deepEqual(
          lists.map((list) => Array.from(list)),
          [positions, [], [1]],
        );
        assert.equal(cdr.decodedBytes, cdr.byteLength);
      }),
    );
  });

  it('reads what Foxglove’s library writes, in either byte order', () => {
    // ASCII only: the library counts characters where the standard counts bytes.
    const text = fc.string({ unit: fc.constantFrom(...'abc_/0123'), maxLength: 20 });
    const kinds = fc.constantFrom(EncapsulationKind.CDR_LE, EncapsulationKind.CDR_BE);
    fc.assert(
      fc.property(kinds, text, fc.array(fc.double(), { maxLength: 20 }), (kind, frameId, positions) => {
        const cdr = new FoxgloveWriter({ kind }).int32(5).uint32(7).string(frameId).sequenceLength(1);
        cdr.string(frameId).float64Array(positions, true).float64Array([], true).float64Array([1], true);
        const read = readMessageOf(jointState, cdr.data)!;
        assert.deepEqual([read.stampNs, read.frameId, read.names], [5e9 + 7, frameId, [frameId]]);
        assert.deepEqual(Array.from(read.positions), positions);
        assert.deepEqual([read.velocities.length, Array.from(read.efforts)], [0, [1]]);
      }),
    );
  });

  it('never throws on any bytes', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 300 }), fc.boolean(), (bytes, little) => {
        const payload = Uint8Array.of(0, little ? 1 : 0, 0, 0, ...bytes);
        readMessageOf(jointState, payload);
        readMessageOf(float64MultiArray, payload);
      }),
      { numRuns: 2000 },
    );
  });

  it('reports when the buffer was too small', () => {
    const out = new CdrWriter(new Uint8Array(20));
    out.begin(ENCAPSULATION.cdrLe);
    float64MultiArray.write(out, { data: [1, 2, 3] });
    assert.equal(out.ok, false);
  });
});

describe('ROS 2 names', () => {
  it('are mangled like in ROS 2', () => {
    const topic = ros2Topic('/orca_hand/command', float64MultiArray, { reliable: true });
    assert.equal(topic.topic, 'rt/orca_hand/command');
    assert.equal(topic.type, 'std_msgs::msg::dds_::Float64MultiArray_');
    assert.match(topic.userData, /^typehash=RIHS01_[0-9a-f]{64};$/);
  });

  it('are rejected when invalid in ROS 2', () => {
    for (const good of ['/a', 'a', '/a_1/b', '/A/b2/c']) assert.ok(isTopicName(good), good);
    for (const bad of ['', '/', '/a/', '//a', '/1a', '/a b', '/a-b', '/a__b', '~/a'])
      assert.ok(!isTopicName(bad), bad);
  });
});
