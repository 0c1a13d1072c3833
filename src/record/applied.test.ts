import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { EpisodeRow } from '../messages/recording.ts';
import { alignApplied } from './applied.ts';

const MS = 1e6;
const PERIOD_NS = 10 * MS;
const ONE_WAY_NS = 40 * MS;
const AGE_NS = 30 * MS;
/** Robot − operator. */
const OFFSET_NS = 5e9;
const FIRST_NS = 100e9;

const rows = Array.from(
  { length: 50 },
  (_, i) =>
    ({
      ...{ index: i, seq: 7 + i, timeNs: i * PERIOD_NS, commandRad: [i], commandGripper: i / 100 },
      ...{ stateRad: [i], stateGripper: 0, toolPose: [i, 0, 0, 0, 0, 0, 1] },
      frames: { front: { captureNs: 1, ageNs: AGE_NS, stale: false } },
    }) as unknown as EpisodeRow,
);
const traces = rows.map(({ seq, timeNs }) => {
  const sampledNs = FIRST_NS + timeNs;
  const appliedNs = sampledNs + ONE_WAY_NS + OFFSET_NS;
  return { timeNs: 0n, value: { seq, getStateNs: sampledNs, appliedNs, offsetNs: OFFSET_NS } };
});

describe('commands by when they were applied', () => {
  it('each row gets the command that the robot had applied when its picture was taken', () => {
    const aligned = alignApplied(rows, traces);
    // 30 ms ago the robot had applied the command of another 40 ms before.
    for (const [i, row] of aligned.entries())
      assert.deepEqual([row.commandRad[0], row.index], [Math.max(0, i - 7), i]);
    assert.equal(aligned[20]!.commandGripper, 0.13);
  });

  it('each row gets the state that was known when its picture was taken, and the pose of that state', () => {
    for (const [i, { stateRad, toolPose }] of alignApplied(rows, traces).entries())
      assert.deepEqual([stateRad[0], toolPose![0]], [Math.max(0, i - 3), Math.max(0, i - 3)]);
  });

  it('a recording without traces stays as it is', () => {
    assert.deepEqual(alignApplied(rows, []), rows);
  });
});
