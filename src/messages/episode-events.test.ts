import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { episodeEvents } from './episode-events.ts';
import type { EpisodeRow } from './recording.ts';

const PERIOD_NS = 1e8;

/** One row per 100 ms. */
const rowsOf = (parts: readonly Partial<EpisodeRow>[]): EpisodeRow[] =>
  parts.map((part, index) => ({
    ...({ supervisor: 'engaged', limitedBy: '' } as EpisodeRow),
    ...part,
    index,
    timeNs: index * PERIOD_NS,
  }));

const times = <T>(count: number, part: T): T[] => Array.from({ length: count }, () => part);

describe('the events of an episode', () => {
  it('are stretches of rows, in order', () => {
    const rows = rowsOf([
      ...times(2, {}),
      ...times(3, { supervisor: 'hold' as const }),
      ...times(1, {}),
      ...times(2, { intervention: true }),
      ...times(1, { source: 'disturbance' as const }),
    ]);
    assert.deepEqual(episodeEvents(rows), [
      { kind: 'hold', text: 'hold', from: 2, to: 4 },
      { kind: 'intervention', text: 'a person took over', from: 6, to: 7 },
      { kind: 'mistake', text: 'mistake on purpose', from: 8, to: 8 },
    ]);
  });

  it('leave out limits of ordinary motion and those that pass at once', () => {
    const rows = rowsOf([
      ...times(5, { limitedBy: 'jerk' as const }),
      ...times(2, { limitedBy: 'collision' as const }),
      ...times(1, {}),
      ...times(3, { limitedBy: 'collision' as const }),
    ]);
    assert.deepEqual(episodeEvents(rows), [{ kind: 'limit', text: 'limited by collision', from: 8, to: 10 }]);
  });

  it('tell one sub-task from the next', () => {
    const rows = rowsOf([...times(2, { subtask: 'pick' }), ...times(2, { subtask: 'place' })]);
    assert.deepEqual(
      episodeEvents(rows).map(({ text, from, to }) => [text, from, to]),
      [
        ['pick', 0, 1],
        ['place', 2, 3],
      ],
    );
  });
});
