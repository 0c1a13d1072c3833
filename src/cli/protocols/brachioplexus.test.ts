import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { brachioplexus } from './brachioplexus.ts';

interface Vector {
  name: string;
  type: number;
  hex: string;
  valid: boolean;
  decoded: { joints?: { wireDegrees?: number }[] } | null;
}
const vectors = JSON.parse(readFileSync('test/data/brachioplexus.json', 'utf8')) as Vector[];
const bytesOf = (hex: string): Uint8Array => Uint8Array.from(Buffer.from(hex, 'hex'));

describe('brachIOplexus as JSON', () => {
  for (const { name, type, hex, valid, decoded } of vectors)
    it(`decodes and encodes ${name} as in the vectors`, () => {
      const read = brachioplexus.decode(bytesOf(hex));
      assert.equal(read.ok, valid);
      if (!valid) {
        assert.equal(typeof read['reason'], 'string');
        return;
      }
      // Only the vectors state degrees.
      const joints = decoded!.joints?.map(({ wireDegrees: _, ...joint }) => joint);
      assert.deepEqual(read, { ok: true, type, ...decoded, ...(joints ? { joints } : {}) });
      if (name === 'scene_doc_len40') return;
      assert.deepEqual(brachioplexus.encode(JSON.parse(JSON.stringify(read))), bytesOf(hex));
      assert.deepEqual(brachioplexus.encode({ type, ...decoded }), bytesOf(hex));
    });

  it('gives the reason why a value cannot be encoded', () => {
    const bad: [unknown, RegExp][] = [
      [null, /./],
      [{ type: 9 }, /type/],
      [{ type: 5, cam: [0, 0, 0, 0, 0, 70_000] }, /cam: 5/],
      [{ type: 1, joints: [] }, /joints/],
      [{ type: 3, more: 1 }, /./],
      [{ type: 1, joints: [1, 0, 2, 3, 4].map((id) => ({ id, velocity: 0, state: 0 })) }, /ids/],
    ];
    for (const [value, reason] of bad) {
      const encoded = brachioplexus.encode(value);
      assert.ok(!(encoded instanceof Uint8Array));
      assert.match(encoded.reason, reason);
    }
  });
});
