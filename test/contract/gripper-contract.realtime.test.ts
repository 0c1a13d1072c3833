import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { loadPlugin, pluginConfig, pluginNames } from '../../src/app/registry.ts';
import { TeleopError } from '../../src/core/errors.ts';
import { monotonicClock } from '../../src/core/time/clock.ts';
import type { TickStatus } from '../../src/messages/robot-state.ts';
import { emptyGripperReading, type Gripper } from '../../src/robot/gripper.ts';
import { GRIPPERS, type GripperDevice, type GripperFixture } from './gripper-fixtures.ts';

const STILL = 0.01;
const CYCLE_MS = 5;

/** An open gripper, called like the control loop calls it. */
class Hand {
  readonly gripper: Gripper;
  readonly reading = emptyGripperReading();
  readonly answers = new Set<TickStatus>();

  constructor(gripper: Gripper) {
    this.gripper = gripper;
  }

  get position(): number {
    this.gripper.read(monotonicClock.nowNs(), this.reading);
    return this.reading.position;
  }

  async enable(): Promise<TickStatus> {
    for (let ms = 0; ms < 5000; ms += CYCLE_MS) {
      const status = this.gripper.enable(monotonicClock.nowNs());
      if (status !== 'stale') return status;
      await sleep(CYCLE_MS);
    }
    return 'stale';
  }

  /** Control cycles for this long; writes `target` in each unless it is null. */
  async run(ms: number, target: number | null = null): Promise<number> {
    this.answers.clear();
    const endNs = monotonicClock.nowNs() + ms * 1e6;
    while (monotonicClock.nowNs() < endNs) {
      const nowNs = monotonicClock.nowNs();
      this.answers.add(this.gripper.read(nowNs, this.reading));
      if (target !== null) this.answers.add(this.gripper.write(nowNs, target));
      await sleep(CYCLE_MS);
    }
    return this.position;
  }

  async reach(target: number): Promise<void> {
    for (let ms = 0; ms < 5000 && Math.abs(this.position - target) > STILL; ms += 50)
      await this.run(50, target);
    assert.ok(Math.abs(this.position - target) <= STILL, `${this.position} is not ${target}`);
  }
}

async function open(fixture: GripperFixture, device: GripperDevice): Promise<Hand> {
  const plugin = await loadPlugin('gripper', fixture.plugin);
  const config = pluginConfig('gripper', fixture.plugin, plugin, device.options);
  return new Hand(await plugin.open(config, { host: device.armHost }, monotonicClock));
}

async function using(
  fixture: GripperFixture,
  work: (hand: Hand, device: GripperDevice) => Promise<void>,
): Promise<void> {
  const device = await fixture.start();
  try {
    const hand = await open(fixture, device);
    try {
      await work(hand, device);
    } finally {
      hand.gripper.dispose();
    }
  } finally {
    await device.stop();
  }
}

describe('grippers', () => {
  it('are all in this suite', () => {
    assert.deepEqual([...new Set(GRIPPERS.map(({ plugin }) => plugin))].sort(), pluginNames('gripper'));
  });

  for (const name of pluginNames('gripper'))
    it(`${name} rejects unknown settings and describes itself`, async () => {
      const plugin = await loadPlugin('gripper', name);
      assert.ok(plugin.about.length > 10);
      for (const wrong of [{ noSuchSetting: 1 }, 5, 'text', [1]])
        assert.throws(
          () => pluginConfig('gripper', name, plugin, wrong),
          (error) => error instanceof TeleopError && error.code === 'bad-config',
        );
    });
});

describe('grippers and their devices', { concurrency: GRIPPERS.length }, () => {
  for (const fixture of GRIPPERS) withDevice(fixture);
});

function withDevice(fixture: GripperFixture): void {
  describe(`gripper ${fixture.name}`, { skip: fixture.skip, concurrency: 1 }, () => {
    it('moves only when enabled, in proportion, and not by enabling', async () => {
      await using(fixture, async (hand) => {
        const rest = await hand.run(50);
        assert.ok(rest >= 0 && rest <= 1);
        assert.ok(Math.abs((await hand.run(200, 0.8)) - rest) < STILL, 'ignored before it is enabled');
        assert.equal(await hand.enable(), 'ok');
        assert.equal(hand.gripper.fault, '');
        assert.ok(Math.abs((await hand.run(200)) - rest) < STILL, 'enabling moves nothing');
        for (const target of [0.3, 0.65, 1, 0]) await hand.reach(target);
        assert.deepEqual([...hand.answers], ['ok']);
        assert.ok(monotonicClock.nowNs() - hand.reading.robotNs < 500e6, 'a fresh reading');
      });
    });

    it('ends its motion at a stop, in any state, and follows again once enabled', async () => {
      await using(fixture, async (hand) => {
        hand.gripper.stop(monotonicClock.nowNs());
        assert.equal(await hand.enable(), 'ok');
        await hand.run(120, 1);
        for (let i = 0; i < 3; i++) hand.gripper.stop(monotonicClock.nowNs());
        await hand.run(120, 1);
        const rest = hand.position;
        assert.ok(rest < 0.9, `stopped before it had closed: ${rest}`);
        assert.ok(Math.abs((await hand.run(250, 1)) - rest) < STILL, 'rests');
        assert.equal(await hand.enable(), 'ok');
        assert.ok(Math.abs((await hand.run(150)) - rest) < STILL, 'enabling moves nothing');
        await hand.reach(1);
      });
    });

    it('keeps its grip at a stop', async () => {
      await using(fixture, async (hand, device) => {
        device.tell('hold');
        assert.equal(await hand.enable(), 'ok');
        await hand.reach(0.5);
        await hand.run(200, 1);
        hand.gripper.stop(monotonicClock.nowNs());
        assert.ok(Math.abs((await hand.run(300, 0)) - 0.5) < STILL);
      });
    });

    it('rejects a position out of range', async () => {
      await using(fixture, async (hand) => {
        assert.equal(await hand.enable(), 'ok');
        assert.equal(hand.gripper.write(monotonicClock.nowNs(), Number.NaN), 'fault');
        assert.notEqual(hand.gripper.fault, '');
        assert.equal(await hand.enable(), 'ok', 'can be enabled again');
      });
    });

    it('bears replies in pieces or with noise', async () => {
      await using(fixture, async (hand, device) => {
        device.tell('split');
        device.tell('noise');
        assert.equal(await hand.enable(), 'ok');
        await hand.reach(0.7);
      });
    });

    it('reports a silent and a dead peer, never throws, and is a fault once disposed', async () => {
      await using(fixture, async (hand, device) => {
        assert.equal(await hand.enable(), 'ok');
        if (fixture.plugin !== 'xarm-gripper' || 'port' in device.options) {
          device.tell('silence');
          for (let i = 0; i < 40 && !hand.answers.has('fault'); i++) await hand.run(50, 0.2);
          assert.ok(hand.answers.has('fault'), 'silence is a fault');
          hand.gripper.stop(monotonicClock.nowNs());
          device.tell('speak');
          for (let i = 0; i < 40 && (await hand.enable()) !== 'ok'; i++) await sleep(50);
          assert.equal(await hand.enable(), 'ok', hand.gripper.fault);
        }
        device.kill();
        for (let i = 0; i < 60 && hand.gripper.fault === ''; i++) await hand.run(50, 0.2);
        assert.notEqual(hand.gripper.fault, '');
        assert.notEqual(await hand.enable(), 'ok');
        hand.gripper.dispose();
        hand.gripper.dispose();
        hand.gripper.stop(monotonicClock.nowNs());
        assert.equal(hand.gripper.read(monotonicClock.nowNs(), hand.reading), 'fault');
        assert.equal(hand.gripper.write(monotonicClock.nowNs(), 0), 'fault');
        assert.equal(hand.gripper.enable(monotonicClock.nowNs()), 'fault');
        await assert.rejects(
          () => open(fixture, device),
          (error) => error instanceof TeleopError && error.hint.length > 10,
        );
      });
    });
  });
}

describe('Robotiq’s faults', { concurrency: 2 }, () => {
  const [socket] = GRIPPERS;
  it('are reported at once', async () => {
    await using(socket!, async (hand, device) => {
      assert.equal(await hand.enable(), 'ok');
      device.tell('fault');
      for (let i = 0; i < 40 && hand.gripper.fault === ''; i++) await hand.run(50, 0.5);
      assert.match(hand.gripper.fault, /overcurrent/);
      assert.equal(await hand.enable(), 'fault', 'not before it is cleared');
    });
  });

  it('a gripper that is not activated is not moved without permission', async () => {
    const { startSimProcess } = await import('./sim-process.ts');
    const sim = await startSimProcess(['robotiq-2f', '--port', '0', '--reset']);
    const socketPort = Number(/port (\d+)/.exec(sim.ready)![1]);
    const at = { armHost: '127.0.0.1', tell: () => {}, kill: () => sim.kill(), stop: () => sim.stop() };
    try {
      const careful = await open(socket!, { ...at, options: { socketPort } });
      try {
        assert.equal(await careful.enable(), 'fault');
        assert.match(careful.gripper.fault, /activate=true/);
      } finally {
        careful.gripper.dispose();
      }
      const bold = await open(socket!, { ...at, options: { socketPort, activate: true } });
      try {
        assert.equal(await bold.enable(), 'ok', bold.gripper.fault);
        await bold.reach(0.4);
      } finally {
        bold.gripper.dispose();
      }
    } finally {
      await sim.stop();
    }
  });
});
