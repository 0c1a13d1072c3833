import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { FragmentMessage } from './message-reader.ts';
import { Assembly, MAX_SAMPLE_BYTES } from './writer-proxy.ts';

const FRAGMENT_BYTES = 100;
const sample = Uint8Array.from({ length: 350 }, (_, i) => i % 251);

function fragment(first: number, count = 1): FragmentMessage {
  const payload = sample.slice((first - 1) * FRAGMENT_BYTES, (first - 1 + count) * FRAGMENT_BYTES);
  const sizes = { fragmentBytes: FRAGMENT_BYTES, sampleBytes: sample.length };
  return { reader: 0, writer: 0, seq: 1, first, count, payload, wallNs: 0, ...sizes };
}

describe('a fragmented sample', () => {
  it('is complete once every fragment arrived, in any order, with repeats', () => {
    const assembly = Assembly.begin(fragment(1))!;
    for (const first of [4, 2, 2, 4]) assert.ok(assembly.add(fragment(first)));
    assert.equal(assembly.isWhole, false);
    for (const first of [3, 1]) assert.ok(assembly.add(fragment(first)));
    assert.ok(assembly.isWhole);
    assert.deepEqual(assembly.bytes, sample);
  });

  it('accepts several fragments in one submessage', () => {
    const assembly = Assembly.begin(fragment(1))!;
    assert.ok(assembly.add(fragment(2, 3)));
    assert.ok(assembly.add(fragment(1)));
    assert.deepEqual([assembly.isWhole, assembly.bytes], [true, sample]);
  });

  it('rejects fragments of another sample', () => {
    const assembly = Assembly.begin(fragment(1))!;
    const wrong: Partial<FragmentMessage>[] = [
      { first: 0 },
      { first: 5 },
      { count: 0 },
      { count: 5 },
      { fragmentBytes: 99 },
      { sampleBytes: 351 },
      { payload: new Uint8Array(99) },
    ];
    for (const change of wrong) assert.equal(assembly.add({ ...fragment(1), ...change }), false);
    assert.equal(assembly.isWhole, false);
  });

  it('is rejected when too large or empty', () => {
    for (const sampleBytes of [0, MAX_SAMPLE_BYTES + 1, 2 ** 32 - 1])
      assert.equal(Assembly.begin({ ...fragment(1), sampleBytes }), null);
    assert.equal(Assembly.begin({ ...fragment(1), fragmentBytes: 0 }), null);
  });
});
