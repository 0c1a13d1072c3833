import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { OUTCOMES } from '../../src/messages/trace-record.ts';
import { oneWayNs } from '../../src/trace/segments.ts';
import { frameBody, frameType } from '../../src/wire/codecs/frame.ts';
import { xorshift } from '../xorshift.ts';
import { isApplied, MS, robotPeer, SimulatedRig } from './simulated-rig.ts';

async function engaged(options: Parameters<typeof SimulatedRig.create>[0] = {}): Promise<SimulatedRig> {
  const rig = await SimulatedRig.create(options);
  rig.runUntil(() => rig.state === 'engaged', 3000);
  rig.runFor(1000);
  return rig;
}

describe('redundancy', () => {
  /** Number of commands that never took effect, with one in five lost in bursts of up to three. */
  async function missing(redundancy: number | 'auto'): Promise<number> {
    const rig = await engaged({ overrides: [`link.redundancy=${redundancy}`] });
    const random = xorshift(12_345);
    let burst = 0;
    rig.impair = (_from, to) => {
      if (to !== robotPeer(0)) return 2 * MS;
      if (burst > 0) burst--;
      else if (random() < 0.1) burst = 1 + Math.floor(random() * 3);
      return burst > 0 ? null : 2 * MS;
    };
    const from = rig.operator.loop.link.totals.commands;
    rig.runFor(20_000);
    rig.impair = () => 2 * MS;
    rig.runFor(3000);
    assert.equal(rig.state, 'engaged');
    const closed = rig.operator.closed.filter((record) => record.seq > from);
    assert.equal(new Set(closed.map((record) => record.seq)).size, closed.length, 'one trace each');
    return closed.filter((record) => !isApplied(OUTCOMES[record.outcome]!)).length;
  }

  it('recovers commands lost in bursts, which are gone without it', async () => {
    const without = await missing(0);
    assert.ok(without > 200, `${without} lost without`);
    assert.equal(await missing(8), 0);
    const two = await missing(2);
    assert.ok(two < without / 5, `${two} with two`);
  });

  it('is as much as the losses call for, without a setting', async () => {
    const without = await missing(0);
    const auto = await missing('auto');
    assert.ok(auto < without / 10, `${auto} of ${without}`);
  });

  it('stays zero on a link that loses nothing', async () => {
    const rig = await engaged();
    let repeated = 0;
    rig.onOperatorSend = (_socket, bytes) => {
      if (frameType(bytes, bytes.length) !== 'command') return;
      repeated = (frameBody(bytes, bytes.length)!['last'] as unknown[]).length;
    };
    rig.runFor(2000);
    assert.equal(repeated, 0);
    let lose = 3;
    rig.impair = (_from, to) => (to === robotPeer(0) && lose-- > 0 ? null : 2 * MS);
    rig.runFor(1000);
    assert.equal(repeated, 4, 'one more than the burst');
  });

  for (const rig of ['demo', 'orca'])
    it(`fits one Ethernet frame, sealed: ${rig}`, async () => {
      const both = await SimulatedRig.create({ rig, overrides: ['link.redundancy=8'] });
      let longest = 0;
      both.onOperatorSend = (_socket, bytes) => {
        longest = Math.max(longest, bytes.length);
      };
      both.runFor(5000);
      assert.ok(longest > 200 && longest <= 1472 - 32, `${longest} bytes`);
    });
});

describe('clock synchronization', () => {
  it('works over round trips longer than the time between probes', async () => {
    for (const delayMs of [60, 200, 400]) {
      const rig = await engaged({ delayMs, operatorOffsetNs: 7e12, overrides: ['robot.playout=none'] });
      rig.runFor(5000);
      const last = rig.operator.closed.filter((record) => OUTCOMES[record.outcome] === 'applied').at(-1)!;
      const oneWayMs = oneWayNs(last) / MS;
      assert.ok(Math.abs(oneWayMs - delayMs) < 1, `${oneWayMs} ms seen, ${delayMs} ms true`);
    }
  });

  for (const role of ['robot', 'operator'] as const)
    it(`recovers from a step of the ${role}'s clock by a second, without a jump`, async () => {
      const rig = await engaged();
      const before = rig.operator.loop.sync.sync.epoch;
      rig.robot.driver.writes.length = 0;
      rig.stepClock(role, 1e9);
      rig.runFor(4000);
      // A step of the robot's clock looks like a second of silence: it stops and must be reset and armed.
      if (role === 'robot') {
        assert.equal(rig.state, 'stopped');
        rig.operator.loop.ask('reset', rig.nowNs);
        rig.runUntil(() => rig.state === 'idle' && rig.operator.loop.robot.state.state === 'idle', 500);
        rig.operator.loop.ask('arm', rig.nowNs);
      }
      rig.runFor(1000);
      assert.equal(rig.state, 'engaged', 'follows again on its own');
      assert.ok(rig.operator.loop.sync.sync.epoch > before, 'the step is explicit');
      const { writes } = rig.robot.driver;
      for (let i = 1; i < writes.length; i++)
        writes[i]!.positionsRad.forEach((rad, j) => {
          const step = Math.abs(rad - writes[i - 1]!.positionsRad[j]!);
          assert.ok(
            step <= rig.model.joints[j]!.maxVelocityRadS * 0.05 + 1e-9,
            `joint ${j} stepped ${step} rad`,
          );
        });
      const last = rig.operator.closed.filter((record) => OUTCOMES[record.outcome] === 'applied').at(-1)!;
      assert.ok(Math.abs(oneWayNs(last) / MS - 60) < 1, `one way ${oneWayNs(last) / MS} ms`);
    });
});
