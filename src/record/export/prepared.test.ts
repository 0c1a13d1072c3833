import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import type { SourceEpisode } from '../lerobot/layout.ts';
import { emptyInfo, rowOf, START_NS } from '../test-episode.ts';
import { correctionsOf } from './prepared.ts';

const PERIOD_NS = 10e6;

function episode(flags: readonly boolean[]): SourceEpisode {
  const rows = flags.map((intervention, i) => ({
    ...rowOf(i, 2, new Map(), START_NS + i * PERIOD_NS),
    intervention,
  }));
  return { info: emptyInfo('a', 2, []), rows, frames: async function* () {} };
}

describe('corrections of an episode', () => {
  it('are the stretches that a person drove, each beginning at zero with the same commands', () => {
    fc.assert(
      fc.property(
        fc.array(fc.record({ person: fc.boolean(), rows: fc.integer({ min: 1, max: 60 }) })),
        (runs) => {
          const flags = runs.flatMap(({ person, rows }) => new Array<boolean>(rows).fill(person));
          const source = episode(flags);
          const parts = correctionsOf(source);
          const seqs = parts.flatMap(({ rows }) => rows.map(({ seq }) => seq));
          assert.deepEqual(
            seqs,
            [...new Set(seqs)].sort((a, b) => a - b),
          );
          for (const { rows, info } of parts) {
            assert.ok(rows.length > 20 && info.rows === rows.length, 'short stretches are left out');
            rows.forEach((row, i) => {
              const from = source.rows[row.seq - 1]!;
              assert.deepEqual([row.index, row.timeNs], [i, i * PERIOD_NS]);
              assert.equal(from.intervention, true);
              assert.deepEqual([row.commandRad, row.stateRad], [from.commandRad, from.stateRad]);
            });
          }
          assert.equal(new Set(parts.map(({ info }) => info.id)).size, parts.length);
          // Nothing that a person drove for long enough is missing.
          let [longest, run] = [0, 0];
          for (const flag of flags) {
            run = flag ? run + 1 : 0;
            longest = Math.max(longest, run);
          }
          assert.equal(longest > 20, parts.length > 0);
        },
      ),
      { numRuns: 50 },
    );
  });
});
