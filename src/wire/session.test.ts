import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { peerOf } from './reactor.ts';
import { OperatorLease } from './session.ts';

const S = 1e9;
const STATE = peerOf('10.0.0.5', 40001);
const COMMAND = peerOf('10.0.0.5', 40002);
const SAME_HOST = peerOf('10.0.0.5', 55555);
const STRANGER = peerOf('10.0.0.66', 40001);

function held(nowNs = 0): OperatorLease {
  const lease = new OperatorLease();
  assert.equal(lease.hello(7, STATE, nowNs), 'claimed');
  return lease;
}

describe('claiming the robot', () => {
  it('is free at first', () => {
    const lease = new OperatorLease();
    assert.deepEqual([lease.session, lease.statePeer, lease.isHeld(0)], [0, 0, false]);
    assert.equal(lease.mayCommand(COMMAND), false);
    assert.equal(lease.accept(0, COMMAND, 0), false);
    assert.equal(lease.accept(7, COMMAND, 0), false);
    assert.equal(lease.release(7, STATE), false);
  });

  it('goes to the first session that sends a hello', () => {
    const lease = held(5 * S);
    assert.deepEqual([lease.session, lease.statePeer, lease.isHeld(5 * S)], [7, STATE, true]);
  });

  it('rejects a hello without a session', () => {
    const lease = new OperatorLease();
    for (const session of [0, -1, Number.NaN]) assert.equal(lease.hello(session, STATE, 0), 'malformed');
    assert.equal(lease.session, 0);
  });

  it('is kept for a second after each hello or command', () => {
    const lease = held();
    assert.equal(lease.isHeld(S), true);
    assert.equal(lease.isHeld(S + 1), false);
    assert.equal(lease.hello(7, STATE, 0.9 * S), 'renewed');
    assert.equal(lease.isHeld(1.9 * S), true);
    assert.equal(lease.accept(7, COMMAND, 1.8 * S), true);
    assert.equal(lease.isHeld(2.8 * S), true);
    assert.equal(lease.isHeld(2.8 * S + 1), false);
  });

  it('can be resumed by the same session after a silence', () => {
    const lease = held();
    assert.equal(lease.hello(7, STATE, 5 * S), 'resumed');
    assert.equal(lease.hello(7, STATE, 5 * S), 'renewed');
    assert.equal(lease.isHeld(5.5 * S), true);
  });

  it('is resumed by a hello, not by a command', () => {
    const lease = held();
    assert.equal(lease.accept(7, COMMAND, 1.5 * S), false);
    assert.equal(lease.isHeld(1.5 * S), false);
  });
});

describe('another operator', () => {
  it('gets the robot only after a second of silence', () => {
    const lease = held();
    for (const from of [STRANGER, STATE, SAME_HOST]) assert.equal(lease.hello(8, from, S), 'not-operator');
    assert.equal(lease.session, 7);
    assert.equal(lease.hello(8, STRANGER, S + 1), 'claimed');
    assert.deepEqual([lease.session, lease.statePeer], [8, STRANGER]);
    assert.equal(lease.hello(7, STATE, S + 2), 'not-operator');
    assert.equal(lease.accept(7, COMMAND, S + 2), false);
  });

  it('does not extend the holder’s lease when rejected', () => {
    const lease = held();
    lease.hello(8, STRANGER, 0.9 * S);
    lease.accept(8, STRANGER, 0.9 * S);
    lease.accept(7, STRANGER, 0.9 * S);
    assert.equal(lease.isHeld(S + 1), false);
  });

  it('cannot act as the holder by naming its session', () => {
    const lease = held();
    assert.equal(lease.hello(7, STRANGER, 0.5 * S), 'not-operator');
    assert.equal(lease.hello(7, SAME_HOST, 0.5 * S), 'not-operator');
    assert.equal(lease.accept(7, STRANGER, 0.5 * S), false);
    assert.equal(lease.release(7, STRANGER), false);
    assert.equal(lease.isHeld(S + 1), false);
    assert.equal(lease.hello(7, STRANGER, 9 * S), 'not-operator', 'not even after the holder has left');
    assert.equal(lease.statePeer, STATE);
  });

  it('takes over at once where the robot allows it', () => {
    const lease = new OperatorLease(true);
    lease.hello(7, STATE, 0);
    assert.equal(lease.hello(8, STRANGER, 1), 'claimed');
    assert.equal(lease.accept(7, COMMAND, 2), false);
    assert.equal(lease.hello(8, SAME_HOST, 3), 'not-operator', 'a takeover is a new session');
  });

  it('gets the robot when the holder releases it', () => {
    const lease = held();
    assert.equal(lease.release(8, STATE), false);
    assert.equal(lease.release(7, STATE), true);
    assert.equal(lease.isHeld(1), false);
    assert.equal(lease.accept(7, COMMAND, 1), false);
    assert.equal(lease.hello(8, STRANGER, 1), 'claimed');
  });
});

describe('the command address', () => {
  it('is pinned by the first command; no other sender on that machine may command', () => {
    const lease = held();
    assert.equal(lease.mayCommand(STRANGER), false);
    assert.equal(lease.mayCommand(SAME_HOST), true, 'not pinned yet');
    assert.equal(lease.accept(7, COMMAND, 1), true);
    assert.equal(lease.mayCommand(SAME_HOST), false);
    assert.equal(lease.accept(7, SAME_HOST, 2), false);
    assert.equal(lease.accept(7, STATE, 2), false);
    assert.equal(lease.accept(7, COMMAND, 2), true);
  });

  it('is not pinned by a command of another session', () => {
    const lease = held();
    assert.equal(lease.accept(8, SAME_HOST, 1), false);
    assert.equal(lease.accept(7, COMMAND, 2), true);
  });

  it('stays pinned when the session resumes and is free when another claims', () => {
    const lease = held();
    lease.accept(7, COMMAND, 1);
    lease.hello(7, STATE, 5 * S);
    assert.equal(lease.mayCommand(SAME_HOST), false);
    lease.hello(8, STATE, 9 * S);
    assert.equal(lease.mayCommand(SAME_HOST), true);
  });
});

describe('the lease', () => {
  it('never has two holders, whatever arrives', () => {
    const peer = fc.constantFrom(STATE, COMMAND, SAME_HOST, STRANGER);
    const event = fc.record({
      kind: fc.constantFrom('hello' as const, 'accept' as const, 'release' as const),
      session: fc.constantFrom(0, 7, 8, 9),
      from: peer,
      pauseNs: fc.constantFrom(0, 1, 0.4 * S, S, S + 1),
    });
    fc.assert(
      fc.property(fc.array(event, { maxLength: 60 }), (events) => {
        const lease = new OperatorLease();
        let nowNs = 0;
        let receivedNs = Number.NEGATIVE_INFINITY;
        for (const { kind, session, from, pauseNs } of events) {
          nowNs += pauseNs;
          const before = { session: lease.session, held: lease.isHeld(nowNs), peer: lease.statePeer };
          if (kind === 'accept') {
            const taken = lease.accept(session, from, nowNs);
            if (taken) receivedNs = nowNs;
            if (taken) assert.ok(before.held && session === before.session && lease.mayCommand(from));
          } else if (kind === 'release') {
            const gone = lease.release(session, from);
            assert.equal(gone, session !== 0 && session === before.session && from === before.peer);
            if (gone) receivedNs = Number.NEGATIVE_INFINITY;
          } else {
            const result = lease.hello(session, from, nowNs);
            if (result === 'claimed') assert.ok(!before.held && session !== before.session);
            if (result === 'renewed') assert.ok(before.held && from === before.peer);
            if (['claimed', 'renewed', 'resumed'].includes(result)) receivedNs = nowNs;
          }
          assert.equal(lease.isHeld(nowNs), nowNs - receivedNs <= S);
          assert.ok(before.held === false || kind === 'release' || lease.session === before.session);
        }
      }),
      { numRuns: 500 },
    );
  });
});
