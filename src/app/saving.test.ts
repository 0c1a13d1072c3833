import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type SavingParts, STUCK_S, savedWhileMoving } from './saving.ts';

/** A disk in simulated time: `progressAt` gives its progress, `doneS` the time when the file is saved. */
async function save(progressAt: (nowS: number) => number, doneS: number) {
  let nowS = 0;
  let finish = () => {};
  const saved = new Promise<void>((resolve) => {
    finish = resolve;
  });
  const said: string[] = [];
  const parts: SavingParts = {
    progress: () => progressAt(nowS),
    sizeBytes: () => 900e6,
    nowS: () => nowS,
    async pause() {
      nowS += 0.25;
      if (nowS >= doneS) finish();
    },
    say: (text) => said.push(text),
  };
  const isSaved = await savedWhileMoving(saved, 'recordings/x.mcap.part', parts);
  return { isSaved, said, tookS: nowS };
}

describe('saving a file', () => {
  it('prints nothing when it is quick', async () => {
    assert.deepEqual(await save(() => 0, 0.5), { isSaved: true, said: [], tookS: 0.5 });
  });

  it('waits as long as there is progress, with a line every two seconds', async () => {
    const { isSaved, said, tookS } = await save((nowS) => Math.floor(nowS / (STUCK_S - 1)), 600);
    assert.deepEqual([isSaved, tookS], [true, 600]);
    assert.equal(said.length, 300);
    assert.equal(said[0], 'saving recordings/x.mcap.part: 900.0 MB, for 1 s');
  });

  it('gives up after 30 s without progress', async () => {
    const { isSaved, tookS } = await save((nowS) => Math.min(nowS, 40), Number.POSITIVE_INFINITY);
    assert.equal(isSaved, false);
    assert.ok(tookS >= 40 + STUCK_S && tookS < 42 + STUCK_S, `${tookS}`);
  });
});
