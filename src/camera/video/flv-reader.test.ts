import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { FlvReader, type VideoUnit } from './flv-reader.ts';

const HEADER = Buffer.from('464c5601010000000900000000', 'hex');

function tag(kind: number, timeMs: number, body: Buffer): Buffer {
  const head = Buffer.alloc(11);
  head[0] = kind;
  head.writeUIntBE(body.length, 1, 3);
  head.writeUIntBE(timeMs % 2 ** 24, 4, 3);
  head[7] = Math.floor(timeMs / 2 ** 24);
  const end = Buffer.alloc(4);
  end.writeUInt32BE(11 + body.length);
  return Buffer.concat([head, body, end]);
}

const avc = (frame: number, kind: number, hex: string): Buffer =>
  Buffer.concat([Buffer.from([(frame << 4) | 7, kind, 0, 0, 0]), Buffer.from(hex, 'hex')]);

/** Two bytes of sequence parameters, one of picture parameters. */
const RECORD = '0142c01fffe1000267aa01000168';
const STREAM = Buffer.concat([
  ...[HEADER, tag(18, 0, Buffer.from('0200', 'hex')), tag(9, 0, avc(1, 0, RECORD))],
  ...[tag(9, 20, avc(1, 1, '0000000165')), tag(9, 17_000_041, avc(2, 1, '000000024101'))],
  ...[tag(9, 60, avc(1, 2, '')), tag(8, 60, Buffer.from('af00', 'hex'))],
]);
const EXPECTED = [
  { timeMs: 20, isKey: true, hex: '0000000267aa00000001680000000165' },
  { timeMs: 17_000_041, isKey: false, hex: '000000024101' },
];

const readBy = (bytes: number): unknown[] => {
  const units: VideoUnit[] = [];
  const reader = new FlvReader((unit) => units.push({ ...unit, bytes: Buffer.from(unit.bytes) }));
  for (let at = 0; at < STREAM.length; at += bytes) reader.push(Buffer.from(STREAM.subarray(at, at + bytes)));
  return units.map(({ timeMs, isKey, bytes: unit }) => ({ timeMs, isKey, hex: unit.toString('hex') }));
};

describe('FLV', () => {
  it('gives the same pictures however the bytes are cut', () => {
    for (let bytes = 1; bytes <= STREAM.length; bytes++)
      assert.deepEqual(readBy(bytes), EXPECTED, `${bytes}`);
  });
});
