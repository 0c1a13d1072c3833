import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, it } from 'node:test';
import { until } from '../until.ts';
import { FaultRig } from './fault-rig.ts';

/**
 * Faults of processes on a sealed link over real sockets: the states they lead to, and the way back. How long each takes
 * and how the arm moves meanwhile is tried in simulated time (test/loops/faults.test.ts).
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
  /** Nothing ends a stop while the operator goes on. */
  const staysStopped = async () => {
    const fromNs = rig.nowNs();
    await until('a second', () => rig.nowNs() > fromNs + 1e9);
    assert.equal(rig.last.state, 'stopped', reported());
  };
  /** As a person would who sees that nothing has changed: once more. */
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

  it('holds in a hole of 300 ms and follows again by itself', async () => {
    await rig.link.set({ events: [{ kind: 'hole', atMs: 100, forMs: 300 }] });
    const hold = await rig.waitFor('hold');
    assert.match(hold.cause, /no command for 100 ms/);
    await followsAgain();
  });

  it('lets go in a hole of 2 s, and comes back reset and armed by hand only', async () => {
    await rig.link.set({ events: [{ kind: 'hole', atMs: 100, forMs: 2000 }] });
    await rig.waitFor('stopped');
    await until('the end of the hole', () => rig.link.stats().forward.forwarded > 0);
    await staysStopped();
    await resetAndArm();
    await followsAgain();
  });

  it('holds while the operator is suspended and follows again by itself', async () => {
    const { process: operator } = rig.operator;
    operator.kill('SIGSTOP');
    try {
      await rig.waitFor('hold');
    } finally {
      operator.kill('SIGCONT');
    }
    await until('no hold', () => rig.last.state !== 'hold', reported);
    // A machine that lets the operator sleep for a second makes it a lost one.
    if (rig.last.state === 'stopped') await resetAndArm();
    await followsAgain();
  });

  it('holds when the operator is killed; its successor gets the robot when a person resets and arms', async () => {
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
