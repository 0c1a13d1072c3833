import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { deferred } from '../core/deferred.ts';
import { ManualClock } from '../core/time/clock.ts';
import type { ReceivedFrame } from '../messages/recording.ts';
import type { Telemetry } from '../messages/telemetry.ts';
import { type Observation, observe, type Unobserved } from './observation.ts';
import { PolicyRunner } from './runner.ts';

const MS = 1e6;
const OBSERVATION = { tick: 1, state: { gripper: 0.5 } } as Observation;

function bench() {
  const clock = new ManualClock();
  const acts: [number[], number, boolean][] = [];
  const asked: ReturnType<typeof deferred<unknown>>[] = [];
  const seen: { observation: Observation | Unobserved; isAdmitted: boolean; follows: boolean } = {
    observation: OBSERVATION,
    isAdmitted: true,
    follows: true,
  };
  return {
    clock,
    acts,
    seen,
    runner: new PolicyRunner({
      clock,
      joints: 2,
      observe: () => seen.observation,
      ask: () => {
        asked.push(deferred<unknown>());
        return asked.at(-1)!.promise;
      },
      act: (jointsRad, gripper, clutch) => acts.push([[...jointsRad], gripper, clutch]),
      timeoutMs: 100,
      holdAfterMs: 250,
      isAdmitted: () => seen.isAdmitted,
      follows: () => seen.follows,
    }),
    async answer(value: unknown, afterMs = 10) {
      clock.advanceBy(afterMs * MS);
      asked.at(-1)!.resolve(value);
      await turn();
    },
    asked,
  };
}

describe('policy runner', () => {
  it('opens the clutch briefly, then acts; and again after a pause in which the robot holds', async () => {
    const { runner, acts, answer, clock } = bench();
    const closedAt = async (ms: number) => {
      acts.length = 0;
      for (let passed = 0; passed < ms; passed += 20) {
        runner.tick();
        await answer({ action: [1, 2, 0.25] }, 20);
      }
      return 20 * acts.findIndex(([, , clutch]) => clutch);
    };
    assert.equal(await closedAt(400), 120);
    assert.deepEqual(acts[0], [[1, 2], 0.25, false]);
    assert.equal(await closedAt(400), 0, 'it stays closed');
    clock.advanceBy(300 * MS);
    assert.equal(await closedAt(400), 120);
  });

  it('keeps the clutch open until the operator accepts its actions', async () => {
    const { runner, acts, answer, seen } = bench();
    seen.isAdmitted = seen.follows = false;
    const drive = async (ms: number) => {
      for (let passed = 0; passed < ms; passed += 20) {
        runner.tick();
        await answer({ action: [1, 2] }, 20);
      }
    };
    await drive(1000);
    assert.ok(acts.length > 40 && acts.every(([, , clutch]) => !clutch));
    seen.isAdmitted = true;
    acts.length = 0;
    await drive(200);
    const closedAt = acts.findIndex(([, , clutch]) => clutch);
    assert.ok(closedAt * 20 >= 80 && closedAt * 20 <= 120, `${closedAt * 20} ms`);
  });

  it('does not resume once someone else has ended it, pause or not', async () => {
    const { runner, acts, answer, clock, seen } = bench();
    const drive = async (ms: number) => {
      for (let passed = 0; passed < ms; passed += 20) {
        runner.tick();
        await answer({ action: [1, 2] }, 20);
      }
    };
    await drive(600);
    assert.ok(!runner.overruled && acts.at(-1)![2]);
    seen.follows = false;
    await drive(3200);
    assert.ok(runner.overruled && !acts.at(-1)![2]);
    seen.follows = true;
    clock.advanceBy(2000 * MS);
    await drive(1000);
    assert.ok(!acts.at(-1)![2]);
  });

  it('drops a late answer, whether or not it was still awaited', async () => {
    const { runner, acts, answer, asked, clock } = bench();
    runner.tick();
    await answer({ action: [1, 2] }, 101);
    runner.tick();
    clock.advanceBy(50 * MS);
    runner.tick();
    clock.advanceBy(51 * MS);
    runner.tick();
    asked[1]!.resolve({ action: [1, 2] });
    await turn();
    await answer({ action: [3, 4] });
    const { late, busy, acted } = runner.counts;
    assert.deepEqual([late, busy, acted, asked.length], [2, 1, 1, 3]);
    assert.deepEqual(acts, [[[3, 4], 0.5, false]]);
  });

  it('counts invalid actions and does nothing', async () => {
    const { runner, acts, answer, asked } = bench();
    for (const value of [
      {},
      null,
      { action: [1] },
      { action: [1, Number.NaN] },
      { action: ['1', 2] },
      'go',
    ]) {
      runner.tick();
      await answer(value);
    }
    runner.tick();
    await answer({ action: null });
    runner.tick();
    asked.at(-1)!.reject(new Error('gone'));
    await turn();
    const { malformed, idle, failed } = runner.counts;
    assert.deepEqual([malformed, idle, failed, acts.length], [6, 1, 1, 0]);
  });

  it('skips and counts ticks without an observation', () => {
    const own = bench();
    own.seen.observation = 'stale-camera';
    own.runner.tick();
    assert.deepEqual([own.runner.counts.skipped['stale-camera'], own.asked.length], [1, 0]);
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
    assert.deepEqual(observe(4, telemetry, seeing(frame), 10.02e9, settings), {
      tick: 4,
      task: 't',
      robot: 'r',
      joints: ['a'],
      state: { positionsRad: [0.5], gripper: 1, ageMs: 25, supervisor: 'engaged' },
      frames: { front: { captureNs: 3, ageMs: 120, encoding: 'jpeg', data: 'AQI=' } },
    });
  });

  it('is absent while anything is missing or stale', () => {
    const at = (nowNs: number, seen: Telemetry | null, frames: ReturnType<typeof seeing>) =>
      observe(1, seen, frames, nowNs, settings);
    assert.equal(at(10e9, null, seeing(frame)), 'no-robot');
    assert.equal(at(10e9, { ...telemetry, robot: null }, seeing(frame)), 'no-robot');
    assert.equal(at(11.1e9, telemetry, seeing(frame)), 'stale-state');
    assert.equal(at(10e9, telemetry, seeing(null)), 'missing-camera');
    assert.equal(at(10.96e9, telemetry, seeing(frame)), 'stale-camera');
  });
});
