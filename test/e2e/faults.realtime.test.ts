import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, it } from 'node:test';
import { until } from '../until.ts';
import { FaultRig } from './fault-rig.ts';

/**
 * Faults of processes on a sealed link over real sockets: the resulting states, and recovery. Timing and the
 * motion of the arm are tested in simulated time (test/loops/faults.test.ts).
 */
describe('faults on a sealed link', () => {
  let rig: FaultRig;

  before(async () => {
    rig = await FaultRig.start([], 'engaged', 'demo', ['robot.commandTimeoutMs=100']);
  });
  after(() => rig?.close());
  beforeEach(() => rig.waitFor('engaged'));

  const reported = () => JSON.stringify(rig.last);
  const followsAgain = async () => {
    const { appliedSeq: seq } = await rig.waitFor('engaged');
    await until('commands applied again', () => rig.last.appliedSeq > seq + 10, reported);
  };
  /** Nothing clears a stop while the operator keeps sending. */
  const staysStopped = async () => {
    const fromNs = rig.nowNs();
    await until('a second', () => rig.nowNs() > fromNs + 1e9);
    assert.equal(rig.last.state, 'stopped', reported());
  };
  /** Tries again, like a person who sees that nothing has changed. */
  const ask = async (kind: 'arm' | 'reset' | 'estop', isDone: () => boolean) => {
    let nextNs = 0;
    await until(kind, async () => {
      if (isDone()) return true;
      if (rig.nowNs() < nextNs) return false;
      nextNs = rig.nowNs() + 500e6;
      await rig.ask(kind);
      return false;
    });
  };
  const resetAndArm = async () => {
    await ask('reset', () => rig.last.state === 'idle');
    await ask('arm', () => rig.last.state !== 'idle');
  };

  it('holds during a 300 ms gap and resumes by itself', async () => {
    await rig.link.set({ events: [{ kind: 'hole', atMs: 100, forMs: 300 }] });
    const hold = await rig.waitFor('hold');
    assert.match(hold.cause, /no command for 100 ms/);
    await followsAgain();
  });

  it('stops in a 2 s gap, and resumes only after a manual reset and arm', async () => {
    await rig.link.set({ events: [{ kind: 'hole', atMs: 100, forMs: 2000 }] });
    await rig.waitFor('stopped');
    await until('the end of the gap', () => rig.link.stats().forward.forwarded > 0);
    await staysStopped();
    await resetAndArm();
    await followsAgain();
  });

  it('holds while the operator is suspended and resumes by itself', async () => {
    const { process: operator } = rig.operator;
    operator.kill('SIGSTOP');
    try {
      await rig.waitFor('hold');
    } finally {
      operator.kill('SIGCONT');
    }
    await until('no hold', () => rig.last.state !== 'hold', reported);
    // If the machine delays the operator for a second, the robot stops.
    if (rig.last.state === 'stopped') await resetAndArm();
    await followsAgain();
  });

  it('holds when the operator is killed; a new operator takes over after a manual reset and arm', async () => {
    rig.operator.process.kill('SIGKILL');
    await rig.waitFor('stopped');
    rig.restartOperator();
    await rig.operator.waitFor(/operator ready/);
    await staysStopped();
    await resetAndArm();
    await followsAgain();
  });

  it('stops on the e-stop, and arming does not clear it', async () => {
    await ask('estop', () => rig.last.state === 'stopped');
    await rig.ask('arm');
    await staysStopped();
    await resetAndArm();
    await followsAgain();
  });
});
