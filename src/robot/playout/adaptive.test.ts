import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { parsePrior } from './adaptive/prior.ts';
import { AdaptivePolicy } from './adaptive.ts';
import type { PlayoutPolicy } from './playout-policy.ts';

const MS = 1e6;
const S = 1e9;
const HZ_100 = 10 * MS;

interface Sent {
  /** True send time. */
  sentNs: number;
  /** Relative to the true send time. */
  delayMs: number;
  /** How far the stamp is ahead of true time. */
  clockMs?: number;
  epoch?: number;
}

interface Played extends Sent {
  /** Effective delay in true time: due or arrival, whichever is later, minus send. */
  latencyMs: number;
  /** Due time minus the true send time. */
  dueMs: number;
  lateMs: number;
}

/** Delivers one command. */
function play(policy: PlayoutPolicy, sent: Sent): Played {
  const { sentNs, delayMs, clockMs = 0, epoch } = sent;
  const receivedNs = sentNs + delayMs * MS;
  const dueNs = policy.schedule(sentNs + clockMs * MS, receivedNs, epoch);
  const dueMs = (dueNs - sentNs) / MS;
  return { ...sent, dueMs, latencyMs: Math.max(dueMs, delayMs), lateMs: Math.max(0, delayMs - dueMs) };
}

/** Delivers `count` commands in order of arrival; `shape` gives the fate of each, null if lost. */
function stream(
  policy: PlayoutPolicy,
  count: number,
  shape: (i: number) => Omit<Sent, 'sentNs'> | null,
  { fromNs = S, periodNs = HZ_100, inOrder = true } = {},
): Played[] {
  const sent: Sent[] = [];
  const arrivedNs = ({ sentNs, delayMs }: Sent) => sentNs + delayMs * MS;
  let lastNs = 0;
  for (let i = 0; i < count; i++) {
    const what = shape(i);
    if (what === null) continue;
    const one: Sent = { sentNs: fromNs + i * periodNs + noise(i * 3) * 0.2 * MS, ...what };
    if (inOrder) one.delayMs = Math.max(one.delayMs, (lastNs - one.sentNs) / MS + 0.1);
    lastNs = arrivedNs(one);
    sent.push(one);
  }
  const played = new Map<Sent, Played>();
  for (const one of sent.toSorted((a, b) => arrivedNs(a) - arrivedNs(b))) played.set(one, play(policy, one));
  return sent.map((one) => played.get(one)!);
}

/** Small repeatable jitter, 0 … 1. */
const noise = (i: number): number => ((i * 7919) % 101) / 101;
const quiet = (i: number) => ({ delayMs: 2 + 0.4 * noise(i) });

/** Every `every` commands the link stalls for `blockMs`, then delivers what was waiting. */
const blocks = (every: number, blockMs: number) => (i: number) => {
  const sinceMs = (i % every) * 10;
  return { delayMs: Math.max(2 + 0.4 * noise(i), blockMs - sinceMs) };
};

/** Largest number of commands later than 10 ms in any hundred. */
function worstSecond(played: readonly Played[]): number {
  let worst = 0;
  for (let i = 0; i + 100 <= played.length; i++)
    worst = Math.max(worst, played.slice(i, i + 100).filter(({ lateMs }) => lateMs > 10).length);
  return worst;
}

describe('adaptive playout', () => {
  it('adds almost no delay on a quiet link', () => {
    const played = stream(new AdaptivePolicy(), 12_000, quiet);
    for (const { latencyMs } of played.slice(-1000)) assert.ok(latencyMs < 3, `${latencyMs}`);
  });

  it('does not depend on the clock offset', () => {
    const shape = blocks(400, 70);
    const plain = stream(new AdaptivePolicy(), 3000, shape);
    for (const clockMs of [-1000, 250, 3_600_000]) {
      const shifted = stream(new AdaptivePolicy(), 3000, (i) => ({ ...shape(i), clockMs }));
      shifted.forEach(({ dueMs }, i) => {
        assert.ok(Math.abs(dueMs - plain[i]!.dueMs) < 0.001, `${dueMs} at ${i}`);
      });
    }
  });

  it('keeps the delay that the sixth longest wait of a second needs, and no more', () => {
    const policy = new AdaptivePolicy();
    const played = stream(policy, 30_000, blocks(500, 100));
    // 100 90 80 70 60 50 40 …: with 10 % slowdown, at about 45 ms only four are late by more than 9 ms.
    const needMs = policy.needNs / MS;
    assert.ok(needMs > 35 && needMs < 62, `${needMs}`);
    assert.ok(worstSecond(played.slice(1000)) <= 5);
  });

  it('adds no delay for a few single stragglers', () => {
    const policy = new AdaptivePolicy();
    stream(policy, 20_000, (i) => ({ delayMs: i % 25 === 3 ? 9 + (i % 40) : 5 + noise(i) }), {
      inOrder: false,
    });
    assert.ok(policy.needNs < 8 * MS, `${policy.needNs}`);
  });

  it('follows a queue that builds up and drains', () => {
    const policy = new AdaptivePolicy();
    const played = stream(policy, 12_000, (i) => ({ delayMs: 5 + 50 * (1 - Math.cos(i / 250)) + noise(i) }));
    assert.equal(worstSecond(played.slice(1000)), 0);
    const aboveMs = played.slice(9000).map(({ latencyMs, delayMs }) => latencyMs - delayMs);
    assert.ok(aboveMs.reduce((sum, ms) => sum + ms, 0) / aboveMs.length < 8);
  });

  it('moves by time warp only', () => {
    const hectic = (i: number) => ({ delayMs: blocks(137, 90)(i).delayMs + (Math.floor(i / 900) % 2) * 40 });
    for (const preset of ['smooth', 'balanced', 'fast'] as const) {
      const played = stream(new AdaptivePolicy({ preset }), 10_000, hectic);
      for (let i = 1; i < played.length; i++) {
        const stepMs = played[i]!.dueMs - played[i - 1]!.dueMs;
        assert.ok(stepMs <= 1.021 && stepMs >= -0.511, `${stepMs} at ${i}`);
      }
    }
  });

  it('does not jump after a silence', () => {
    const policy = new AdaptivePolicy();
    const before = stream(policy, 3000, blocks(300, 80));
    const after = stream(policy, 100, (i) => ({ delayMs: 60 + noise(i) }), { fromNs: 3600 * S });
    assert.ok(after[0]!.dueMs - before[before.length - 1]!.dueMs < 10.001);
  });

  it('forgets needs that do not recur', () => {
    const policy = new AdaptivePolicy({ memoryS: 60 });
    stream(policy, 3000, blocks(500, 100));
    assert.ok(policy.needNs > 30 * MS);
    const played = stream(policy, 9000, quiet, { fromNs: 40 * S });
    assert.ok(policy.needNs < 2 * MS, `${policy.needNs}`);
    assert.ok(played[played.length - 1]!.latencyMs < 4);
  });

  it('never holds more than its cap', () => {
    const policy = new AdaptivePolicy({ capMs: 40 });
    const played = stream(policy, 10_000, (i) => blocks(500, i < 5000 ? 90 : 140)(i + 250));
    for (const { dueMs } of played) assert.ok(dueMs <= 2.5 + 40.001, `${dueMs}`);
  });

  it('finds the same need at any command rate', () => {
    const needMs = (hz: number) => {
      const policy = new AdaptivePolicy();
      const periodMs = 1000 / hz;
      const every = 5 * hz;
      const shape = (i: number) => ({ delayMs: Math.max(2 + 0.4 * noise(i), 100 - (i % every) * periodMs) });
      stream(policy, 120 * hz, shape, { periodNs: periodMs * MS });
      return policy.needNs / MS;
    };
    const at100 = needMs(100);
    for (const hz of [50, 200, 500]) assert.ok(Math.abs(needMs(hz) - at100) < 15, `${hz} Hz: ${needMs(hz)}`);
  });

  it('learns a new rate', () => {
    const policy = new AdaptivePolicy();
    stream(policy, 2000, quiet);
    const shape = (i: number) => ({ delayMs: Math.max(2 + 0.4 * noise(i), 100 - (i % 100) * 20) });
    const played = stream(policy, 10_000, shape, { fromNs: 30 * S, periodNs: 20 * MS });
    assert.ok(worstSecond(played.slice(2000)) <= 4);
  });
});

describe('holes and losses', () => {
  it('adds no delay after a hole', () => {
    const policy = new AdaptivePolicy();
    stream(policy, 10_000, quiet);
    const hole = (i: number) => {
      if (i >= 100 && i < 112) return null;
      return { delayMs: Math.max(2, i < 112 ? 2 : 300 - (i - 100) * 10) };
    };
    const played = stream(policy, 400, hole, { fromNs: 200 * S });
    for (const { dueMs } of played.slice(-150)) assert.ok(dueMs < 4, `${dueMs}`);
  });

  it('adds no delay for a stall that no permitted delay would have covered', () => {
    const policy = new AdaptivePolicy();
    stream(policy, 10_000, quiet);
    const played = stream(
      policy,
      500,
      (i) => ({ delayMs: Math.max(2, i < 100 ? 2 : 400 - (i - 100) * 10) }),
      {
        fromNs: 200 * S,
      },
    );
    for (const { dueMs } of played.slice(-200)) assert.ok(dueMs < 4, `${dueMs}`);
  });

  it('does not answer loss with delay', () => {
    const policy = new AdaptivePolicy();
    stream(policy, 20_000, (i) => (i % 40 === 7 ? null : quiet(i)));
    assert.ok(policy.needNs < 2 * MS, `${policy.needNs}`);
  });

  it('learns nothing from duplicates or overtaken commands', () => {
    const policy = new AdaptivePolicy();
    for (let i = 0; i < 20_000; i++) {
      const sentNs = S + i * HZ_100;
      play(policy, { sentNs, ...quiet(i) });
      if (i % 10 === 0 && i > 30) play(policy, { sentNs: sentNs - 30 * MS, delayMs: 38 });
    }
    assert.ok(policy.needNs < 2 * MS, `${policy.needNs}`);
  });

  it('needs no more delay for a stall whose commands arrive out of order', () => {
    const needNs = (inOrder: boolean) => {
      const policy = new AdaptivePolicy();
      stream(policy, 20_000, blocks(500, 100), { inOrder });
      return policy.needNs;
    };
    assert.ok(Math.abs(needNs(false) - needNs(true)) < 20 * MS, `${needNs(false)} ${needNs(true)}`);
  });

  it('sees repaired commands as arrivals of the packet that brought them', () => {
    const policy = new AdaptivePolicy();
    // Every three seconds five consecutive commands are lost and arrive with the sixth packet.
    const shape = (i: number) => ({ delayMs: (i % 300 < 5 ? (5 - (i % 300)) * 10 : 0) + 2 + 0.4 * noise(i) });
    const played = stream(policy, 12_000, shape);
    assert.ok(worstSecond(played.slice(1000)) <= 5);
  });

  it('slows down while a burst is repaired and gives the delay back at once', () => {
    const policy = new AdaptivePolicy({ repairMs: 0 });
    stream(policy, 10_000, quiet);
    const [fromNs, lost] = [200 * S, 7];
    const delayMs = (sentNs: number, receivedNs: number, isRepeated: boolean) =>
      (policy.schedule(sentNs, receivedNs, undefined, isRepeated) - sentNs) / MS;
    const beforeMs = delayMs(fromNs, fromNs + 2 * MS, false);
    const arrivedNs = fromNs + (lost + 1) * HZ_100 + 2 * MS;
    for (let i = 1; i <= lost; i++) {
      const grownMs = delayMs(fromNs + i * HZ_100, arrivedNs, true) - beforeMs;
      assert.ok(grownMs > 0.9 * i && grownMs < 1.021 * i, `${grownMs} after ${i}`);
    }
    let leftMs = Number.NaN;
    for (let i = lost + 1; i < lost + 26; i++) {
      const sentNs = fromNs + i * HZ_100;
      leftMs = delayMs(sentNs, sentNs + 2 * MS, false) - beforeMs;
    }
    assert.ok(Math.abs(leftMs) < 0.5, `${leftMs}`);
  });
});

describe('the clock relation', () => {
  /** Largest change of the due time in true time from one command to the next, around the step. */
  const feltMs = (played: readonly Played[], at: number) => {
    let felt = 0;
    for (let i = at - 5; i < at + 300; i++)
      felt = Math.max(felt, Math.abs(played[i]!.dueMs - played[i - 1]!.dueMs));
    return felt;
  };

  for (const stepMs of [5, 15, -15, 20, -20, 40, -60, 1000, -1000])
    it(`hides a step of ${stepMs} ms`, () => {
      const shape = (i: number) => ({ ...blocks(700, 60)(i + 300), clockMs: i < 5000 ? 0 : stepMs });
      const played = stream(new AdaptivePolicy(), 6000, shape);
      const stillMs = Math.abs(stepMs) <= 8 ? 8 : 2;
      assert.ok(feltMs(played, 5000) < stillMs, `${feltMs(played, 5000)}`);
      assert.ok(worstSecond(played.slice(4000)) <= 5);
    });

  it('trusts a step that the peer announces, even in a stall', () => {
    for (const stepMs of [-33, 12, 500]) {
      const shape = (i: number) => ({
        ...blocks(700, 60)(i),
        clockMs: i < 4902 ? 0 : stepMs,
        epoch: i < 4902 ? 1 : 2,
      });
      const played = stream(new AdaptivePolicy(), 6000, shape);
      assert.ok(feltMs(played, 4902) < 2, `${stepMs}: ${feltMs(played, 4902)}`);
    }
  });

  it('does not mistake a route change for a step', () => {
    const played = stream(new AdaptivePolicy(), 6000, (i) => ({
      delayMs: (i < 3000 ? 30 : 45) + noise(i) - (i > 4500 ? 10 : 0),
    }));
    assert.ok(feltMs(played, 3000) < 1.03 && feltMs(played, 4501) < 1.03);
  });

  it('follows drift', () => {
    for (const ppm of [-100, 100]) {
      const played = stream(new AdaptivePolicy(), 30_000, (i) => ({
        ...quiet(i),
        clockMs: i * 0.01 * ppm * 1e-3,
      }));
      for (const { latencyMs } of played.slice(-3000)) assert.ok(latencyMs < 4, `${latencyMs}`);
    }
  });

  it('counts from arrival until the clocks are synchronized', () => {
    const policy = new AdaptivePolicy();
    for (let i = 0; i < 20; i++) {
      const receivedNs = S + i * HZ_100;
      assert.equal(policy.schedule(Number.NaN, receivedNs), receivedNs + policy.needNs);
    }
    const dueNs = policy.schedule(2 * S, 2 * S + 3 * MS);
    assert.ok(dueNs >= 2 * S + 3 * MS && dueNs <= 2 * S + 3 * MS + policy.needNs + 1);
  });

  it('ignores one very old command, and follows a peer whose clock stepped back', () => {
    const policy = new AdaptivePolicy();
    stream(policy, 3000, quiet);
    const playedMs = policy.delayNs / MS;
    play(policy, { sentNs: 20 * S, delayMs: 11_000 });
    const [next] = stream(policy, 1, quiet, { fromNs: 31.01 * S });
    assert.ok(Math.abs(next!.dueMs - playedMs) < 1.5, `${next!.dueMs} after ${playedMs}`);
    const back = stream(policy, 1000, (i) => ({ ...quiet(i), clockMs: -20_000 }), { fromNs: 40 * S });
    for (const { dueMs } of back.slice(100)) assert.ok(dueMs > 2 && dueMs < 60, `${dueMs}`);
  });

  it('restarts with a new peer and keeps what it knows about the network', () => {
    const policy = new AdaptivePolicy();
    stream(policy, 6000, blocks(500, 100));
    const knownNs = policy.needNs;
    policy.restart();
    const [first] = stream(policy, 1, () => ({ delayMs: 4, clockMs: -77 }), { fromNs: 70 * S });
    assert.ok(Math.abs(first!.dueMs - 4 - knownNs / MS) < 0.01);
  });
});

describe('the prior', () => {
  it('carries what a session learnt into the next', () => {
    const first = new AdaptivePolicy();
    stream(first, 20_000, blocks(500, 100));
    const prior = parsePrior(JSON.parse(JSON.stringify(first.exportPrior())));
    assert.ok(prior !== null);
    const second = new AdaptivePolicy({ prior });
    assert.ok(Math.abs(second.needNs - first.needNs) < 4 * MS, `${second.needNs} ${first.needNs}`);
    const played = stream(second, 3000, (i) => blocks(500, 100)(i + 250));
    assert.ok(worstSecond(played) <= 5);
  });

  it('adds no delay on a link known to be quiet', () => {
    const first = new AdaptivePolicy();
    stream(first, 20_000, quiet);
    const played = stream(new AdaptivePolicy({ prior: first.exportPrior() }), 1000, quiet);
    for (const { latencyMs } of played) assert.ok(latencyMs < 3, `${latencyMs}`);
  });

  it('rejects an invalid value', () => {
    for (const value of [
      null,
      7,
      {},
      { version: 2, needsMs: [], usualMs: 0 },
      { version: 1, needsMs: [-1], usualMs: 0 },
      { version: 1, needsMs: [Number.NaN], usualMs: 0 },
      { version: 1, needsMs: ['9'], usualMs: 0 },
      { version: 1, needsMs: Array(99).fill(1), usualMs: 0 },
      { version: 1, needsMs: [1] },
    ])
      assert.equal(parsePrior(value), null, JSON.stringify(value));
    assert.deepEqual(parsePrior({ version: 1, needsMs: [3, 9], usualMs: 1, more: 2 }), {
      version: 1,
      needsMs: [9, 3],
      usualMs: 1,
    });
  });
});
