import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { emptyTraceRecord } from '../messages/trace-record.ts';
import { Sequencer, type SequencerOptions } from './sequencer.ts';

const command = (seq: number, session = 1) => ({
  ...emptyTraceRecord(),
  session,
  seq,
  outcome: 0,
  sampledNs: seq * 1e7,
});

function ordered(seqs: readonly number[], options: SequencerOptions = {}, flush = true): number[] {
  const out: number[] = [];
  const sequencer = new Sequencer(({ seq }) => out.push(seq), options);
  for (const seq of seqs) sequencer.push(command(seq));
  if (flush) sequencer.flush();
  return out;
}

describe('Sequencer', () => {
  it('restores the order of any permutation within its capacity', () => {
    fc.assert(
      fc.property(fc.uniqueArray(fc.nat(5000), { maxLength: 60 }), (seqs) => {
        assert.deepEqual(
          ordered(seqs, { capacity: 64 }),
          seqs.toSorted((a, b) => a - b),
        );
      }),
    );
  });

  it('loses nothing and stays bounded beyond its capacity', () => {
    const seqs = Array.from({ length: 5000 }, (_, i) => (i * 2741) % 5000);
    const out = ordered(seqs, { capacity: 16 });
    assert.deepEqual(
      out.toSorted((a, b) => a - b),
      Array.from({ length: 5000 }, (_, i) => i),
    );
    assert.equal(ordered(seqs.slice(0, 100), { capacity: 16 }, false).length, 84);
  });

  it('releases records that are old enough, and the whole old session when a new one starts', () => {
    assert.deepEqual(ordered([1, 2, 4, 3, 5, 70], { holdNs: 0.6e9 }, false), [1, 2, 3, 4, 5]);
    const out: [number, number][] = [];
    const sequencer = new Sequencer(({ seq }, session) => out.push([session, seq]), { holdNs: 1e9 });
    for (const [seq, session] of [
      [9, 7],
      [8, 7],
      [1, 3],
      [2, 3],
    ] as const)
      sequencer.push(command(seq, session));
    assert.deepEqual(out, [
      [0, 8],
      [0, 9],
    ]);
    sequencer.flush();
    assert.deepEqual(out.slice(2), [
      [1, 1],
      [1, 2],
    ]);
  });
});
