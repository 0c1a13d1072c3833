import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { z } from 'zod';
import { parseJson } from './parse-json.ts';

const point = z.strictObject({ x: z.number(), name: z.string().optional() });
const parsed = (data: string | Uint8Array) => parseJson(data, point, 100, 3);

describe('JSON from outside', () => {
  it('parses to a value of its schema, from text and from UTF-8', () => {
    assert.deepEqual(parsed('{"x":1,"name":"[[[[{{{{"}'), { x: 1, name: '[[[[{{{{' });
    assert.deepEqual(parsed(Buffer.from('{"x":1,"name":"ü"}')), { x: 1, name: 'ü' });
    assert.deepEqual(parsed('{"name":"\\\\","x":1}'), { x: 1, name: '\\' });
  });

  it('is rejected with the first problem found', () => {
    const cases: [string | Uint8Array, string][] = [
      [`{"x":1,"name":"${'a'.repeat(90)}"}`, 'oversize'],
      ['[[[[1]]]]', 'too-deep'],
      ['{"a":{"b":{"c":{', 'too-deep'],
      ['{"x":1', 'bad-json'],
      ['', 'bad-json'],
      [Uint8Array.of(0x22, 0xff, 0x22), 'bad-json'],
      ['null', 'malformed'],
      ['{"x":{"toString":1,"valueOf":1}}', 'malformed'],
      ['{"x":1e999}', 'malformed'],
      ['{"x":1,"__proto__":{"y":1}}', 'malformed'],
      ['{"x":1,"constructor":1}', 'malformed'],
      ['{"__proto__":{"x":1}}', 'malformed'],
    ];
    for (const [data, reason] of cases) assert.equal(parsed(data), reason, String(data));
  });

  it('accepts what JSON.parse accepts up to the depth limit, for any JSON', () => {
    const depthOf = (value: unknown): number =>
      typeof value !== 'object' || value === null ? 0 : 1 + Math.max(0, ...Object.values(value).map(depthOf));
    fc.assert(
      fc.property(fc.json({ maxDepth: 8 }), fc.nat(9), (text, maxDepth) => {
        const value: unknown = JSON.parse(text);
        const got = parseJson(text, z.object({}).or(z.array(z.unknown())), 1e6, maxDepth);
        assert.equal(got === 'too-deep', depthOf(value) > maxDepth);
      }),
    );
  });

  it('never throws, at any depth', () => {
    for (const text of ['['.repeat(1e6), '{"a":'.repeat(1e5), `${'['.repeat(1e5)}${']'.repeat(1e5)}`]) {
      assert.equal(parseJson(text, point, 1e7), 'too-deep');
      assert.equal(typeof parseJson(text, point, 1e7, Number.POSITIVE_INFINITY), 'string');
    }
  });
});
