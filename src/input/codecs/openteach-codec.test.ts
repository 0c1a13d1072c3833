import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { takeHandPoints } from '../../hand/points.ts';
import { readDecimal } from './decimal.ts';
import { decodeButton, decodeHand, emptyHandToken, encodeHandToken } from './openteach-codec.ts';

interface Vectors {
  openteach: { name: string; text?: string; hex?: string; becomes?: number }[];
  hand_joints: Record<string, number[]>;
  coords: { name: string; in_p: number[]; out_p: number[] }[];
}
const vectors = JSON.parse(readFileSync('test/data/openteach.json', 'utf8')) as Vectors;
const utf8 = (text: string): Uint8Array => new TextEncoder().encode(text);

function decoded(text: string) {
  const token = emptyHandToken();
  const bytes = utf8(text);
  return { reason: decodeHand(bytes, bytes.length, token), token };
}

const points = (count: number, point = '0.1,1,-0.5'): string => Array(count).fill(point).join('|');

describe('OpenTeach’s token', () => {
  for (const name of ['quest_absolute', 'quest_relative'])
    it(`decodes as recorded: ${name}`, () => {
      const { text = '', hex = '' } = vectors.openteach.find((vector) => vector.name === name)!;
      assert.deepEqual(Buffer.from(text).toString('hex'), hex);
      const { reason, token } = decoded(text);
      assert.deepEqual([reason, token.count, token.mode], [null, 24, name.slice('quest_'.length)]);
      const expected = text
        .split(':')[1]!
        .split('|')
        .flatMap((point) => point.split(',').map(Number));
      assert.deepEqual([...token.pointsM.subarray(0, 72)], expected);
      assert.equal(encodeHandToken(token.mode, token.count, token.pointsM), text);
    });

  it('has 24 points, or 26 from a newer SDK', () => {
    for (const count of [21, 24, 25, 26]) assert.equal(decoded(`absolute:${points(count)}:`).reason, null);
    for (const count of [1, 20, 22, 23, 27, 48, 1000])
      assert.equal(decoded(`absolute:${points(count)}:`).reason, 'point-count');
  });

  it('is rejected with a reason', () => {
    const one = (point: string) => `relative:${points(23)}|${point}:`;
    for (const [text, reason] of [
      ['', 'empty'],
      ['absolute:', 'empty-hand'],
      ['absolute::', 'empty-hand'],
      ['absolute', 'malformed'],
      ['hello', 'malformed'],
      ['sideways:1,2,3:', 'malformed'],
      [`absolute:${points(24, '0,1,1,0,-0,5')}:`, 'decimal-comma'],
      // (0.1, 1, 0.25): whole numbers have no decimals at all.
      [`absolute:${points(24, '0,1,1,0,25')}:`, 'decimal-comma'],
      [one('1,2'), 'malformed'],
      [one('1,2,3,4'), 'malformed'],
      [one('1,,3'), 'malformed'],
      [one('1,2,three'), 'malformed'],
      [one('NaN,2,3'), 'non-finite'],
      [one('1,Infinity,3'), 'non-finite'],
      [one('1,2,-∞'), 'non-finite'],
      [one('1,2,1E999'), 'non-finite'],
      [`absolute:${points(24)}|`, 'malformed'],
      [`absolute:${points(24)}::`, 'malformed'],
    ] as const)
      assert.equal(decoded(text).reason, reason, text);
  });

  it('survives a round trip through text to seven digits', () => {
    const numbers = fc.float64Array({ minLength: 72, maxLength: 72, min: -50, max: 50, noNaN: true });
    fc.assert(
      fc.property(numbers, (pointsM) => {
        const { reason, token } = decoded(encodeHandToken('relative', 24, pointsM));
        assert.equal(reason, null);
        for (let i = 0; i < 72; i++)
          assert.ok(Math.abs(token.pointsM[i]! - pointsM[i]!) <= 1e-6 * Math.abs(pointsM[i]!));
      }),
    );
  });

  it('changes nothing when rejected, and never throws', () => {
    const good = utf8(`absolute:${points(24)}:`);
    const any = fc.oneof(
      fc.uint8Array({ maxLength: 900 }),
      fc.tuple(fc.nat(good.length - 1), fc.nat(255)).map(([at, byte]) => good.with(at, byte)),
      fc.nat(good.length).map((length) => good.slice(0, length)),
    );
    fc.assert(
      fc.property(any, (bytes) => {
        const token = emptyHandToken();
        token.pointsM.fill(7);
        const reason = decodeHand(bytes, bytes.length, token);
        if (reason !== null) assert.ok(token.count === 0 && token.pointsM.every((value) => value === 7));
        else assert.ok(token.pointsM.subarray(0, 3 * token.count).every(Number.isFinite));
      }),
      { numRuns: 5000 },
    );
  });
});

describe('the document’s JSON', () => {
  const json = JSON.stringify(Array.from({ length: 21 }, (_, i) => [i, 0.5, -1e-5]));

  it('is accepted with or without its topic, nested or flat', () => {
    for (const text of [
      json,
      `hand_coords ${json}`,
      `hand_coords${json}`,
      JSON.stringify((JSON.parse(json) as number[][]).flat()),
    ]) {
      const { reason, token } = decoded(text);
      assert.deepEqual([reason, token.count], [null, 21], text);
      assert.deepEqual([...token.pointsM.subarray(60, 63)], [20, 0.5, -1e-5]);
    }
  });

  it('is rejected with a reason', () => {
    for (const [text, reason] of [
      ['[', 'bad-json'],
      ['[]', 'empty-hand'],
      ['[[1,2,3]]', 'point-count'],
      [json.replace('[3,', '[null,'), 'non-finite'],
      [json.replace('[3,', '[1e999,'), 'non-finite'],
      [json.replace('[3,', '["3",'), 'malformed'],
      [json.replace('[3,', '[3,3,'), 'malformed'],
      ['hand_coords', 'malformed'],
    ] as const)
      assert.equal(decoded(text).reason, reason, text);
  });
});

describe('OpenTeach’s buttons', () => {
  it('are High, Low or None, and nothing else', () => {
    for (const { text = '', becomes } of vectors.openteach.filter((vector) => vector.becomes !== undefined)) {
      const state = decodeButton(utf8(text), text.length);
      assert.equal(state, text);
      assert.equal(state === 'Low' ? 0 : 1, becomes);
    }
    for (const text of ['', 'low', 'Lo', 'Lower', 'High '])
      assert.equal(decodeButton(utf8(text), text.length), null);
  });
});

describe('decimal numbers', () => {
  const read = (text: string) => {
    const bytes = utf8(`${text}|`);
    const { value, end } = readDecimal(bytes, 0, bytes.length);
    return { value, end };
  };

  it('are parsed as JavaScript parses them', () => {
    const number = fc.oneof(
      fc.double({ noNaN: true, noDefaultInfinity: true }),
      fc.float({ noNaN: true, noDefaultInfinity: true }),
      fc.double({ min: -10, max: 10, noNaN: true }).map((value) => Number(value.toPrecision(7))),
    );
    fc.assert(
      fc.property(
        number,
        fc.constantFrom(
          String,
          (v: number) => v.toExponential(),
          (v: number) => v.toFixed(9),
        ),
        (value, write) => {
          const text = write(value);
          assert.deepEqual(read(text), { value: Number(text), end: text.length });
        },
      ),
      { numRuns: 3000 },
    );
  });

  it('end at their last character', () => {
    for (const [text, value, end] of [
      ['1', 1, 1],
      ['1E-05', 1e-5, 5],
      ['-0.25,3', -0.25, 5],
      ['1E', 1, 1],
      ['1.2.3', 1.2, 3],
      ['.5', 0.5, 2],
      ['+3', 3, 2],
      ['1e+2', 100, 4],
    ] as const)
      assert.deepEqual(read(text), { value, end }, text);
    for (const text of ['', '-', '.', 'x', '-.', 'E5']) assert.equal(read(text).end, 0, text);
  });
});

describe('joint sets and frames', () => {
  it('match the vectors', () => {
    for (const [key, count] of [
      ['ovr24_to_mediapipe21', 24],
      ['webxr25_to_mediapipe21', 25],
      ['openxr26_to_mediapipe21', 26],
    ] as const) {
      const all = Float64Array.from({ length: 3 * count }, (_, i) => i);
      const out = new Float64Array(63);
      assert.equal(takeHandPoints(all, count, 'rh', out), null);
      assert.deepEqual(
        Array.from({ length: 21 }, (_, i) => out[3 * i]! / 3),
        vectors.hand_joints[key],
      );
    }
  });

  it('negate Unity’s z', () => {
    const { in_p, out_p } = vectors.coords.find(({ name }) => name === 'unity_to_webxr')!;
    const out = new Float64Array(63);
    takeHandPoints(Array(21).fill(in_p).flat() as number[], 21, 'unity', out);
    assert.deepEqual([...out.subarray(0, 3)], out_p);
  });
});
