import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { emptyMotorHealth, knowsMotors } from '../../messages/motor-health.ts';
import { LIMITED_BY, type RobotState, STATE_REASONS, SUPERVISOR_STATES } from '../../messages/robot-state.ts';
import { MAX_DATAGRAM_BYTES } from '../reactor.ts';
import { frameType } from './frame.ts';
import { decodeState, emptyState, encodeState } from './state.ts';

const JOINTS = 6;
const angles = fc.float64Array({ minLength: JOINTS, maxLength: JOINTS, min: -1000, max: 1000, noNaN: true });
const perMotor = (value: fc.Arbitrary<number>) =>
  fc.array(value, { minLength: JOINTS, maxLength: JOINTS }).map((values) => Float64Array.from(values));
const unknownTorques = fc.constant(null).map(() => new Float64Array(JOINTS).fill(Number.NaN));
const torques = fc.oneof(
  unknownTorques,
  fc
    .array(fc.integer({ min: -100_000, max: 100_000 }), { minLength: JOINTS, maxLength: JOINTS })
    .map((nm) => Float64Array.from(nm, (value) => value / 1e3)),
);
const state: fc.Arbitrary<RobotState> = fc.record({
  robotNs: fc.integer({ min: -Number.MAX_SAFE_INTEGER, max: Number.MAX_SAFE_INTEGER }),
  positionsRad: angles,
  velocitiesRadS: angles,
  targetRad: angles,
  gripper: fc.double({ min: 0, max: 1, noNaN: true }),
  effortsNm: torques,
  externalNm: torques,
  gripperN: fc.oneof(
    fc.constant(Number.NaN),
    fc.integer({ min: 0, max: 10_000 }).map((n) => n / 100),
  ),
  state: fc.constantFrom(...SUPERVISOR_STATES),
  cause: fc.string({ maxLength: 40, unit: 'binary' }),
  why: fc.constantFrom(...STATE_REASONS),
  sinceNs: fc.integer({ min: -Number.MAX_SAFE_INTEGER, max: Number.MAX_SAFE_INTEGER }),
  epoch: fc.maxSafeNat(),
  endedEngagement: fc.maxSafeNat(),
  appliedSeq: fc.maxSafeNat(),
  ackRequest: fc.maxSafeNat(),
  limitedBy: fc.constantFrom(...LIMITED_BY),
  clearanceM: fc.oneof(
    fc.constant(Number.NaN),
    fc.integer({ min: -100_000, max: 1_000_000 }).map((n) => n / 1e5),
  ),
  nearest: fc.string({ maxLength: 20, unit: 'binary' }),
  motors: fc.option(
    fc.record({
      temperatureC: perMotor(fc.integer({ min: 0, max: 120 })),
      currentA: perMotor(fc.integer({ min: -900, max: 900 }).map((ma) => ma / 1e3)),
      voltageV: perMotor(fc.integer({ min: 0, max: 250 }).map((v) => v / 10)),
      level: perMotor(fc.constantFrom(0, 1, 2)),
    }),
    { nil: emptyMotorHealth(JOINTS) },
  ),
  repeat: fc.nat(8),
  otherRad: fc.constant(new Float64Array(0)),
});

const VALID = {
  boot: 1,
  session: 2,
  robot_ns: 3,
  state: 'idle',
  cause: 'ok',
  epoch: 1,
  ended: 0,
  seq: 0,
  ack: 0,
  q: [1, 2],
  dq: [0, 0],
  target: [1, 2],
  gripper: 0,
  limited: '',
  clearance: 0.1,
  nearest: 'a ↔ b',
};

function reasonOf(body: object): string | null {
  const bytes = new TextEncoder().encode(`FH1s${JSON.stringify(body)}`);
  return decodeState(bytes, bytes.length, emptyState(2), { boot: 0, session: 0 });
}

describe('robot state', () => {
  it('survives a round trip, angles to 1e-7', () => {
    const bytes = new Uint8Array(MAX_DATAGRAM_BYTES);
    const back = emptyState(JOINTS);
    const origin = { boot: 0, session: 0 };
    fc.assert(
      fc.property(state, fc.maxSafeNat(), fc.maxSafeNat(), (sent, boot, session) => {
        const length = encodeState(boot, session, sent, bytes.fill(0xff), true);
        assert.equal(frameType(bytes, length), 'state');
        assert.equal(decodeState(bytes, length, back, origin), null);
        assert.deepEqual(origin, { boot, session });
        for (const field of ['positionsRad', 'velocitiesRadS', 'targetRad'] as const)
          back[field].forEach((value, i) => {
            assert.ok(Math.abs(value - sent[field][i]!) <= 1e-7);
          });
        assert.ok(Math.abs(back.gripper - sent.gripper) <= 5e-5);
        const rest = { positionsRad: 0, velocitiesRadS: 0, targetRad: 0, gripper: 0 };
        // Motors that are not reported keep their last values.
        const motors = knowsMotors(sent.motors) ? { ...sent.motors } : back.motors;
        assert.deepEqual({ ...back, ...rest }, { ...sent, ...rest, motors });
      }),
    );
  });

  it('fits a datagram for an arm with 20 joints', () => {
    const big = emptyState(20);
    for (const field of ['positionsRad', 'velocitiesRadS', 'targetRad'] as const) big[field].fill(-Math.PI);
    big.cause = 'x'.repeat(60);
    big.nearest = 'x'.repeat(30);
    big.clearanceM = -0.12345;
    big.limitedBy = 'engage-ramp';
    big.effortsNm.fill(-12.345);
    big.externalNm.fill(-12.345);
    big.gripperN = 12.34;
    big.robotNs = Number.MAX_SAFE_INTEGER;
    const length = encodeState(0x7fffffff, 0x7fffffff, big, new Uint8Array(MAX_DATAGRAM_BYTES));
    assert.ok(length > 0);
  });

  it('carries the other arm’s pose, and its absence', () => {
    const sent = emptyState(2, 3);
    const bytes = new Uint8Array(MAX_DATAGRAM_BYTES);
    const seen = (other: readonly number[], joints: number) => {
      sent.otherRad.set(other);
      const back = emptyState(2, joints).otherRad.fill(9);
      const into = { ...emptyState(2), otherRad: back };
      const reason = decodeState(bytes, encodeState(1, 1, sent, bytes), into, { boot: 0, session: 0 });
      return reason ?? [...back];
    };
    assert.deepEqual(seen([0.5, -1, 2], 3), [0.5, -1, 2]);
    assert.deepEqual(seen([Number.NaN, 0, 0], 3), [Number.NaN, Number.NaN, Number.NaN]);
    assert.deepEqual(seen([0.5, -1, 2], 0), [], 'an operator without a pair ignores it');
    assert.equal(seen([0.5, -1, 2], 2), 'joint-count');
  });

  it('truncates a long cause', () => {
    const bytes = new TextEncoder().encode(`FH1s${JSON.stringify({ ...VALID, cause: 'y'.repeat(999) })}`);
    const back = emptyState(2);
    assert.equal(decodeState(bytes, bytes.length, back, { boot: 0, session: 0 }), null);
    assert.equal(back.cause, 'y'.repeat(120));
  });

  it('requires every field to have its type', () => {
    assert.equal(reasonOf(VALID), null);
    for (const field of Object.keys(VALID)) {
      for (const value of [undefined, {}, true, ...(field === 'clearance' || field === 'q' ? [] : [null])])
        assert.equal(reasonOf({ ...VALID, [field]: value }), 'malformed', field);
      const text = field === 'cause' || field === 'nearest' ? null : 'malformed';
      assert.equal(reasonOf({ ...VALID, [field]: '1' }), text, field);
    }
    for (const value of ['IDLE', 'toString', '__proto__', ''])
      assert.equal(reasonOf({ ...VALID, state: value }), 'malformed');
    assert.equal(reasonOf({ ...VALID, limited: 'gravity' }), 'malformed');
    assert.equal(reasonOf({ ...VALID, clearance: null }), null, 'no collision pair is watched');
    for (const name of ['effort', 'external']) {
      assert.equal(reasonOf({ ...VALID, [name]: [1, 2] }), null);
      assert.equal(reasonOf({ ...VALID, [name]: [1] }), 'joint-count');
      assert.equal(reasonOf({ ...VALID, [name]: [1, null] }), 'non-finite');
    }
    assert.equal(reasonOf({ ...VALID, grip_n: 'x' }), 'malformed');
  });

  it('has no angles for joints that were never read', () => {
    const unread = emptyState(2);
    unread.positionsRad.fill(Number.NaN);
    const bytes = new Uint8Array(MAX_DATAGRAM_BYTES);
    const length = encodeState(1, 1, unread, bytes);
    const back = emptyState(2);
    assert.equal(decodeState(bytes, length, back, { boot: 0, session: 0 }), null);
    assert.deepEqual([...back.positionsRad], [Number.NaN, Number.NaN]);
  });

  it('rejects motors that are not four lists of plausible numbers', () => {
    const good = [
      [20, null],
      [0.1, -0.2],
      [12, 12],
      [0, 2],
    ];
    assert.equal(reasonOf({ ...VALID, motors: good }), null);
    for (const motors of [
      null,
      {},
      [],
      good.slice(1),
      [[1], ...good.slice(1)],
      good.with(0, ['20', 1] as never),
    ])
      assert.equal(reasonOf({ ...VALID, motors }), 'malformed');
    assert.equal(reasonOf({ ...VALID, motors: good.with(3, [3, 0]) }), 'malformed', 'an unknown level');
    assert.equal(reasonOf({ ...VALID, motors: good.with(2, [1e6, 0]) }), 'malformed');
  });

  it('requires three lists of finite joints', () => {
    for (const field of ['q', 'dq', 'target']) {
      assert.equal(reasonOf({ ...VALID, [field]: [1] }), 'joint-count');
      assert.equal(reasonOf({ ...VALID, [field]: [1, 2, 3] }), 'joint-count');
      assert.equal(reasonOf({ ...VALID, [field]: [1, null] }), 'non-finite');
      assert.equal(reasonOf({ ...VALID, [field]: [1, '2'] }), 'non-finite');
    }
  });

  it('is rejected by the receiver when a joint is not a number', () => {
    const broken = emptyState(2);
    broken.positionsRad[1] = Number.NaN;
    const bytes = new Uint8Array(MAX_DATAGRAM_BYTES);
    const length = encodeState(1, 1, broken, bytes);
    assert.equal(decodeState(bytes, length, emptyState(2), { boot: 0, session: 0 }), 'non-finite');
  });
});
