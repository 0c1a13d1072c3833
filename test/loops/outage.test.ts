import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { MS, SimulatedRig, TestHand } from './simulated-rig.ts';

/** Engaged by a hand that moves; then the link carries nothing for `outageMs`. */
async function afterOutage(outageMs: number, overrides: string[]) {
  const hand = new TestHand();
  const rig = await SimulatedRig.create({ hand, overrides });
  rig.runFor(1000);
  hand.hand.clutch = true;
  for (let i = 0; i < 100; i++) {
    hand.hand.positionM[2] = 0.001 * i;
    rig.runFor(10);
  }
  assert.equal(rig.state, 'engaged');
  rig.impair = () => null;
  const { writes } = rig.robot.driver;
  rig.runFor(1000);
  const atRest = writes.length;
  rig.runFor(outageMs - 1000);
  const moved = writes
    .slice(atRest)
    .some(({ positionsRad }) =>
      positionsRad.some((rad, i) => Math.abs(rad - writes[atRest - 1]!.positionsRad[i]!) > 1e-6),
    );
  assert.equal(moved, false, 'the arm does not move without an operator');
  return { rig, hand, stops: rig.robot.driver.stopsNs.length };
}

describe('after an outage', () => {
  it('the robot is stopped and latched, by default', async () => {
    const { rig } = await afterOutage(3000, []);
    assert.equal(rig.robot.loop.supervisor.state, 'stopped');
    rig.impair = () => 2 * MS;
    rig.runFor(2000);
    assert.equal(rig.state, 'stopped');
  });

  it('it holds and follows again when the clutch closes again, if the operator chose that', async () => {
    const { rig, hand, stops } = await afterOutage(3000, ['operator.outageHoldS=4']);
    assert.equal(rig.robot.loop.supervisor.state, 'hold');
    assert.match(rig.robot.loop.supervisor.cause, /^operator silent: holding for up to 4 s/);
    rig.impair = () => 2 * MS;
    rig.runFor(2000);
    assert.deepEqual(
      [rig.state, rig.operator.loop.robot.state.cause],
      ['hold', 'operator reconnected: close the clutch again'],
    );
    assert.equal(rig.robot.driver.stopsNs.length, stops, 'the joints stayed powered');
    // A clutch held through the outage does not count as closed.
    assert.equal(rig.robot.transitions.at(-1)?.to, 'hold');
    hand.hand.clutch = false;
    rig.runFor(200);
    hand.hand.clutch = true;
    rig.runFor(500);
    assert.equal(rig.state, 'engaged');
  });

  it('it stops when the time is over, and not later than the robot allows', async () => {
    for (const [outageHoldS, most] of [
      [2, 60],
      [50, 2],
    ]) {
      const overrides = [`operator.outageHoldS=${outageHoldS}`, `robot.maxOutageHoldS=${most}`];
      const { rig } = await afterOutage(2900, overrides);
      assert.equal(rig.robot.loop.supervisor.state, 'hold');
      rig.runFor(200);
      assert.deepEqual(
        [rig.robot.loop.supervisor.state, rig.robot.loop.supervisor.cause],
        ['stopped', 'operator silent'],
      );
    }
  });

  it('another operator that takes the free lease meanwhile finds the robot unpowered', async () => {
    const { rig } = await afterOutage(2000, ['operator.outageHoldS=5']);
    await rig.startOperator(2002);
    rig.impair = () => 2 * MS;
    rig.runFor(1000);
    // The demo rig arms it again at once.
    const path = rig.robot.transitions.slice(-2).map(({ from, to }) => `${from} → ${to}`);
    assert.deepEqual(path, ['hold → idle', 'idle → armed']);
  });

  it('an e-stop from anyone works while it holds', async () => {
    const { rig } = await afterOutage(2000, ['operator.outageHoldS=5']);
    rig.robot.loop.supervisor.estop('e-stop pressed', rig.nowNs);
    assert.equal(rig.robot.loop.supervisor.state, 'stopped');
  });
});
