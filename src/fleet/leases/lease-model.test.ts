import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { ANNOUNCED, type Grant } from './grant.ts';
import { announced, type GuardState, newGuard, presented, refusalOf, withNonce } from './grant-guard.ts';
import { decide, isHeld, type LeaseEntry, type LeaseRequest, VACANT_MS } from './lease-rules.ts';

/**
 * Walks through every state of a small world in which the lease service and the robot run their real rules:
 * two operators that present any grant they ever got, at any time; one robot; two services whose clocks
 * differ by a tick; a broker that fails and recovers at any point; one loss of the bucket; one lease taken
 * away. The bucket accepts one write at a time.
 */

/** A tick is the time after which a silent holder has left. */
const TICK_MS = VACANT_MS;
/** The robot's term, in ticks. */
const TERM_TICKS = Number(process.env['FARHAND_MODEL_TERM'] ?? 1);
const TERM_NS = TERM_TICKS * TICK_MS * 1e6;
const SKEWS_MS = [0, TICK_MS] as const;
const OPERATORS: readonly string[] = ['ann', 'bob'];
/** How long the world lasts. More take long: `FARHAND_MODEL_TICKS=4 node --test …/lease-model.test.js`. */
const TICKS = Number(process.env['FARHAND_MODEL_TICKS'] ?? 2);
/** Grants that an operator keeps, and how often it may take the lease. */
const [MOST_GRANTS, MOST_TAKES] = [2, 2];

interface World {
  tick: number;
  isUp: boolean;
  isLost: boolean;
  isTakenAway: boolean;
  robot: GuardState;
  entry: LeaseEntry | null;
  grants: readonly (readonly Grant[])[];
  takes: readonly number[];
  /** When a service last signed a grant of each operator. */
  signed: readonly number[];
}

/** The rules of the product; a mutant replaces one of them. */
interface Rules {
  decide: typeof decide;
  presented: typeof presented;
  announced: typeof announced;
  withNonce: typeof withNonce;
  /** Whether the robot raises the token of a store that lost it. */
  raises: boolean;
}
const RULES: Rules = { decide, presented, announced, withNonce, raises: true };

const START: World = {
  ...{ tick: 0, isUp: true, isLost: false, isTakenAway: false, entry: null },
  robot: withNonce(newGuard(), 'n0', 0, TERM_NS),
  ...{ grants: [[], []], takes: [0, 0], signed: [-9, -9] },
};

const nsAt = (tick: number): number => tick * TICK_MS * 1e6;
/** Wall clocks begin long after the epoch, like real ones. */
const msAt = (tick: number, skewMs: number): number => 1e12 + tick * TICK_MS + skewMs;
/** Which operator the robot obeys; −1: none. */
function obeyed({ robot, tick }: World): number {
  if (robot.user === '' || refusalOf(robot, robot.key, robot.high, nsAt(tick)) !== null) return -1;
  return OPERATORS.indexOf(robot.user);
}

function request(world: World, rules: Rules, operator: number, asked: LeaseRequest, skewMs: number) {
  const nowMs = msAt(world.tick, skewMs);
  const decision = rules.decide(world.entry, asked, nowMs, 0);
  if (decision.kind !== 'write') return null;
  const { entry } = decision;
  const signed = world.signed.map((at, i) => (i === operator ? world.tick : at));
  return { world: { ...world, entry, signed }, entry };
}

const grantOf = ({ user, key, token }: LeaseEntry, nonce: string): Grant => ({
  ...{ robot: 'arm', user, key, token, nonce, termMs: TERM_TICKS * TICK_MS },
});

const keeping = (world: World, operator: number, grant: Grant): World => ({
  ...world,
  grants: world.grants.map((held, i) => (i === operator ? [...held, grant] : held)),
});

type Move = [label: string, world: World];

function* fromOperator(world: World, rules: Rules, operator: number): Generator<Move> {
  const user = OPERATORS[operator]!;
  const held = world.grants[operator]!;
  if (world.isUp && held.length < MOST_GRANTS)
    for (const skewMs of SKEWS_MS)
      for (const { nonce } of world.robot.nonces) {
        const taken = world.takes[operator]!;
        const take: LeaseRequest = { verb: 'take', user, key: `${user}-${taken}` };
        const got = taken < MOST_TAKES ? request(world, rules, operator, take, skewMs) : null;
        if (got !== null) {
          const takes = world.takes.map((count, i) => (i === operator ? count + 1 : count));
          yield [`${user} takes`, keeping({ ...got.world, takes }, operator, grantOf(got.entry, nonce))];
        }
        for (const token of new Set(held.map((grant) => grant.token))) {
          const again = request(world, rules, operator, { verb: 'renew', user, token }, skewMs);
          const grant = again && grantOf(again.entry, nonce);
          if (again && !held.some((each) => each.token === grant!.token && each.nonce === nonce))
            yield [`${user} renews`, keeping(again.world, operator, grant!)];
        }
      }
  for (const grant of held) {
    const { state, refusal } = rules.presented(world.robot, grant, nsAt(world.tick), TERM_NS);
    if (refusal === null) yield [`${user} presents ${grant.token}`, { ...world, robot: state }];
  }
}

function* moves(world: World, rules: Rules, end: number): Generator<Move> {
  const { robot, tick, isUp, entry } = world;
  if (tick < end) yield ['tick', { ...world, tick: tick + 1 }];
  yield [isUp ? 'broker down' : 'broker up', { ...world, isUp: !isUp }];
  if (!world.isLost) yield ['bucket lost', { ...world, isLost: true, entry: null }];
  if (robot.nonces.at(-1)?.nonce !== `n${tick}`)
    yield ['nonce', { ...world, robot: rules.withNonce(robot, `n${tick}`, nsAt(tick), TERM_NS) }];
  for (const operator of OPERATORS.keys()) yield* fromOperator(world, rules, operator);
  if (!isUp) return;
  if (rules.raises && robot.high > 0) {
    const raise: LeaseRequest = { verb: 'keep', user: 'arm', token: 0, seen: robot.high };
    const raised = request(world, rules, -1, raise, 0);
    if (raised !== null) yield ['robot raises', raised.world];
  }
  if (entry !== null && entry.user !== '' && !world.isTakenAway) {
    const away = request(world, rules, -1, { verb: 'away', user: 'boss' }, 0);
    if (away !== null) {
      const after = rules.announced(robot, grantOf(away.entry, ANNOUNCED));
      yield ['taken away', { ...away.world, robot: after, isTakenAway: true }];
    }
  }
}

/** Forgets what can never matter again, so that fewer states differ. */
function tidy(world: World): World {
  const { tick, robot } = world;
  const isYoung = (nonce: string) => tick - Number(nonce.slice(1)) < TERM_TICKS;
  const useful = (grant: Grant) => isYoung(grant.nonce) && grant.token >= robot.high;
  const order = (a: Grant, b: Grant) => a.token - b.token || a.nonce.localeCompare(b.nonce);
  return {
    ...world,
    robot: obeyed(world) < 0 ? { ...robot, user: '', untilNs: -1 } : robot,
    grants: world.grants.map((held) => held.filter(useful).sort(order)),
    signed: world.signed.map((at) => Math.max(at, tick - TERM_TICKS - 1)),
  };
}

function broken(before: World, after: World): string | null {
  const [was, is] = [obeyed(before), obeyed(after)];
  if (is < 0) return null;
  if (after.robot.high < before.robot.high) return 'an older token is obeyed';
  if (was >= 0 && is !== was && after.robot.high <= before.robot.high)
    return 'the holder changed without a higher token';
  if (after.tick - after.signed[is]! >= TERM_TICKS)
    return 'obeyed for longer than the term after the last signature';
  return null;
}

/** Whether somebody can be let in some ticks later, with the broker up. */
function isStuck(world: World, rules: Rules): boolean {
  if (!world.isUp) return false;
  const later = world.tick + TERM_TICKS + 2;
  const nonce = `n${later}`;
  let now: World = {
    ...world,
    tick: later,
    robot: rules.withNonce(world.robot, nonce, nsAt(later), TERM_NS),
  };
  if (rules.raises && now.robot.high > 0) {
    const raise: LeaseRequest = { verb: 'keep', user: 'arm', token: 0, seen: now.robot.high };
    now = request(now, rules, -1, raise, 0)?.world ?? now;
  }
  const got = request(now, rules, 0, { verb: 'take', user: 'ann', key: 'new' }, 0);
  if (got === null) return true;
  return rules.presented(now.robot, grantOf(got.entry, nonce), nsAt(later), TERM_NS).refusal !== null;
}

interface Walk {
  states: number;
  steps: number;
  /** The first broken law, and how it came about. */
  broken: string | null;
}

interface Reached {
  world: World;
  label: string;
  from: Reached | null;
}

const courseOf = (reached: Reached): string =>
  reached.from === null ? '' : `${courseOf(reached.from)}, ${reached.label}`;

const keyOf = (world: World): string => {
  const { robot, entry, grants, tick, isUp, isLost, isTakenAway, takes, signed } = world;
  const held = grants
    .map((each) => each.map(({ key, token, nonce }) => `${key}${token}${nonce}`).join())
    .join('/');
  const nonces = robot.nonces.map(({ nonce }) => nonce).join();
  const lease = entry === null ? '' : `${entry.key}${entry.token}:${entry.atMs}`;
  return `${tick}${isUp}${isLost}${isTakenAway}|${robot.high}${robot.key}${robot.user}${robot.untilNs}${nonces}|${lease}|${held}|${takes}|${signed}`;
};

function walk(rules: Rules, end: number, forget = tidy): Walk {
  const seen = new Set<string>();
  let front: Reached[] = [{ world: START, label: 'start', from: null }];
  const done: Walk = { states: 0, steps: 0, broken: null };
  while (front.length > 0) {
    const next: typeof front = [];
    for (const from of front) {
      const { world } = from;
      done.states++;
      if (isStuck(world, rules)) return { ...done, broken: `nobody can be let in: ${courseOf(from)}` };
      for (const [label, reached] of moves(world, rules, end)) {
        done.steps++;
        const law = broken(world, reached);
        if (law !== null) return { ...done, broken: `${law}: ${courseOf(from)}, ${label}` };
        const after = forget(reached);
        const key = keyOf(after);
        if (seen.has(key)) continue;
        seen.add(key);
        next.push({ world: after, label, from });
      }
    }
    front = next;
  }
  return done;
}

describe('every course of a lease', () => {
  it('obeys one holder at a time, with rising tokens, within the term, and lets somebody in again', (t) => {
    const { states, steps, broken } = walk(RULES, TICKS);
    t.diagnostic(`${states} states, ${steps} steps in ${TICKS} ticks`);
    assert.equal(broken, null);
    assert.ok(states > 1000, `only ${states} states`);
  });

  const same = (world: World) => world;
  const mutants: Record<string, { rules: Partial<Rules>; forget?: typeof tidy; finds: RegExp }> = {
    'grants without a nonce can be hoarded': {
      rules: {
        presented: (state, grant, nowNs, termNs) => {
          const nonces = [{ nonce: grant.nonce, madeNs: nowNs }];
          return presented({ ...state, nonces }, grant, nowNs, termNs);
        },
      },
      forget: same,
      finds: /longer than the term/,
    },
    'without the highest token an old holder returns': {
      rules: {
        presented: (state, grant, nowNs, termNs) =>
          presented({ ...state, high: 0, key: '' }, grant, nowNs, termNs),
      },
      forget: same,
      finds: /older token|without a higher token/,
    },
    'without the key two holders share a token after a lost bucket': {
      rules: {
        presented: (state, grant, nowNs, termNs) =>
          presented({ ...state, key: grant.key }, grant, nowNs, termNs),
      },
      finds: /without a higher token/,
    },
    'a token without the clock, and no report, locks everybody out after a lost bucket': {
      rules: {
        raises: false,
        decide: (entry, request, nowMs, healthyAtMs) => {
          const decision = decide(entry, request, nowMs, healthyAtMs);
          if (request.verb !== 'take' || decision.kind !== 'write') return decision;
          return { kind: 'write', entry: { ...decision.entry, token: (entry?.token ?? 0) + 1 } };
        },
      },
      finds: /nobody can be let in/,
    },
  };
  for (const [name, { rules, forget, finds }] of Object.entries(mutants))
    it(`finds the mistake: ${name}`, () => {
      const { broken } = walk({ ...RULES, ...rules }, 2, forget);
      assert.match(broken ?? 'nothing found', finds);
    });
});

describe('the lease service', () => {
  const held: LeaseEntry = { user: 'ann', key: 'k', token: 1e12, atMs: 1e12 };
  const take = (atMs: number, healthyAtMs = 0) =>
    decide(held, { verb: 'take', user: 'bob', key: 'b' }, atMs, healthyAtMs).kind;

  it('frees a lease only after a silence in which the store could be written', () => {
    assert.equal(take(1e12 + VACANT_MS - 1), 'refuse');
    assert.equal(take(1e12 + VACANT_MS), 'write');
    assert.equal(take(1e12 + 10 * VACANT_MS, 1e12 + 9 * VACANT_MS + 1), 'refuse');
    assert.equal(isHeld(held, 1e12 + 10 * VACANT_MS, 0), false);
  });

  it('answers a repeated request like the first one', () => {
    const again = decide(held, { verb: 'take', user: 'ann', key: 'k' }, 1e12 + 10, 0);
    assert.deepEqual(again, { kind: 'write', entry: { ...held, atMs: 1e12 + 10 } });
  });

  it('lets nobody but the holder and its robot renew or release', () => {
    const verbs = ['renew', 'release'] as const;
    for (const verb of verbs) {
      assert.equal(decide(held, { verb, user: 'bob', token: 1e12 }, 1e12, 0).kind, 'refuse');
      assert.equal(decide(held, { verb, user: 'ann', token: 1e12 - 1 }, 1e12, 0).kind, 'refuse');
      assert.equal(decide(held, { verb, user: 'ann', token: 1e12 }, 1e12, 0).kind, 'write');
    }
    const raised = decide(
      held,
      { verb: 'keep', user: 'arm', token: 0, seen: 1e12 + 2 * 86_400_000 },
      1e12,
      0,
    );
    assert.deepEqual(raised, { kind: 'refuse', why: 'bad-token' });
  });
});
