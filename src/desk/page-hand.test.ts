import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import {
  BOX_M,
  centreHand,
  holdForM,
  holdForRad,
  isAtEdge,
  isBlocked,
  isDriveKey,
  MAX_STEP_S,
  moveTarget,
  restingHand,
  stepHand,
  stopHand,
} from './page-hand.ts';

const PERIOD_S = 0.02;
const KEYS = ['KeyW', 'KeyS', 'KeyA', 'KeyD', 'KeyQ', 'KeyE', 'KeyR', 'KeyF', 'KeyU', 'KeyJ', 'KeyI', 'KeyK'];
const NONE: ReadonlySet<string> = new Set();

function hold(keys: readonly string[], seconds: number, hand = restingHand()) {
  for (let i = 0; i < Math.round(seconds / PERIOD_S); i++) stepHand(hand, new Set(keys), PERIOD_S);
  return hand;
}

/** About the input frame's Y, with no other rotation. */
const yawRad = ([x, y, z, w]: ArrayLike<number> & Iterable<number>): number => {
  assert.ok(Math.abs(x!) + Math.abs(z!) < 1e-9);
  return 2 * Math.atan2(y!, w!);
};

describe("the page's hand", () => {
  it('moves in small steps by taps, and fast while a key is held', () => {
    const tapM = -hold(['KeyW'], 0.06).positionM[2];
    assert.ok(tapM > 0.002 && tapM < 0.006, `${tapM}`);
    const secondM = -hold(['KeyW'], 1).positionM[2];
    assert.ok(secondM > 0.2 && secondM < 0.3, `${secondM}`);
  });

  it('goes as far as the time that a key is held for a distance', () => {
    for (const wantedM of [0.01, 0.05, 0.12, 0.3]) {
      const wentM = hold(['KeyD'], holdForM(wantedM)).positionM[0];
      // One period at the final speed.
      assert.ok(Math.abs(wentM - wantedM) < 0.006, `${wantedM}: ${wentM}`);
    }
    for (const wantedRad of [0.1, 0.5, 1.2]) {
      const turnedRad = yawRad(hold(['KeyR'], holdForRad(wantedRad)).quatXyzw);
      assert.ok(Math.abs(turnedRad - wantedRad) < 0.03, `${wantedRad}: ${turnedRad}`);
    }
  });

  it('turns about the vertical, so that a gripper that points down can meet a turned cube', () => {
    assert.ok(yawRad(hold(['KeyR'], 0.5).quatXyzw) > 0.3);
    assert.ok(yawRad(hold(['KeyF'], 0.5).quatXyzw) < -0.3);
    const both = hold(['KeyF'], 0.5, hold(['KeyR'], 0.5));
    assert.ok(Math.abs(yawRad(both.quatXyzw)) < 1e-9);
  });

  it('stays in its box with a unit quaternion, and no step is a jump, for any keys and pauses', () => {
    const step = fc.record({
      keys: fc.subarray(KEYS),
      elapsedS: fc.double({ min: -1, max: 10, noNaN: true }),
    });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
        const hand = restingHand();
        for (const { keys, elapsedS } of steps) {
          const fromM = [...hand.positionM];
          stepHand(hand, new Set(keys), elapsedS);
          assert.ok(hand.positionM.every((m) => Math.abs(m) <= BOX_M));
          const movedM = Math.hypot(...hand.positionM.map((m, i) => m - fromM[i]!));
          assert.ok(movedM <= 0.5 * MAX_STEP_S + 1e-12);
          assert.ok(Math.abs(Math.hypot(...hand.quatXyzw) - 1) < 1e-9);
        }
      }),
    );
  });

  it('does not finish an earlier motion once it is stopped', () => {
    const hand = restingHand();
    moveTarget(hand, [1, 0, 0], 0.3);
    stepHand(hand, NONE, PERIOD_S);
    stopHand(hand);
    const at = [...hand.positionM];
    for (let i = 0; i < 50; i++) stepHand(hand, NONE, PERIOD_S);
    assert.deepEqual(hand.positionM, at);
  });

  it('reports the end of its range, and starts from the middle again when it is centred', () => {
    const hand = hold(['KeyE', 'KeyR'], 3);
    assert.ok(isAtEdge(hand));
    assert.ok(isBlocked(hand, 'KeyE') && isBlocked(hand, 'ArrowUp'));
    assert.ok(!isBlocked(hand, 'KeyQ') && !isBlocked(hand, 'KeyW') && !isBlocked(hand, 'KeyR'));
    centreHand(hand);
    assert.ok(!isAtEdge(hand) && !isBlocked(hand, 'KeyE'));
    assert.deepEqual(hand.positionM, [0, 0, 0]);
    assert.deepEqual([...hand.quatXyzw], [0, 0, 0, 1]);
  });

  it('knows its keys', () => {
    assert.ok(KEYS.every(isDriveKey));
    assert.ok(!isDriveKey('KeyN'));
  });
});
