import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { deferred } from '../core/deferred.ts';
import { ManualClock } from '../core/time/clock.ts';
import type { ReceivedFrame } from '../messages/recording.ts';
import type { Telemetry } from '../messages/telemetry.ts';
import { type Observation, observe, stateOf, type Unobserved } from './observation.ts';
import { PolicyPlayer } from './player.ts';
import { type Chunk, chunkOf } from './policy.ts';

const MS = 1e6;
const FPS = 10;

function bench() {
  const clock = new ManualClock();
  const acts: [number[], number, boolean][] = [];
  const asked: ReturnType<typeof deferred<Chunk>>[] = [];
  const seen = { unobserved: null as Unobserved | null, isAdmitted: true, follows: true };
  const player = new PolicyPlayer({
    ...{ clock, joints: 2, fps: FPS, everyRows: 1, timeoutMs: 1000, holdAfterMs: 250 },
    observe: () => seen.unobserved ?? ({ instantNs: clock.nowNs() } as Observation),
    infer: () => {
      asked.push(deferred<Chunk>());
      return asked.at(-1)!.promise;
    },
    held: () => Float64Array.of(0, 0, 0.25),
    act: (jointsRad, gripper, clutch) => acts.push([[...jointsRad], gripper, clutch]),
    leadNs: () => 0,
    isAdmitted: () => seen.isAdmitted,
    follows: () => seen.follows,
  });
  return {
    ...{ clock, acts, asked, seen, player },
    async answer(rows: unknown, index = asked.length - 1) {
      asked[index]!.resolve(chunkOf(rows)!);
      await turn();
    },
    /** Until it follows: the clutch was open briefly, with the held pose. */
    engage() {
      this.run(120);
      acts.length = 0;
    },
    /** Ticks of 10 ms. */
    run(ms: number) {
      for (let passed = 0; passed < ms; passed += 10) {
        clock.advanceBy(10 * MS);
        player.tick();
      }
    },
  };
}

/** Joint 0 moves by 0.1 rad per row. */
const ramp = (from: number) => Array.from({ length: 20 }, (_, i) => [from + 0.1 * i, 0, 0.5]);

describe('policy player', () => {
  it('plays the row of now, not row 0, when an answer takes 300 ms', async () => {
    const own = bench();
    own.engage();
    own.run(300);
    // Still until row 5: a player that put row 0 at the arrival would not have moved yet.
    const late = Array.from({ length: 20 }, (_, row) => [row < 5 ? 0 : 0.05 * (row - 5), 0, 0.5]);
    await own.answer(late, 0);
    own.run(400);
    const [[rad], gripper] = own.acts.at(-1)!;
    assert.ok(rad! > 0.05 && rad! < 0.11, `${rad} at row 7`);
    assert.equal(gripper, 0.5);
  });

  it('begins with the held pose, and fades into the plan without a step', async () => {
    const own = bench();
    own.run(120);
    assert.ok(own.acts.length > 10 && own.acts.every(([rad]) => rad[0] === 0));
    await own.answer(ramp(1));
    own.acts.length = 0;
    own.run(100);
    assert.ok(own.acts[0]![0][0]! < 0.02, `${own.acts[0]![0][0]}`);
    assert.ok(own.acts.at(-1)![0][0]! < 1.1);
  });

  it('has two requests open at most, and ignores answers from before a restart', async () => {
    const own = bench();
    const { player, acts, asked, answer, run } = own;
    own.engage();
    run(500);
    assert.equal(asked.length, 2);
    assert.ok(player.counts.busy > 0);
    player.restart();
    acts.length = 0;
    await answer(ramp(0), 0);
    assert.equal(player.counts.outdated, 1);
    run(150);
    assert.equal(asked.length, 4, 'asks anew from fresh observations');
    assert.ok(
      acts.every(([rad]) => rad[0] === 0),
      'the old plan is forgotten',
    );
  });

  it('does not use an answer whose rows are all past', async () => {
    const own = bench();
    const { player, acts, answer, run } = own;
    own.engage();
    run(900);
    await answer(
      [
        [1, 1],
        [1, 1],
        [1, 1],
      ],
      0,
    );
    assert.equal(player.counts.late, 1);
    assert.ok(acts.every(([rad]) => rad[0] === 0));
  });

  it('stands still without a chunk, counts it, and after a second lets the robot hold', async () => {
    const own = bench();
    const { player, acts, answer, run } = own;
    own.engage();
    await answer(ramp(0).slice(0, 6));
    run(1300);
    assert.ok(player.counts.stalls >= 60, `${player.counts.stalls}`);
    assert.ok(Math.abs(acts.at(-1)![0][0]! - 0.5) < 0.06, `${acts.at(-1)![0][0]}`);
    run(400);
    assert.deepEqual(acts.at(-1)![0], [0, 0], 'begins anew from the held pose');
  });

  it('stays open once someone else has ended it', async () => {
    const own = bench();
    own.engage();
    own.seen.follows = false;
    for (let i = 0; i < 40; i++) {
      own.run(100);
      await own.answer(ramp(0));
    }
    assert.ok(own.player.hand.overruled && !own.acts.at(-1)![2]);
    own.player.hand.resume();
    assert.ok(!own.player.hand.overruled);
  });

  it('counts invalid answers and ticks without an observation, and does nothing', async () => {
    const own = bench();
    const { player, acts, answer, run, seen, asked } = own;
    own.engage();
    const bad: [unknown, RegExp][] = [
      [[[1]], /rows of 1 numbers, the robot has 2 joints/],
      [[[1, Number.NaN]], /NaN in column 1/],
      [[[1, 2, 3, 4]], /rows of 4 numbers/],
      [[[-1e300, 0]], /-1.00e\+300 rad for joint 0/],
    ];
    for (const [rows, why] of bad) {
      run(100);
      await answer(rows);
      assert.match(player.trouble, why);
    }
    run(100);
    asked.at(-1)!.reject(new Error('gone\x1b[2J'));
    await turn();
    assert.equal(player.trouble, 'gone\u{fffd}[2J', 'no escape sequences of a server');
    seen.unobserved = 'stale-camera';
    run(100);
    const { malformed, failed, skipped } = player.counts;
    assert.deepEqual([malformed, failed], [4, 1]);
    assert.ok(acts.every(([rad]) => rad[0] === 0));
    assert.ok(skipped['stale-camera'] >= 9);
  });
});

describe('observation', () => {
  const settings = { task: 't', robot: 'r', joints: ['a'], cameras: ['front'], staleAfterMs: 1000 };
  const telemetry = {
    operatorNs: 10e9,
    link: { connected: true, stateAgeMs: 5 },
    robot: { measuredRad: [0.5], gripper: 1, state: 'engaged' },
  } as Telemetry;
  const frame = { captureNs: 3, captureOperatorNs: 9.9e9, arrivedNs: 9.95e9, bytes: new Uint8Array([1, 2]) };
  const seeing = (newest: Partial<ReceivedFrame> | null) => ({
    newest: () => newest as ReceivedFrame | null,
  });

  it('joins the state and pictures of one instant, with their ages', () => {
    assert.deepEqual(observe(4, stateOf(telemetry), seeing(frame), 10.02e9, settings), {
      tick: 4,
      instantNs: 9.9e9,
      task: 't',
      robot: 'r',
      joints: ['a'],
      state: { positionsRad: [0.5], gripper: 1, effort: null, ageMs: 25, supervisor: 'engaged' },
      frames: { front: { captureNs: 3, ageMs: 120, encoding: 'jpeg', bytes: new Uint8Array([1, 2]) } },
    });
  });

  it('is absent while anything is missing or stale', () => {
    const at = (nowNs: number, seen: Telemetry | null, frames: ReturnType<typeof seeing>) =>
      observe(1, stateOf(seen), frames, nowNs, settings);
    assert.equal(at(10e9, null, seeing(frame)), 'no-robot');
    assert.equal(at(10e9, { ...telemetry, robot: null }, seeing(frame)), 'no-robot');
    assert.equal(at(11.1e9, telemetry, seeing(frame)), 'stale-state');
    assert.equal(at(10e9, telemetry, seeing(null)), 'missing-camera');
    assert.equal(at(10.96e9, telemetry, seeing(frame)), 'stale-camera');
  });
});
