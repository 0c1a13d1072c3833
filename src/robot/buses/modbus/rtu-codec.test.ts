import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { decodeReply, frameBytes, isCrcGood, readRequest, withCrc, writeRequest } from './rtu-codec.ts';

const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex').toUpperCase();

describe('Modbus RTU', () => {
  // Robotiq's instruction manual prints these frames for a gripper with address 9.
  it('builds the frames in Robotiq’s manual', () => {
    assert.equal(hex(withCrc(writeRequest(9, 0x03e8, [0, 0, 0]))), '091003E80003060000000000007330');
    assert.equal(
      hex(withCrc(writeRequest(9, 0x03e8, [0x0900, 0x00ff, 0xffff]))),
      '091003E8000306090000FFFFFF4229',
    );
    assert.equal(hex(withCrc(readRequest(9, 0x07d0, 3))), '090307D0000304 0E'.replace(' ', ''));
  });

  it('reads what a device sends, and nothing else', () => {
    const request = readRequest(9, 0x07d0, 1);
    assert.deepEqual(decodeReply(request, Uint8Array.of(9, 3, 2, 0x11, 0x22)), [0x1122]);
    assert.equal(decodeReply(request, Uint8Array.of(9, 0x83, 2)), 'exception 2');
    for (const wrong of [[8, 3, 2, 0, 0], [9, 4, 2, 0, 0], [9, 3, 4, 0, 0], [9, 3, 2, 0], []])
      assert.equal(typeof decodeReply(request, Uint8Array.from(wrong)), 'string');
    const write = writeRequest(9, 5, [1, 2]);
    assert.deepEqual(decodeReply(write, write.slice(0, 6)), []);
    assert.equal(typeof decodeReply(write, Uint8Array.of(9, 16, 0, 6, 0, 2)), 'string');
  });

  it('any bytes decode without throwing; a flipped bit never passes the CRC', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 40 }), fc.nat(), (bytes, bit) => {
        decodeReply(readRequest(9, 1, 2), bytes);
        frameBytes(readRequest(9, 1, 2), bytes);
        const frame = withCrc(bytes);
        assert.equal(isCrcGood(frame), bytes.length > 0);
        frame[(bit >> 3) % frame.length]! ^= 1 << (bit & 7);
        assert.ok(!isCrcGood(frame) || bytes.length === 0);
      }),
      { numRuns: 200 },
    );
  });
});
