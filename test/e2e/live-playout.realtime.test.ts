import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { liveRun } from '../../bench/live/run.ts';

/**
 * The short form of `npm run bench -- live`, for any machine: what a busy machine adds is in the arrivals and in the
 * instants both, so live and replay are compared on the same arrivals, and the bounds are wide.
 */
describe('playout, live, two processes over a recorded Wi-Fi link', () => {
  it('does what the replay says', async (context) => {
    const { commands, live, replayed, replayedNone, tracking } = await liveRun('wifi_tuned', 'adaptive', 30);
    context.diagnostic(`live ${JSON.stringify(live)}`);
    context.diagnostic(`replay ${JSON.stringify(replayed)}, none ${replayedNone.badWindows} bad`);
    context.diagnostic(`tracking ${JSON.stringify(tracking)}`);
    assert.ok(commands > 2500, `${commands} commands`);
    assert.equal(live.impossible, 0);
    assert.ok(Math.abs(live.meanMs - replayed.meanMs) < 6, `${live.meanMs} and ${replayed.meanMs} ms`);
    assert.ok(live.p50Ms > replayedNone.p50Ms + 3, 'it holds commands back');
    assert.ok(tracking.windows > 15);
  });
});
