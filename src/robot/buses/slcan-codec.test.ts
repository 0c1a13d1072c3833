import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import {
  type CanFrame,
  emptyFrame,
  frameBits,
  frameText,
  isValidFrame,
  parseFrameText,
} from './can-frame.ts';
import { BITRATE_CODES, encodeSlcan, MAX_LINE_BYTES, SlcanDecoder } from './slcan-codec.ts';

interface Vector {
  name: string;
  direction: 'encode' | 'decode';
  input: { can?: string; ascii: string; id?: number; data?: string; ts_ms?: number };
  expected_hex: string;
}
const vectors = JSON.parse(readFileSync('test/data/drivers/slcan.json', 'utf8')) as Vector[];
const bytesOf = (hex: string): Uint8Array => Uint8Array.from(Buffer.from(hex.replaceAll(' ', ''), 'hex'));

/** All decoder output, in order, as text. */
function decodeAll(chunks: readonly Uint8Array[]): string[] {
  const out: string[] = [];
  const decoder = new SlcanDecoder({
    onFrame: (frame, stampMs) => out.push(`${frameText(frame)}${stampMs < 0 ? '' : `@${stampMs}`}`),
    onLine: (line) => out.push(`line ${Buffer.from(line).toString('latin1')}`),
    onRejected: () => out.push('rejected'),
    onGarbage: () => out.push('garbage'),
  });
  for (const chunk of chunks) decoder.push(chunk);
  return out;
}

function lineOf(frame: CanFrame): Uint8Array {
  const out = new Uint8Array(MAX_LINE_BYTES);
  const end = encodeSlcan(frame, out, 0);
  assert.ok(end > 0);
  return out.slice(0, end);
}

const anyFrame = fc
  .record({
    extended: fc.boolean(),
    kind: fc.constantFrom('data', 'remote', 'fd', 'fast'),
    id: fc.nat(0x1fffffff),
    code: fc.nat(15),
    bytes: fc.uint8Array({ minLength: 64, maxLength: 64 }),
  })
  .map(({ extended, kind, id, code, bytes }) => {
    const frame = emptyFrame(extended ? id : id & 0x7ff);
    const fd = kind === 'fd' || kind === 'fast';
    const lengths = [0, 1, 2, 3, 4, 5, 6, 7, 8, 12, 16, 20, 24, 32, 48, 64];
    Object.assign(frame, { extended, remote: kind === 'remote', fd, bitRateSwitch: kind === 'fast' });
    frame.length = lengths[fd ? code : code % 9]!;
    if (!frame.remote) frame.data.set(bytes.subarray(0, frame.length));
    return frame;
  });

describe('slcan', () => {
  for (const { name, direction, input, expected_hex } of vectors)
    it(`${name}`, () => {
      const bytes = bytesOf(expected_hex);
      if (input.can !== undefined) {
        const frame = parseFrameText(input.can)!;
        assert.deepEqual(lineOf(frame), bytes);
        assert.deepEqual(decodeAll([bytes]), [frameText(frame)]);
      } else if (name === 'rx_with_timestamp_Z1') assert.deepEqual(decodeAll([bytes]), ['100#1133@43266']);
      else if (name === 'rtr_std') assert.deepEqual(decodeAll([bytes]), ['100#R']);
      else if (name === 'error_reply') assert.deepEqual(decodeAll([bytes]), ['rejected']);
      else {
        assert.ok(direction === 'encode' || bytes.length <= 2);
        assert.deepEqual(decodeAll([bytes]), [`line ${input.ascii.replace('\\r', '')}`]);
      }
    });

  it('has the vendors’ bit rate codes', () => {
    assert.equal(BITRATE_CODES[1_000_000], 8);
    assert.equal(BITRATE_CODES[500_000], 6);
    assert.equal(BITRATE_CODES[800_000], undefined);
  });

  it('decodes what it encodes, however the bytes are split', () => {
    fc.assert(
      fc.property(fc.array(anyFrame, { maxLength: 8 }), fc.array(fc.nat(40)), (frames, cuts) => {
        const bytes = Buffer.concat(frames.map(lineOf));
        const chunks: Uint8Array[] = [];
        let at = 0;
        for (const cut of cuts) {
          chunks.push(bytes.subarray(at, at + cut));
          at += cut;
        }
        chunks.push(bytes.subarray(at));
        assert.deepEqual(decodeAll(chunks), frames.map(frameText));
      }),
    );
  });

  it('resynchronises at the next CR after garbage', () => {
    const good = Buffer.from('\rt155800002CC300002CC3\r', 'latin1');
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 400 }), (noise) => {
        const out = decodeAll([noise, good]);
        assert.equal(out.at(-1), '155#00002CC300002CC3');
      }),
    );
    assert.deepEqual(decodeAll([Buffer.from('t15580000\x002CC3\rt10012A\r', 'latin1')]), [
      'garbage',
      '100#2A',
    ]);
    assert.deepEqual(decodeAll([Buffer.from('t155800\x07t10012A\r', 'latin1')]), [
      'garbage',
      'rejected',
      '100#2A',
    ]);
    for (const bad of ['t1559', 't8001FF', 'tGGG0', 't10021', 't1002ZZZZ', 'T2000000000', 'r1009', 'd100G'])
      assert.deepEqual(decodeAll([Buffer.from(`${bad}\r`, 'latin1')]), ['garbage'], bad);
  });

  it('does not encode invalid frames', () => {
    const wrong: Partial<CanFrame>[] = [{ id: 0x800 }, { id: -1 }, { length: 9 }, { fd: true, remote: true }];
    for (const change of wrong) {
      const frame = { ...emptyFrame(1), ...change };
      assert.equal(isValidFrame(frame), false);
      assert.equal(encodeSlcan(frame, new Uint8Array(MAX_LINE_BYTES), 0), -1);
    }
  });
});

describe('a frame as text', () => {
  it('uses cansend notation', () => {
    for (const text of ['155#00002CC300002CC3', '0C34567F#0102', '0A7#', '100#R', '100#R4', '005##18A3C'])
      assert.equal(frameText(parseFrameText(text)!), text);
    assert.equal(frameText(parseFrameText('5AA#de.ad.be.ef')!), '5AA#DEADBEEF');
    for (const wrong of [
      '',
      '155',
      '155#0',
      '1555#00',
      '800#',
      '155#112233445566778899',
      'xyz#00',
      '155##1000102030405060708',
    ])
      assert.equal(parseFrameText(wrong), null, wrong);
  });

  it('has the bus time given by the standard', () => {
    assert.equal(frameBits(parseFrameText('155#0000000000000000')!), 135);
    assert.equal(frameBits(parseFrameText('155#')!), 55);
    const slow = frameBits(parseFrameText('005##00000000000000000')!);
    assert.ok(frameBits(parseFrameText('005##10000000000000000')!, 5) < slow);
  });
});
