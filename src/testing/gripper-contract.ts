import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { pluginConfig } from '../app/registry.ts';
import { TeleopError } from '../core/errors.ts';
import { monotonicClock } from '../core/time/clock.ts';
import type { TickStatus } from '../messages/robot-state.ts';
import { emptyGripperReading, type Gripper, type GripperPlugin } from '../robot/gripper.ts';
import type { RunningDevice } from './device-fixture.ts';

/** What a simulated gripper can be made to do. */
export type GripperTrick = 'hold' | 'split' | 'noise' | 'silence' | 'speak' | 'fault';

export interface GripperDevice extends RunningDevice {
  /** Address of the arm's controller, if the gripper is behind it; otherwise empty. */
  readonly armHost: string;
  /** Makes the device misbehave, or hold something. Absent: tests that need it are skipped. */
  tell?(trick: GripperTrick): void;
}

/** How the contract suite opens a gripper. */
export interface GripperFixture {
  /** Why it cannot run here; false or absent if it can. */
  readonly skip?: string | false;
  /** The tricks its device knows; absent: none. */
  readonly tricks?: readonly GripperTrick[];
  start(): Promise<GripperDevice>;
}

const STILL = 0.01;
const CYCLE_MS = 5;

/** An open gripper, called like the control loop calls it. */
export class GripperInHand {
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
      const status = this.gripper.read(nowNs, this.reading);
      this.answers.add(status);
      const { position } = this.reading;
      if (status === 'ok') assert.ok(position >= 0 && position <= 1, `position ${position}`);
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

/** Opens one gripper for one test at a time, on a fresh device. */
export class GripperBench {
  readonly #name: string;
  readonly #plugin: GripperPlugin<unknown>;
  readonly #fixture: GripperFixture;

  constructor(name: string, plugin: GripperPlugin<unknown>, fixture: GripperFixture) {
    this.#name = name;
    this.#plugin = plugin;
    this.#fixture = fixture;
  }

  async open({ options, armHost }: Pick<GripperDevice, 'options' | 'armHost'>): Promise<GripperInHand> {
    const config = pluginConfig('gripper', this.#name, this.#plugin, options);
    return new GripperInHand(await this.#plugin.open(config, { host: armHost }, monotonicClock));
  }

  async with(work: (hand: GripperInHand, device: GripperDevice) => Promise<void>): Promise<void> {
    const device = await this.#fixture.start();
    try {
      const hand = await this.open(device);
      try {
        await work(hand, device);
      } finally {
        hand.gripper.dispose();
      }
    } finally {
      await device.stop();
    }
  }
}

/** Registers the tests that every gripper passes, with `node:test`. */
export function testGripper(name: string, plugin: GripperPlugin<unknown>, fixture: GripperFixture): void {
  const bench = new GripperBench(name, plugin, fixture);
  const without = (...tricks: GripperTrick[]) =>
    tricks.some((trick) => !fixture.tricks?.includes(trick)) && `its device cannot ${tricks.join(', ')}`;
  describe(`gripper ${name}`, { skip: fixture.skip ?? false, concurrency: 1 }, () => {
    it('rejects unknown settings and describes itself', () => {
      assert.ok(plugin.about.length > 10, '`about` says in more than ten letters what it drives');
      for (const wrong of [{ noSuchSetting: 1 }, 5, 'text', [1]])
        assert.throws(
          () => pluginConfig('gripper', name, plugin, wrong),
          (error) => error instanceof TeleopError && error.code === 'bad-config',
        );
    });

    it('moves only when enabled, in proportion, and not by enabling', async () => {
      await bench.with(async (hand) => {
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
      await bench.with(async (hand) => {
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

    it('keeps its grip at a stop', { skip: without('hold') }, async () => {
      await bench.with(async (hand, device) => {
        device.tell!('hold');
        assert.equal(await hand.enable(), 'ok');
        await hand.reach(0.5);
        await hand.run(200, 1);
        hand.gripper.stop(monotonicClock.nowNs());
        assert.ok(Math.abs((await hand.run(300, 0)) - 0.5) < STILL);
      });
    });

    it('rejects a position out of range', async () => {
      await bench.with(async (hand) => {
        assert.equal(await hand.enable(), 'ok');
        assert.equal(hand.gripper.write(monotonicClock.nowNs(), Number.NaN), 'fault');
        assert.notEqual(hand.gripper.fault, '');
        assert.equal(await hand.enable(), 'ok', 'can be enabled again');
      });
    });

    it('bears replies in pieces or with noise', { skip: without('split', 'noise') }, async () => {
      await bench.with(async (hand, device) => {
        device.tell!('split');
        device.tell!('noise');
        assert.equal(await hand.enable(), 'ok');
        await hand.reach(0.7);
      });
    });

    it('reports a silent and a dead peer, never throws, and is a fault once disposed', async () => {
      await bench.with(async (hand, device) => {
        assert.equal(await hand.enable(), 'ok');
        if (without('silence', 'speak') === false) {
          device.tell!('silence');
          for (let i = 0; i < 40 && !hand.answers.has('fault'); i++) await hand.run(50, 0.2);
          assert.ok(hand.answers.has('fault'), 'silence is a fault');
          hand.gripper.stop(monotonicClock.nowNs());
          device.tell!('speak');
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
          () => bench.open(device),
          (error) => error instanceof TeleopError && error.hint.length > 10,
        );
      });
    });
  });
}
