import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { type LeaseEntry, LeaseGuard } from './lease-guard.ts';
import { LeaseKeeper } from './lease-keeper.ts';
import { LEASE_GRACE_MS, LEASE_POLL_MS } from './subjects.ts';

const S = 1e9;
const TIMES = { graceNs: 1 * S, pollNs: 0.4 * S };
const KEEP = { ttlNs: 3 * S, renewNs: 0.5 * S };

describe('the robot’s check of a lease', () => {
  it('lets only the holder command, until the robot’s own deadline', () => {
    const guard = new LeaseGuard(TIMES);
    assert.equal(guard.refusal('a', 7, 0), 'no-lease');
    guard.answered(0, { holder: 'a', revision: 7 });
    assert.equal(guard.refusal('a', 7, 0.9 * S), null);
    assert.equal(guard.refusal('b', 8, 0.5 * S), 'not-holder');
    assert.equal(guard.refusal('a', 6, 0.5 * S), 'old-token');
    assert.equal(guard.refusal('a', 7, 1 * S), 'lease-expired');
  });

  it('counts an answer from when the request was sent', () => {
    const guard = new LeaseGuard(TIMES);
    guard.answered(2 * S, { holder: 'a', revision: 7 });
    guard.answered(1 * S, { holder: 'a', revision: 7 });
    assert.equal(guard.deadlineNs, 3 * S);
  });

  it('never returns to an older lease', () => {
    const guard = new LeaseGuard(TIMES);
    guard.answered(0, { holder: 'b', revision: 12 });
    guard.answered(0.1 * S, { holder: 'a', revision: 10 });
    assert.equal(guard.holder, 'b');
    guard.received({ holder: 'a', revision: 11 }, 11);
    assert.equal(guard.holder, 'b');
  });

  it('lets an unsolicited message end a lease, but not begin or prolong one', () => {
    const guard = new LeaseGuard(TIMES);
    guard.received({ holder: 'a', revision: 3 }, 3);
    assert.equal(guard.refusal('a', 3, 0), 'no-lease');
    guard.answered(0, { holder: 'a', revision: 3 });
    guard.received({ holder: 'a', revision: 4 }, 4);
    assert.equal(guard.deadlineNs, 1 * S);
    guard.received(null, 5);
    assert.equal(guard.refusal('a', 4, 0), 'no-lease');
  });
});

describe('the operator’s side of a lease', () => {
  it('is held from the grant until the store may have dropped it', () => {
    const keeper = new LeaseKeeper('a', KEEP);
    assert.equal(keeper.isHeld(0), false);
    keeper.granted(1 * S, 5);
    assert.equal(keeper.isHeld(3.9 * S), true);
    assert.equal(keeper.isHeld(4 * S), false);
    keeper.granted(4.1 * S, 6);
    assert.equal(keeper.isHeld(4.2 * S), false, 'a lost lease stays lost');
  });
});

/** The times that robots use. */
const IN_FORCE = { graceNs: LEASE_GRACE_MS * 1e6, pollNs: LEASE_POLL_MS * 1e6 };

/** The store, in true time: drops entries `ttlNs` after their last renewal. */
class Store {
  entry: (LeaseEntry & { writtenNs: number }) | null = null;
  revision = 0;
  /** Every interval of true time in which a holder's entry existed. */
  readonly history: { holder: string; fromNs: number; toNs: number }[] = [];

  #expire(nowNs: number): void {
    if (this.entry && nowNs >= this.entry.writtenNs + KEEP.ttlNs) this.entry = null;
  }

  #write(holder: string, nowNs: number): number {
    const toNs = nowNs + KEEP.ttlNs;
    const last = this.history.at(-1);
    if (last && last.holder === holder && this.entry) last.toNs = toNs;
    else this.history.push({ holder, fromNs: nowNs, toNs });
    this.entry = { holder, revision: ++this.revision, writtenNs: nowNs };
    return this.revision;
  }

  create(holder: string, nowNs: number): number | null {
    this.#expire(nowNs);
    return this.entry ? null : this.#write(holder, nowNs);
  }

  update(holder: string, revision: number, nowNs: number): number | null {
    this.#expire(nowNs);
    return this.entry?.revision === revision ? this.#write(holder, nowNs) : null;
  }

  remove(holder: string, nowNs: number): void {
    this.#expire(nowNs);
    if (this.entry?.holder !== holder) return;
    this.history.at(-1)!.toNs = nowNs;
    this.entry = null;
    this.revision++;
  }

  get(nowNs: number): LeaseEntry | null {
    this.#expire(nowNs);
    return this.entry && { holder: this.entry.holder, revision: this.entry.revision };
  }

  /** How long before `atNs` the holder's entry last existed; 0 while it does. */
  goneForNs(holder: string, atNs: number): number {
    let gone = Number.POSITIVE_INFINITY;
    for (const interval of this.history)
      if (interval.holder === holder && interval.fromNs <= atNs)
        gone = Math.min(gone, Math.max(0, atNs - interval.toNs));
    return gone;
  }
}

interface Plan {
  /** Clock rates of robot and two operators against true time. */
  rates: number[];
  /** Per tick of 50 ms: who is cut off from the store (bits), who restarts, who releases. */
  ticks: { cut: number; restart: number; release: number; delayMs: number }[];
}

const plans: fc.Arbitrary<Plan> = fc.record({
  rates: fc.array(fc.double({ min: 0.98, max: 1.02, noNaN: true }), { minLength: 3, maxLength: 3 }),
  ticks: fc.array(
    fc.record({
      cut: fc.oneof(
        { weight: 4, arbitrary: fc.constant(0) },
        { weight: 1, arbitrary: fc.integer({ min: 0, max: 7 }) },
      ),
      restart: fc.oneof(
        { weight: 30, arbitrary: fc.constant(-1) },
        { weight: 1, arbitrary: fc.integer({ min: 0, max: 2 }) },
      ),
      release: fc.oneof(
        { weight: 30, arbitrary: fc.constant(-1) },
        { weight: 1, arbitrary: fc.integer({ min: 0, max: 1 }) },
      ),
      delayMs: fc.integer({ min: 0, max: 900 }),
    }),
    { minLength: 50, maxLength: 300 },
  ),
});

/** Two operators and a robot on one store, each with its own clock; answers are delayed as planned. */
function play(plan: Plan): { accepted: { holder: string; atNs: number }[]; store: Store } {
  const store = new Store();
  const accepted: { holder: string; atNs: number }[] = [];
  const later: { atNs: number; run: () => void }[] = [];
  let names = 0;
  const everyKeeper: LeaseKeeper[] = [];
  const keeper = () => {
    const times = { ttlNs: KEEP.ttlNs * 0.9, renewNs: KEEP.renewNs };
    everyKeeper.push(new LeaseKeeper(`holder-${names++}`, times));
    return everyKeeper.at(-1)!;
  };
  const keepers = [keeper(), keeper()];
  let guard = new LeaseGuard(IN_FORCE);
  let boot = 0;
  let cut = 0;
  plan.ticks.forEach((tick, n) => {
    const trueNs = n * 0.05 * S;
    const at = (who: number) => trueNs * plan.rates[who]!;
    // A cut lasts for several ticks.
    if (n % 7 === 0) cut = tick.cut;
    if (tick.restart === 0) {
      guard = new LeaseGuard(IN_FORCE);
      boot++;
    } else if (tick.restart > 0) keepers[tick.restart - 1] = keeper();
    for (const due of later.splice(0, later.length)) {
      if (due.atNs <= trueNs) due.run();
      else later.push(due);
    }
    const answer = (run: () => void) => later.push({ atNs: trueNs + tick.delayMs * 1e6, run });
    keepers.forEach((mine, i) => {
      const nowNs = at(1 + i);
      if (tick.release === i && mine.isHeld(nowNs) && !(cut & (2 << i))) {
        store.remove(mine.holder, trueNs);
        mine.refused();
      }
      if (!mine.isHeld(nowNs) && mine.isLost) keepers[i] = keeper();
      if (mine.renewDue(nowNs) && !(cut & (2 << i))) {
        const revision =
          mine.revision === 0
            ? store.create(mine.holder, trueNs)
            : store.update(mine.holder, mine.revision, trueNs);
        answer(() => (revision === null ? mine.refused() : mine.granted(nowNs, revision)));
      }
    });
    // The worst possible operators: none ever stops sending, even after losing its lease.
    for (const { holder, revision } of everyKeeper)
      if (revision > 0 && guard.refusal(holder, revision, at(0)) === null)
        accepted.push({ holder, atNs: trueNs });
    if (guard.poll(at(0)) && !(cut & 1)) {
      const [entry, askedNs, asked] = [store.get(trueNs), at(0), boot];
      answer(() => asked === boot && guard.answered(askedNs, entry));
    }
  });
  return { accepted, store };
}

describe('leases under partitions, restarts, slow answers and clock drift', () => {
  it('never let two operators command, nor one whose lease ended longer ago than the grace', () => {
    let commands = 0;
    let handovers = 0;
    fc.assert(
      fc.property(plans, (plan) => {
        const { accepted, store } = play(plan);
        commands += accepted.length;
        for (let i = 0; i < accepted.length; i++) {
          const { holder, atNs } = accepted[i]!;
          // The robot's grace on the slowest clock, and one tick of the simulation.
          const mostNs = IN_FORCE.graceNs / 0.98 + 0.05 * S;
          assert.ok(
            store.goneForNs(holder, atNs) <= mostNs,
            `${holder} gone for ${store.goneForNs(holder, atNs)}`,
          );
          const before = accepted[i - 1];
          if (!before || before.holder === holder) continue;
          handovers++;
          assert.notEqual(before.atNs, atNs, 'two at once');
          assert.ok(
            !accepted.slice(i).some((other) => other.holder === before.holder),
            'a former holder commanded again',
          );
        }
      }),
      { numRuns: 400 },
    );
    assert.ok(commands > 1000, `${commands} commands: the simulation lets operators work`);
    assert.ok(handovers > 20, `${handovers} hand-overs`);
  });
});
