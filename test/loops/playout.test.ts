import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createPolicy } from '../../src/robot/playout/policy.ts';
import { MS, SimulatedRig } from './simulated-rig.ts';

async function engaged(overrides: string[] = []): Promise<SimulatedRig> {
  const rig = await SimulatedRig.create({ overrides });
  rig.runUntil(() => rig.state === 'engaged', 2000);
  rig.runFor(2000);
  return rig;
}

describe('playout in the receipts', () => {
  it('reports the planned delay, the queue depth, and late commands', async () => {
    const rig = await engaged();
    const { closed } = rig.operator;
    for (const record of closed.slice(-50)) {
      assert.ok(Math.abs(record.playoutDelayNs - 60 * MS) < 1000, `${record.playoutDelayNs}`);
      assert.ok(record.queueDepth >= 5 && record.queueDepth <= 6, `${record.queueDepth}`);
      assert.equal(record.late, 0);
    }
    const { length } = closed;
    rig.impair = () => 75 * MS;
    rig.runFor(1000);
    const late = closed.slice(length + 30, length + 50);
    assert.ok(late.every((record) => record.late === 1 && record.queueDepth === 0));
  });
});

describe('the operator’s playout request', () => {
  it('reaches the robot with the first hello, and whenever it changes', async () => {
    const rig = await SimulatedRig.create({
      overrides: [
        'robot.playout=adaptive,cap=120',
        'operator.playoutQuality=smooth',
        'operator.playoutCapMs=200',
      ],
    });
    const { policy } = rig.robot;
    rig.runFor(500);
    assert.equal(policy.name, 'adaptive:smooth,cap=120');
    rig.askPlayout('fast');
    rig.runFor(100);
    assert.equal(policy.name, 'adaptive:fast,cap=120');
  });

  it('caps the delay, which moves there by time warp', async () => {
    const rig = await engaged(['robot.playout=adaptive', 'operator.playoutCapMs=12']);
    const burst = (run: SimulatedRig) => () => ((run.nowNs / MS) % 1000 < 120 ? 40 : 2) * MS;
    rig.impair = burst(rig);
    rig.runFor(20_000);
    const capped = rig.operator.closed.at(-1)!.playoutDelayNs;
    assert.ok(capped <= (2 + 12.5) * MS, `${capped / MS} ms`);
    const free = await engaged(['robot.playout=adaptive']);
    free.impair = burst(free);
    free.runFor(20_000);
    const uncapped = free.operator.closed.at(-1)!.playoutDelayNs;
    assert.ok(uncapped > 25 * MS, `${uncapped / MS} ms`);
  });

  it('does not affect other policies', async () => {
    const rig = await engaged(['operator.playoutQuality=smooth']);
    assert.ok(Math.abs(rig.operator.closed.at(-1)!.playoutDelayNs - 60 * MS) < 1000);
  });
});

describe('switching the playout mode', () => {
  const CHOICE = ['robot.playout=adaptive', 'robot.allowPlayoutChoice=true'];
  const MODES = ['none', 'fixed', 'adaptive'] as const;

  it('works if the robot allows it, and is reported in its state', async () => {
    const rig = await engaged(CHOICE);
    for (const [mode, name] of [
      ['fixed', 'fixed:60'],
      ['none', 'none'],
      ['adaptive', 'adaptive'],
    ]) {
      rig.request({ kind: 'playout-mode', mode });
      rig.runFor(300);
      assert.equal(rig.robot.policy.name, name);
      assert.equal(rig.operator.loop.robot.state.playout, name);
    }
    rig.request({ kind: 'playout-mode', mode: 'rfc3550' });
    assert.equal(rig.operator.counters.get('malformed'), 1);
    assert.equal(rig.state, 'engaged');
  });

  it('is rejected if the robot does not allow it', async () => {
    const rig = await engaged();
    rig.request({ kind: 'playout-mode', mode: 'none' });
    rig.runFor(500);
    assert.equal(rig.operator.counters.get('malformed'), 1);
    assert.equal(rig.robot.policy.name, 'fixed:60');
  });

  it('does not make the arm jump: no joint step is larger than without switching', async () => {
    const farthestRad = async (switching: boolean) => {
      const rig = await engaged(CHOICE);
      const from = rig.robot.driver.writes.length;
      for (let i = 0; i < 24; i++) {
        if (switching) rig.request({ kind: 'playout-mode', mode: MODES[(i * 7) % 3] });
        rig.runFor(500);
      }
      assert.equal(rig.state, 'engaged');
      const writes = rig.robot.driver.writes.slice(from);
      let farthest = 0;
      for (let i = 1; i < writes.length; i++)
        writes[i]!.positionsRad.forEach((rad, j) => {
          farthest = Math.max(farthest, Math.abs(rad - writes[i - 1]!.positionsRad[j]!));
        });
      return farthest;
    };
    const [steady, switched] = [await farthestRad(false), await farthestRad(true)];
    assert.ok(steady > 0.001 && switched < 1.15 * steady, `${switched} rad, ${steady} without`);
  });
});

describe('an e-stop', () => {
  it('is acknowledged after one round trip, without waiting for the next periodic state', async () => {
    const rig = await engaged(['robot.stateHz=5']);
    rig.request({ kind: 'estop' });
    rig.runFor(6);
    assert.equal(rig.operator.loop.robot.state.state, 'stopped');
  });
});

describe('network memory', () => {
  /** A burst of 45 ms for 150 ms, every 10 s. */
  const bursty = (rig: SimulatedRig) => {
    const startNs = rig.nowNs;
    rig.impair = () => (((rig.nowNs - startNs) / MS + 5000) % 10_000 < 150 ? 45 : 2) * MS;
  };

  it('is saved after a minute and when the operator leaves, by the operator’s address', async () => {
    const rig = await engaged(['robot.playout=adaptive']);
    bursty(rig);
    rig.runFor(30_000);
    assert.equal(rig.learnt.length, 0, 'too early');
    rig.runFor(40_000);
    assert.equal(rig.learnt.length, 1);
    rig.windDown();
    rig.runFor(100);
    assert.equal(rig.learnt.length, 2);
    const { network, prior } = rig.learnt[1]!;
    assert.match(network, /^\d+\.\d+\.\d+\.0\/24$|^loopback$/);
    assert.ok(prior.needsMs[0]! > 25, JSON.stringify(prior));
  });

  it('absorbs the first burst of the next session', async () => {
    const prior = { version: 1, needsMs: [40, 38, 37], usualMs: 0.2 } as const;
    const lateOf = async (known: boolean) => {
      const rig = await SimulatedRig.create({
        start: false,
        overrides: ['robot.playout=adaptive', 'robot.network=lab'],
      });
      if (known) rig.priors['lab'] = { ...prior, needsMs: [...prior.needsMs] };
      await rig.startRobot(7);
      await rig.startOperator(1001);
      bursty(rig);
      rig.runFor(12_000);
      return rig.operator.closed.filter((record) => record.late === 1).length;
    };
    const [cold, warm] = [await lateOf(false), await lateOf(true)];
    assert.ok(cold >= 8, `${cold} late without`);
    assert.ok(warm <= 2, `${warm} late with`);
  });

  it('does not carry over to another network', () => {
    const policy = createPolicy('adaptive', { prior: { version: 1, needsMs: [90], usualMs: 3 } });
    assert.ok(policy.needNs! > 85 * MS);
    policy.restart?.();
    assert.ok(policy.needNs! > 85 * MS);
    policy.restart?.(null);
    assert.ok(policy.needNs! <= 20 * MS);
  });
});

describe('underflow', () => {
  const writesOf = (rig: SimulatedRig, fromNs: number) =>
    rig.robot.driver.writes.filter(({ atNs }) => atNs > fromNs);

  it('of 70 ms is extrapolated within the limits, then returns to the commands', async () => {
    const rig = await engaged(['robot.playout=none']);
    const { impair } = rig;
    rig.impair = () => null;
    const startNs = rig.nowNs;
    rig.runFor(70);
    rig.impair = impair;
    const carried = writesOf(rig, startNs + 20 * MS);
    assert.ok(carried.length >= 8, `${carried.length} writes`);
    const moved = carried.at(-1)!.positionsRad.map((rad, i) => Math.abs(rad - carried[0]!.positionsRad[i]!));
    assert.ok(Math.max(...moved) > 0.001, 'the arm was moving');
    rig.runFor(500);
    assert.equal(rig.state, 'engaged');
    assert.ok(rig.maxSpeedRadS(startNs) < 3.2);
  });

  it('is not extrapolated if the rig disables it', async () => {
    /** Largest distance of the target from the last command after 90 ms without any. */
    const beyondRad = async (extrapolate: boolean) => {
      const rig = await engaged(['robot.playout=none', `robot.extrapolate=${extrapolate}`]);
      let newest: number[] = [];
      rig.onOperatorSend = (_, bytes) => {
        const text = new TextDecoder().decode(bytes);
        if (text.startsWith('FH1c')) newest = (JSON.parse(text.slice(4)) as { q: number[] }).q;
      };
      rig.runFor(50);
      const lastRad = newest;
      rig.impair = () => null;
      rig.runFor(90);
      const { positionsRad } = rig.robot.driver.writes.at(-1)!;
      return Math.max(...positionsRad.map((rad, i) => Math.abs(rad - lastRad[i]!)));
    };
    const [bridged, left] = [await beyondRad(true), await beyondRad(false)];
    assert.ok(left < 0.015 && bridged > 2 * left, `${bridged} rad with, ${left} rad without`);
  });

  it('ends in hold: no extrapolation past 80 ms, watchdog past 100 ms', async () => {
    const rig = await engaged(['robot.playout=none']);
    const startNs = rig.nowNs;
    rig.impair = () => null;
    rig.runFor(130);
    assert.equal(rig.state, 'hold');
    rig.runFor(500);
    assert.equal(writesOf(rig, startNs + 600 * MS).length, 0);
  });
});
