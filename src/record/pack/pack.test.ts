import assert from 'node:assert/strict';
import { readFileSync, rmSync } from 'node:fs';
import path from 'node:path';
import { describe, it } from 'node:test';
import { inflateRawSync } from 'node:zlib';
import { temporaryFolder } from '../../../test/temporary-folder.ts';
import { blocksOf, COEFFICIENTS, toCoefficients } from './dct.ts';
import { NpzWriter } from './npz.ts';

describe('pack', () => {
  it('a grey picture has only its mean: 8 times the level, divided by the table', () => {
    const [width, height] = [32, 16];
    const rgb = new Uint8Array(3 * width * height).fill(192);
    const out = new Int8Array(COEFFICIENTS * blocksOf(width, height));
    toCoefficients(rgb, width, height, out);
    const luma = (width * height) / 64;
    assert.deepEqual([...out.subarray(0, luma)], new Array(luma).fill(32));
    assert.ok(out.subarray(luma).every((value) => value === 0));
  });

  it('arrays are in the zip as NumPy writes them', () => {
    const dir = temporaryFolder('pack');
    try {
      const file = path.join(dir, 'a.npz');
      const writer = new NpzWriter(file);
      writer.array('x', [2, 3], Float32Array.of(1, 2, 3, 4, 5, 6));
      assert.equal(writer.close(), readFileSync(file).length);
      const bytes = readFileSync(file);
      const nameBytes = bytes.readUInt16LE(26);
      const content = inflateRawSync(bytes.subarray(30 + nameBytes, 30 + nameBytes + bytes.readUInt32LE(18)));
      const head = content.readUInt16LE(8);
      assert.equal((10 + head) % 64, 0);
      assert.match(content.toString('latin1', 10, 10 + head), /'descr': '<f4'.*'shape': \(2, 3\)/);
      assert.equal(content.readFloatLE(10 + head + 8), 3);
    } finally {
      rmSync(dir, { recursive: true });
    }
  });
});
